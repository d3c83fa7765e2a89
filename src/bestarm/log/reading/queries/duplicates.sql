-- How many rows of `kept` are equal to an earlier one, and how many pairs have the same time, and the same rest.
WITH usable AS MATERIALIZED (SELECT name, value, who, seconds FROM understood('kept') WHERE state = 'ok')
SELECT
    (SELECT count(*) - count(DISTINCT (name, value, coalesce(who, ''), seconds)) FROM usable) AS count,
    (SELECT sum(n::DOUBLE * (n - 1)) FROM (SELECT count(*) AS n FROM usable GROUP BY seconds)) AS same_time,
    (SELECT sum(n::DOUBLE * (n - 1)) FROM (SELECT count(*) AS n FROM usable GROUP BY name, value, who)) AS same_rest;
