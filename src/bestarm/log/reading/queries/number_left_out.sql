-- How many rows of `judged_cells` are left out.
SELECT count(*) FROM judged_cells WHERE left_out;
