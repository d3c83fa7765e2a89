-- The different rewards of each arm, from `meanings` and `arms`, and how often each occurs.
SELECT arm_index, value + 0.0 AS value, sum(n)::BIGINT AS count
FROM meanings JOIN arms USING (name)
WHERE state = 'ok'
GROUP BY 1, 2 HAVING sum(n) > 0
ORDER BY 1, 2;
