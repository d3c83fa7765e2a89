-- How many of the first rows of `cells` have no time.
SELECT count(*) FROM (SELECT seconds FROM cells LIMIT $sample) WHERE seconds IS NULL;
