-- How many rows of `states` can be used.
SELECT coalesce(sum(rows), 0)::BIGINT FROM states WHERE state = 'ok';
