-- Makes `ordered`: who gave which reward to which arm, in order, from `numbered` and `arms`. A sort uses all cores,
-- where a window would use one.
CREATE TEMP TABLE ordered AS
SELECT quickly_stripped(who) AS who, arm_index, value, $cell AS cell,
    TRY_CAST(stripped($cell) AS DOUBLE) AS share_of
FROM understood('numbered') JOIN arms USING (name)
WHERE state = 'ok'
ORDER BY seconds, row;
