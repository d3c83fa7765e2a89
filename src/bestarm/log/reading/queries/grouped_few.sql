-- Makes `grouped` for few different rewards: equal rows of `kept` once, with how many there are. Of a source and a time
-- only whether there is one matters here.
CREATE TEMP TABLE grouped AS
SELECT arm, reward, exact, often, broken,
    CASE WHEN quickly_stripped(who) <> '' THEN 'x' END AS who,
    CASE WHEN seconds IS NOT NULL THEN 0.0 END AS seconds,
    $times AS times
FROM kept
GROUP BY ALL;
