-- Makes `first_rows`: the first of `kept`.
CREATE TEMP VIEW first_rows AS SELECT * FROM kept LIMIT $sample;
