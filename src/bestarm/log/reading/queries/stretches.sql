-- How many rewards each arm has in each of $blocks stretches of the log, which has $total rewards; from `numbered` and
-- `arms`. Rewards of one time are in no particular order.
SELECT arm_index, (turn - 1) * $blocks // $total AS block, count(*) AS times
FROM (
    SELECT name, row_number() OVER (ORDER BY seconds, hash(row)) AS turn FROM understood('numbered') WHERE state = 'ok'
) JOIN arms USING (name)
GROUP BY ALL;
