-- How many rows of `cells` have an arm and a reward that another row has.
SELECT $times - count(DISTINCT (name, value)) FROM understood('cells') WHERE state = 'ok';
