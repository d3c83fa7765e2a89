-- The first and the last time of `watched`, how many rewards have one, and how fine the times are.
SELECT min(seconds) AS first, max(seconds) AS last, count(seconds) AS number,
    coalesce(bool_and(seconds % 86400 = 0), false) AS are_days, coalesce(bool_and(seconds % 60 = 0), false) AS are_minutes,
    coalesce(bool_and(seconds % 1 = 0), false) AS are_seconds
FROM watched;
