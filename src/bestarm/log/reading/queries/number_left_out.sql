-- How many rows of `judged_cells` are left out, and how many sources are left out by name.
SELECT count(*), count(DISTINCT trim(who)) FILTER (WHERE $by_name) FROM judged_cells WHERE left_out;
