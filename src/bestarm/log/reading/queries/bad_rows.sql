-- The first rows of `located` that cannot be used.
SELECT whole, state, arm, coalesce(reward, CAST(exact AS VARCHAR)), often, who, clock
FROM understood('located')
WHERE state NOT IN ('ok', 'missing')
LIMIT $most;
