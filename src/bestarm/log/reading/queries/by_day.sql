-- Rewards of each arm in each stretch of time of `watched`: number, sum, sum of squares, lowest and highest.
SELECT floor((seconds - $first) / $width)::INTEGER AS day, arm_index, sum(n)::BIGINT AS times,
    fsum(n * value) AS sums, fsum(n * value * value) AS squares, min(value) AS lowest, max(value) AS highest
FROM watched
WHERE seconds IS NOT NULL
GROUP BY 1, 2;
