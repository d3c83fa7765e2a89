-- As stretches.sql, but each source of `watched` counts once for each arm, in the stretch of its first reward.
WITH ranked AS (
    SELECT arm_index, who, row_number() OVER (ORDER BY seconds, hash(rest, seconds)) - 1 AS place,
        count(*) OVER () AS total
    FROM watched
    WHERE seconds IS NOT NULL
), once AS (
    SELECT arm_index, min(place) AS place, any_value(total) AS total FROM ranked WHERE who IS NOT NULL GROUP BY arm_index, who
)
SELECT arm_index, (place * $blocks // total)::INTEGER AS block, count(*) AS times FROM once GROUP BY ALL;
