-- How many rewards each source of `watched` gave, and how many of them have each of four bits of a hash of the arm: all
-- or none, for a source that keeps to one arm. Two bits are counted in one sum, the second times $unit, and as floating-
-- point numbers: sums of whole numbers are of 128 bits in DuckDB, and took four times as long.
SELECT hash(who) AS who, count(*) AS times,
    sum(((hash(arm_index + 1000003) % 2) + $unit * (hash(arm_index + 2000003) % 2))::DOUBLE) AS bits01,
    sum(((hash(arm_index + 3000017) % 2) + $unit * (hash(arm_index + 4000037) % 2))::DOUBLE) AS bits23
FROM watched
WHERE who IS NOT NULL
GROUP BY 1;
