-- Makes `cells`: the rows of all files, or of the table, with their cells as text.
CREATE OR REPLACE VIEW cells AS $rows;
