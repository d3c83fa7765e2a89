-- How many different segments the rows of a log have.
SELECT count(DISTINCT segment) FROM ($rows);
