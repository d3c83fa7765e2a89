-- Makes `numbered`: `kept` with the number of each row.
CREATE OR REPLACE TEMP VIEW numbered AS SELECT *, $row AS row FROM kept;
