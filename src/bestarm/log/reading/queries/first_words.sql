-- A word of `meanings` that was read as 1, and one that was read as 0.
SELECT min(spelled) FILTER (value = 1.0), min(spelled) FILTER (value = 0.0) FROM meanings WHERE state = 'ok';
