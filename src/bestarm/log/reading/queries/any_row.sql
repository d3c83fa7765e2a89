-- Whether $test can be asked of the rows of $relation.
SELECT $test FROM $relation LIMIT 1;
