-- The first and the last time of `watched`, how many rewards have one, and whether all times are whole numbers.
SELECT min(seconds), max(seconds), count(seconds), coalesce(bool_and(seconds = floor(seconds)), false) FROM watched;
