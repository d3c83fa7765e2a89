-- Rewards of each arm in each row of an aggregated log, from `watched`: number, sum and sum of squares.
SELECT rest, coalesce(seconds, 0.0) AS seconds, arm_index, sum(n)::BIGINT AS times, sum(n * value)::DOUBLE AS sums,
    sum(n * value * value)::DOUBLE AS squares
FROM watched
GROUP BY 1, 2, 3
LIMIT $most;
