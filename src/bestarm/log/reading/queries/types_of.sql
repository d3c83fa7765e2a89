-- Whether all of the first $most cells of $column that are not empty are numbers, or times.
SELECT coalesce(bool_and(TRY_CAST(cell AS DOUBLE) IS NOT NULL), false), coalesce(bool_and(TRY_CAST(cell AS TIMESTAMP) IS NOT NULL), false)
FROM (SELECT $column AS cell FROM $relation LIMIT $most)
WHERE trim(CAST(cell AS VARCHAR)) <> '';
