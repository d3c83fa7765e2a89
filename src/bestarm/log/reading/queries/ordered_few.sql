-- Makes `ordered` as ordered_many.sql does, for few different rewards: from `numbered`, `arms` and what `grouped` means.
CREATE TEMP TABLE ordered AS
SELECT quickly_stripped(who) AS who, arm_index, value, $cell AS cell,
    TRY_CAST(stripped($cell) AS DOUBLE) AS share_of
FROM numbered JOIN (
    SELECT DISTINCT arm, reward, exact, arm_index, value FROM understood('grouped') JOIN arms USING (name)
    WHERE state = 'ok'
) AS meaning
ON numbered.arm = meaning.arm
    AND numbered.reward IS NOT DISTINCT FROM meaning.reward
    AND numbered.exact IS NOT DISTINCT FROM meaning.exact
WHERE quickly_stripped(who) <> '' AND (seconds IS NOT NULL OR NOT has_time())
ORDER BY seconds, row;
