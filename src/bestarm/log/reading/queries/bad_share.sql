-- The first row of `ordered` (on one of `arms`) that is no share: a negative reward, or of nothing, of no number or of
-- less than nothing; and how many there are.
SELECT name, who, value, cell, count(*) OVER ()
FROM ordered JOIN arms USING (arm_index)
WHERE value < 0 OR share_of IS NULL OR NOT isfinite(share_of) OR share_of < 0 OR share_of > 1e300
ORDER BY ordered.rowid
LIMIT 1;
