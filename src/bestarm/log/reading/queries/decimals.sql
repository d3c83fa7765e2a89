-- Whether there are commas, and points, in rewards that are numbers.
SELECT bool_or(commas), bool_or(points) FROM states WHERE state IN ('ok', 'outside');
