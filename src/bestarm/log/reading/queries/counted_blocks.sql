-- How often each reward of `watched` occurs on each arm in each block; rewards without a block are left out.
SELECT arm_index, $block AS block, value + 0.0 AS value, sum(n)::BIGINT AS times
FROM watched
WHERE $block IS NOT NULL
GROUP BY 1, 2, 3 HAVING sum(n) > 0
ORDER BY 1, 2, 3;
