-- How many rewards of `watched` each arm has in each block; rewards without one are left out.
SELECT arm_index, $block AS block, sum(n)::BIGINT AS times FROM watched WHERE $block IS NOT NULL GROUP BY 1, 2;
