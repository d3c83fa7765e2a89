-- How many rewards each arm has in each of $blocks stretches of `watched`, in the order of time; of one reward in $every.
-- Rewards of one time are in no particular order.
WITH timed AS (
    SELECT arm_index, seconds, hash(rest, seconds) AS turn FROM watched
    WHERE seconds IS NOT NULL AND ($every = 1 OR hash(rest, seconds, who) % $every = 0)
), ranked AS (
    SELECT arm_index, row_number() OVER (ORDER BY seconds, turn) - 1 AS place, count(*) OVER () AS total FROM timed
)
SELECT arm_index, (place * $blocks // total)::INTEGER AS block, count(*) AS times FROM ranked GROUP BY ALL;
