-- How many different rows `watched` has, and the greatest common divisor of how often they occur; of one row in $every,
-- chosen by its hash, so that all copies of a row are chosen together.
WITH rows AS (
    SELECT count(*) AS times FROM watched
    WHERE $every = 1 OR hash(rest, seconds, arm_index) % $every = 0
    GROUP BY rest, seconds, arm_index, value
)
SELECT count(*) AS different, coalesce(sum(times), 0)::BIGINT AS number, coalesce(gcd_of(list(DISTINCT times)), 1) AS factor
FROM rows;
