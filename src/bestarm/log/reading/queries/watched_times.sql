-- How many of the first rows of `watched_cells` have a time, and the first and last of these.
SELECT count(*), count(seconds), min(seconds), max(seconds) FROM (SELECT seconds FROM watched_cells LIMIT $sample);
