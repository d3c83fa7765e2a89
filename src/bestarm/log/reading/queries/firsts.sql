-- Makes `firsts`: the first reward of each source for each arm, and how many there are, from `ordered`.
CREATE TEMP TABLE firsts AS
SELECT who, arm_index, arg_min(value, rowid) AS value, min(rowid) AS turn, count(*) AS times
FROM ordered
GROUP BY who, arm_index;
