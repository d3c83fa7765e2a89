-- How many rewards each source of `watched` gave, and four sums of signs of their arms: all are large for a source that
-- keeps to one arm.
SELECT hash(who) AS who, count(*) AS times,
    sum(1 - 2 * (hash(arm_index + 1000003) % 2)::INTEGER)::BIGINT AS sign0,
    sum(1 - 2 * (hash(arm_index + 2000003) % 2)::INTEGER)::BIGINT AS sign1,
    sum(1 - 2 * (hash(arm_index + 3000017) % 2)::INTEGER)::BIGINT AS sign2,
    sum(1 - 2 * (hash(arm_index + 4000037) % 2)::INTEGER)::BIGINT AS sign3
FROM watched
WHERE who IS NOT NULL
GROUP BY 1;
