-- Whether there are words for yes and no among the rewards of `states`, and other rewards than 0 and 1.
SELECT coalesce(bool_or(words), false), coalesce(bool_or(others), false) FROM states WHERE state IN ('ok', 'outside');
