-- How many rewards each arm has in each of $blocks stretches of `watched`, in the order of time.
-- A log that says only the day has thousands of rewards of one time, in no particular order: those of each arm are spread
-- evenly over all of that time. Rewards pass $test, and of those of one arm and time every $part-th is taken.
WITH together AS (
    SELECT seconds, arm_index, round(count(*) / $part)::BIGINT AS times FROM watched
    WHERE seconds IS NOT NULL AND $test
    GROUP BY ALL
), timed AS (
    SELECT seconds, arm_index, times, unnest(range(times)) AS nth FROM together
), ranked AS (
    SELECT arm_index, count(*) OVER () AS total,
        row_number() OVER (ORDER BY seconds, (nth + 0.5) / times, hash(seconds, arm_index)) - 1 AS place
    FROM timed
)
SELECT arm_index, (place * $blocks // total)::INTEGER AS block, count(*) AS times FROM ranked GROUP BY ALL;
