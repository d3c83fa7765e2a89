-- Makes `firsts`: what the rewards of each source for each arm become, and how many there are, from `ordered`.
CREATE TEMP TABLE firsts AS
SELECT who, arm_index, $value AS value, $share_of AS share_of, min(rowid) AS turn, count(*) AS times
FROM ordered
GROUP BY who, arm_index;
