-- How many different rewards there are in `first_rows`.
SELECT count(DISTINCT value) FROM understood('first_rows');
