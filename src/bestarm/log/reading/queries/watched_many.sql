-- Makes `watched`: the arm and the value of each reward, how often it occurs (n), who gave it, when, by which user agent,
-- the event, a hash of the rest of the row, and the block; from `watched_cells` and `arms`.
CREATE $target AS
SELECT arm_index::INTEGER AS arm_index, value, n$copies AS n, known_source(who) AS who, $scale * seconds AS seconds, agent, event, rest, block
FROM understood('watched_cells') JOIN arms USING (name)
WHERE state = 'ok';
