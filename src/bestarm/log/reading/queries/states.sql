-- Makes `states`: how many rows of `meanings` each arm has in each state.
CREATE OR REPLACE TEMP TABLE states AS
SELECT state, name, sum(rows)::BIGINT AS rows, sum(n)::BIGINT AS rewards,
    coalesce(sum(rows) FILTER (trimmed), 0)::BIGINT AS trimmed,
    bool_or(comma IS NOT NULL) AS commas, bool_or(point) AS points,
    bool_or(spelled IS NOT NULL) AS words, bool_or(value NOT IN (0.0, 1.0)) AS others
FROM meanings
GROUP BY state, name;
