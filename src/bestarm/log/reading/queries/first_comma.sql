-- A reward of `meanings` that was read with a decimal comma.
SELECT min(comma) FROM meanings WHERE state = 'ok' AND comma IS NOT NULL;
