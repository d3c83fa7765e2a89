-- Makes `watched_cells`: the rows of all files, or of the table, with the columns that inspection looks at.
CREATE OR REPLACE TEMP VIEW watched_cells AS $rows;
