-- The different segments of the rows of a log.
SELECT DISTINCT segment FROM ($rows);
