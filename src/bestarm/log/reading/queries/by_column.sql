-- Rewards of each arm for each value of a column of `watched`: number, sum and sum of squares. A column with more than
-- $most values gives only some of them.
SELECT stripped(block) AS block, arm_index, sum(n)::BIGINT AS times, fsum(n * value) AS sums,
    fsum(n * value * value) AS squares
FROM watched
WHERE stripped(block) IN (SELECT stripped(block) FROM watched WHERE stripped(block) <> '' GROUP BY 1 LIMIT $most)
GROUP BY 1, 2;
