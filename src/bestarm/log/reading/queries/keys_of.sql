-- The keys of the first objects in lines of JSON, nested as they are.
SELECT json_structure(line)
FROM (SELECT line FROM $relation LIMIT $most)
WHERE json_valid(line) AND json_type(line) = 'OBJECT';
