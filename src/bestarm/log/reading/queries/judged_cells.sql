-- Makes `judged_cells` where no copies are left out, so that rows need not be compared with each other.
CREATE OR REPLACE TEMP VIEW judged_cells AS SELECT *, coalesce($test, false) AS left_out FROM ($rows);
