-- The type of $test for the rows of $relation.
SELECT typeof($test) FROM $relation LIMIT 1;
