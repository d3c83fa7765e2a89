-- Makes `grouped` for many different rewards: the rows of `kept`, each once.
CREATE TEMP VIEW grouped AS SELECT *, 1 AS times FROM kept;
