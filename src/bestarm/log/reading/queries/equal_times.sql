-- Rows of `watched` that are equal to an earlier one, time included; and pairs of rows that are equal but for a time that
-- differs by one tick of $unit seconds. Of one pair of ticks in $every; half of such pairs are in one pair of ticks.
WITH rows AS (
    SELECT rest, arm_index, round(seconds / $unit)::BIGINT AS tick, count(*) AS times FROM watched
    WHERE seconds IS NOT NULL AND ($every = 1 OR hash(round(seconds / $unit)::BIGINT // 2) % $every = 0)
    GROUP BY ALL
), pairs AS (SELECT count(*) AS ticks FROM rows GROUP BY rest, arm_index, tick // 2)
SELECT coalesce(sum(times - 1), 0)::BIGINT AS repeated, coalesce(sum(times), 0)::BIGINT AS number,
    (SELECT count(*) FILTER (ticks = 2) FROM pairs) AS near,
    (SELECT sum(n::DOUBLE * (n - 1)) FROM (SELECT sum(times) AS n FROM rows GROUP BY tick)) AS same_time,
    (SELECT sum(n::DOUBLE * (n - 1)) FROM (SELECT sum(times) AS n FROM rows GROUP BY rest, arm_index)) AS same_rest
FROM rows;
