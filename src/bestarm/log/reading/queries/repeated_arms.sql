-- How many rows of `cells` have an arm that another row has, in a log with $columns columns of counts.
SELECT $times // $columns - count(DISTINCT arm) FROM cells;
