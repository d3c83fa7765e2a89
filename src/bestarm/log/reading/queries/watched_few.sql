-- Makes `watched` as watched_many.sql does, for few different rewards: from `watched_cells`, `arms` and what `grouped`
-- means.
CREATE $target AS
SELECT arm_index, value, n$copies AS n, known_source(watched_cells.who) AS who, $scale * watched_cells.seconds AS seconds, agent,
    event, rest, block
FROM watched_cells JOIN (
    SELECT DISTINCT arm, reward, exact, often, arm_index::INTEGER AS arm_index, value, n
    FROM understood('grouped') JOIN arms USING (name)
    WHERE state = 'ok'
) AS meaning
ON watched_cells.arm = meaning.arm
    AND watched_cells.reward IS NOT DISTINCT FROM meaning.reward
    AND watched_cells.exact IS NOT DISTINCT FROM meaning.exact
    AND watched_cells.often IS NOT DISTINCT FROM meaning.often
WHERE (quickly_stripped(watched_cells.who) <> '' OR NOT has_source())
    AND (watched_cells.seconds IS NOT NULL OR NOT has_time());
