-- The rewards in the order of time, or of the file without one, from `numbered` and `arms`.
SELECT arm_index::INTEGER AS arm, value, who
FROM understood('numbered') JOIN arms USING (name)
WHERE state = 'ok'
ORDER BY seconds, row;
