-- Whether the rows of `watched_cells`, in the order of the file, are $factor times the same, part after part; or each row
-- $factor times in a row. A row and its place are hashed as one text: a hash of two numbers is the exclusive or of two
-- parts, and over all rows those of the places would cancel out.
WITH rows AS (SELECT hash(rest, seconds, arm, reward, exact) AS row, row_number() OVER () - 1 AS place FROM watched_cells),
sized AS (SELECT row, place, (SELECT count(*) FROM rows) // $factor AS size FROM rows),
sums AS (SELECT place // size AS part, bit_xor(hash(concat_ws(' ', row, place % size))) AS whole FROM sized GROUP BY 1),
runs AS (SELECT place % $factor AS part, bit_xor(hash(concat_ws(' ', row, place // $factor))) AS whole FROM sized GROUP BY 1)
SELECT (SELECT count(DISTINCT whole) = 1 FROM sums) AS is_repeated, (SELECT count(DISTINCT whole) = 1 FROM runs) AS is_doubled;
