-- The rewards of each arm one by one, from `meanings` and `arms`.
SELECT value FROM meanings JOIN arms USING (name) WHERE state = 'ok' ORDER BY arm_index, value;
