-- A reward of `meanings` with a comma, and whether all of those look like 1,234: a decimal, or a thousand.
SELECT min(comma), bool_and(regexp_full_match(trim(comma), '-?[1-9]\d{0,2},\d{3}'))
FROM meanings
WHERE comma IS NOT NULL AND state IN ('ok', 'outside');
