-- How many sources of `kept`, whose equal rows a database counted, have several rows, and one of them.
SELECT count(*), min(name) FROM (
    SELECT quickly_stripped(who) AS name FROM kept WHERE quickly_stripped(who) <> '' GROUP BY 1 HAVING sum(copies) > 1
);
