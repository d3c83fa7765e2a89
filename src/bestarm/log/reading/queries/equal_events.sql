-- Rows of `watched` with the event, arm, reward and source of an earlier one; of one event in $every.
SELECT coalesce(sum(times - 1), 0)::BIGINT AS repeated, coalesce(sum(times), 0)::BIGINT AS number, count(*) AS different
FROM (
    SELECT count(*) AS times FROM watched
    WHERE event IS NOT NULL AND ($every = 1 OR hash(event) % $every = 0)
    GROUP BY event, arm_index, value, who
);
