-- Makes `located`: the rows of one file as in `cells`, each with the whole row, by which it is found again.
CREATE OR REPLACE TEMP VIEW located AS $rows;
