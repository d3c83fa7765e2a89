-- Makes `judged_cells`: the rows of all files with the columns that inspection looks at, and whether each is left out.
CREATE OR REPLACE TEMP VIEW judged_cells AS
SELECT *, coalesce($test, false) AS left_out FROM (
    SELECT *,
        row_number() OVER (PARTITION BY rest, clock, arm) AS place, count(*) OVER (PARTITION BY rest, clock, arm) AS times,
        row_number() OVER (PARTITION BY event, arm, reward, exact, who) AS place_of_event
    FROM ($rows)
);
