-- How many rewards each source of `watched` gave to each arm, their sum and sum of squares, each less $centre, and how
-- many are $highest; of the sources whose hash passes the test.
SELECT hash(who) AS who, arm_index, count(*) AS times, sum(value - $centre) AS sums,
    sum((value - $centre) * (value - $centre)) AS squares, count(*) FILTER (value = $highest) AS top
FROM watched
WHERE who IS NOT NULL AND $test
GROUP BY 1, 2;
