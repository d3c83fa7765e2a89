-- Makes `kept`: `cells` as a table if several passes follow, because a date costs more to read than the rest of a row.
CREATE TEMP $kind kept AS SELECT * EXCLUDE (clock) FROM cells;
