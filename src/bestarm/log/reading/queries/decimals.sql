-- Whether there are commas, and points, in rewards of `states` that are numbers.
SELECT bool_or(commas), bool_or(points) FROM states WHERE state IN ('ok', 'outside');
