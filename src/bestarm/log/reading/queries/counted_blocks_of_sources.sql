-- How often each reward of a source, in `firsts`, occurs on each arm in each block of `placed`.
SELECT arm_index, block, value + 0.0 AS value, count(*)::BIGINT AS times
FROM firsts JOIN placed USING (who)
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3;
