-- Makes `counted_rows`: the different rows of a table that its database counted, in an order that no reward decides.
CREATE OR REPLACE TEMP TABLE counted_rows AS SELECT * FROM fetched_rows ORDER BY $turn;
