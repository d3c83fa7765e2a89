-- The table `states`.
SELECT state, name, rows, rewards, trimmed FROM states;
