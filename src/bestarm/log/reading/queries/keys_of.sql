-- The keys of the first objects in lines of JSON.
SELECT json_keys(line)
FROM (SELECT line FROM $relation LIMIT $most)
WHERE json_valid(line) AND json_type(line) = 'OBJECT';
