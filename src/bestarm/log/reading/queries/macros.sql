-- The rules by which cells are read, the same for every format.

-- What the log is like; shape.sql says it again when that is known.
CREATE MACRO has_source() AS false;
CREATE MACRO has_time() AS false;
CREATE MACRO is_counted() AS false;
CREATE MACRO has_commas() AS true;
CREATE MACRO lowest() AS CAST('-inf' AS DOUBLE);
CREATE MACRO highest() AS CAST('inf' AS DOUBLE);

-- A cell without spaces around it.
CREATE MACRO stripped(cell) AS trim(cell, ' ' || chr(9) || chr(10) || chr(13) || chr(160));

-- The same, three times faster where there are no spaces.
CREATE MACRO quickly_stripped(cell) AS CASE
    WHEN ascii(cell) BETWEEN 33 AND 126 AND ascii(right(cell, 1)) BETWEEN 33 AND 126 THEN cell
    ELSE stripped(cell)
END;

-- A number as text: 1.0 as 1, because pandas stores whole numbers as 1.0 in a column where some are missing.
CREATE MACRO number_as_text(number) AS CASE
    WHEN isfinite(number) AND number = floor(number) AND abs(number) < 1e15 THEN CAST(CAST(number AS BIGINT) AS VARCHAR)
    ELSE CAST(number AS VARCHAR)
END;

-- A time in seconds: a number, or a date. A plain 2024-05-31 12:00:00 is read five times faster.
CREATE MACRO seconds_of(cell) AS CASE
    WHEN regexp_full_match(cell, '\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d') THEN epoch(TRY_CAST(cell AS TIMESTAMP))
    ELSE coalesce(
        TRY_CAST(stripped(cell) AS DOUBLE),
        epoch(TRY_CAST(stripped(cell) AS TIMESTAMPTZ)),
        epoch(try_strptime(stripped(cell), ['%d.%m.%Y', '%d.%m.%Y %H:%M', '%d.%m.%Y %H:%M:%S']))
    )
END;

-- How often a row occurs, if that is a whole number.
CREATE MACRO count_of(cell) AS TRY_CAST(stripped(cell) AS DOUBLE);
CREATE MACRO is_count(cell) AS
    coalesce(count_of(cell) BETWEEN 0 AND 1e12 AND count_of(cell) = floor(count_of(cell)), false);

-- The value of a cell that is not a plain number: one with a decimal comma, or true or false.
CREATE MACRO other_value(word) AS coalesce(
    CASE WHEN has_commas() THEN TRY_CAST(replace(word, ',', '.') AS DOUBLE) END,
    CASE lower(word) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END
);

-- The rows of a table with the columns of `cells`, and what they mean: the name of the arm, the value of the reward,
-- how often (n), and a state, which is 'ok' or what is wrong. In steps, so that only the few cells that need them are
-- searched for a comma or a word for missing.
CREATE MACRO understood(relation) AS TABLE
WITH texts AS (SELECT *, stripped(arm) AS name, stripped(reward) AS word FROM query_table(relation)),
numbers AS (SELECT *, coalesce(exact, TRY_CAST(word AS DOUBLE)) AS plain FROM texts),
valued AS (SELECT *, CASE WHEN plain IS NULL THEN other_value(word) ELSE plain END AS value FROM numbers)
SELECT *,
    CASE
        WHEN broken THEN 'bad json'
        WHEN coalesce(name, '') = '' THEN 'no arm'
        WHEN has_source() AND stripped(coalesce(who, '')) = '' THEN 'no source'
        WHEN has_time() AND seconds IS NULL THEN 'no time'
        WHEN is_counted() AND NOT is_count(often) THEN 'bad count'
        WHEN CASE
            WHEN plain IS NULL THEN word IS NULL OR lower(word) IN ('', 'na', 'n/a', 'nan', 'null', 'none')
            ELSE isnan(plain)
        END THEN 'missing'
        WHEN NOT coalesce(abs(value) < 1e300, false) THEN 'bad reward'
        WHEN value < lowest() OR value > highest() THEN 'outside'
        ELSE 'ok'
    END AS state,
    CASE WHEN is_counted() THEN coalesce(TRY(CAST(count_of(often) AS BIGINT)), 1) ELSE 1 END AS n
FROM valued;
