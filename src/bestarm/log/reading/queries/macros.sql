-- The rules by which cells are read, the same for every format.

-- What the log is like; shape.sql says it again when that is known.
CREATE MACRO has_source() AS false;
CREATE MACRO has_time() AS false;
CREATE MACRO is_counted() AS false;
CREATE MACRO has_commas() AS true;
CREATE MACRO has_words() AS true;
CREATE MACRO lowest() AS CAST('-inf' AS DOUBLE);
CREATE MACRO highest() AS CAST('inf' AS DOUBLE);

-- A cell without spaces around it.
CREATE MACRO stripped(cell) AS trim(cell, ' ' || chr(9) || chr(10) || chr(13) || chr(160));

-- The same, three times faster where there are no spaces.
CREATE MACRO quickly_stripped(cell) AS CASE
    WHEN ascii(cell) BETWEEN 33 AND 126 AND ascii(right(cell, 1)) BETWEEN 33 AND 126 THEN cell
    ELSE stripped(cell)
END;

-- A source, or NULL for a word that stands for many people who are not known.
CREATE MACRO known_source(cell) AS CASE
    WHEN lower(quickly_stripped(cell)) NOT IN
        ('', '-', '0', '-1', '(not set)', 'unknown', 'anonymous', 'anon', 'guest', 'none', 'null', 'nan', 'na', 'n/a',
        'undefined')
    THEN quickly_stripped(cell)
END;

-- A place in a random order that depends on a text alone: smallest first, and divided by weights as likely as these say.
CREATE MACRO turn_of(cells) AS -ln((md5_number_lower(cells)::DOUBLE + 0.5) / 18446744073709551616.0);

-- The greatest common divisor of whole numbers.
CREATE MACRO gcd_of(numbers) AS list_reduce(numbers, lambda x, y : gcd(x, y));

-- A number as text: 1.0 as 1, because pandas stores whole numbers as 1.0 in a column where some are missing.
CREATE MACRO number_as_text(number) AS CASE
    WHEN isfinite(number) AND number = floor(number) AND abs(number) < 1e15 THEN CAST(CAST(number AS BIGINT) AS VARCHAR)
    ELSE CAST(number AS VARCHAR)
END;

-- Whether a cell is a date such as 5/31/2024 or 31-05-2024; which number is the month is not known yet.
CREATE MACRO is_numbered_date(cell) AS regexp_full_match(cell, '\s*\d\d?[/-]\d\d?[/-]\d{4}([\s,T].*)?');

-- A time in seconds: a number, or a date. A plain 2024-05-31 12:00:00 is read five times faster.
CREATE MACRO seconds_of(cell) AS CASE
    WHEN regexp_full_match(cell, '\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d') THEN epoch(TRY_CAST(cell AS TIMESTAMP))
    ELSE coalesce(
        TRY_CAST(stripped(cell) AS DOUBLE),
        epoch(TRY_CAST(stripped(cell) AS TIMESTAMPTZ)),
        epoch(try_strptime(stripped(cell), [
            '%d.%m.%Y', '%d.%m.%Y %H:%M', '%d.%m.%Y %H:%M:%S', '%d %b %Y', '%d %b %Y %H:%M', '%d %b %Y %H:%M:%S',
            '%d-%b-%Y', '%d-%b-%Y %H:%M', '%d-%b-%Y %H:%M:%S', '%b %d, %Y', '%b %d, %Y %H:%M', '%b %d, %Y %H:%M:%S',
            '%b %d, %Y %I:%M %p', '%b %d, %Y %I:%M:%S %p', '%d %B %Y', '%B %d, %Y', '%d/%b/%Y:%H:%M:%S %z',
            '%a, %d %b %Y %H:%M:%S %z'
        ]))
    )
END;
-- The same for a column of dates such as 5/31/2024 or 31-05-2024, by which number is first.
CREATE MACRO seconds_of_month_first(cell) AS coalesce(
    epoch(try_strptime(replace(replace(stripped(cell), '-', '/'), ',', ''), [
        '%m/%d/%Y', '%m/%d/%Y %H:%M', '%m/%d/%Y %H:%M:%S', '%m/%d/%Y %I:%M %p', '%m/%d/%Y %I:%M:%S %p'
    ])),
    seconds_of(cell)
);
CREATE MACRO seconds_of_day_first(cell) AS coalesce(
    epoch(try_strptime(replace(replace(stripped(cell), '-', '/'), ',', ''), [
        '%d/%m/%Y', '%d/%m/%Y %H:%M', '%d/%m/%Y %H:%M:%S', '%d/%m/%Y %I:%M %p', '%d/%m/%Y %I:%M:%S %p'
    ])),
    seconds_of(cell)
);

-- Whether a cell is an e-mail address, an IP address, a UUID or another long number in hexadecimal: the number of somebody.
CREATE MACRO is_opaque(cell) AS regexp_full_match(
    cell, '[^@ ]+@[^@ ]+\.[a-zA-Z]+|(\d{1,3}\.){3}\d{1,3}|([0-9a-fA-F]*:){3,7}[0-9a-fA-F]*|[0-9a-fA-F-]{16,64}'
);

-- How often a row occurs, if that is a whole number.
CREATE MACRO count_of(cell) AS TRY_CAST(stripped(cell) AS DOUBLE);
CREATE MACRO is_count(cell) AS
    coalesce(count_of(cell) BETWEEN 0 AND 1e12 AND count_of(cell) = floor(count_of(cell)), false);

-- What is wrong with a row of successes and visits, as a text that is no count: one of them, or more successes than visits.
CREATE MACRO wrong_count(successes, visits) AS CASE
    WHEN NOT is_count(visits) THEN coalesce(visits, 'nothing')
    WHEN NOT is_count(successes) THEN coalesce(successes, 'nothing')
    WHEN count_of(successes) > count_of(visits) THEN concat(stripped(successes), ' of ', stripped(visits))
END;
-- Successes, and visits without success, as text; both are no counts if the row is wrong.
CREATE MACRO successes_of(successes, visits) AS coalesce(wrong_count(successes, visits), successes);
CREATE MACRO failures_of(successes, visits) AS coalesce(
    wrong_count(successes, visits), CAST(CAST(count_of(visits) - count_of(successes) AS BIGINT) AS VARCHAR)
);

-- The value of a word for yes or no; skin tones of a thumb do not matter.
CREATE MACRO word_value(word) AS CASE regexp_replace(lower(word), '[ _-]+|[\x{1F3FB}-\x{1F3FF}\x{FE0F}]', '', 'g')
    WHEN 'yes' THEN 1.0 WHEN 'no' THEN 0.0
    WHEN 'y' THEN 1.0 WHEN 'n' THEN 0.0
    WHEN 't' THEN 1.0 WHEN 'f' THEN 0.0
    WHEN 'up' THEN 1.0 WHEN 'down' THEN 0.0
    WHEN 'thumbsup' THEN 1.0 WHEN 'thumbsdown' THEN 0.0
    WHEN 'thumbup' THEN 1.0 WHEN 'thumbdown' THEN 0.0
    WHEN '👍' THEN 1.0 WHEN '👎' THEN 0.0
END;

-- The value of a cell that is not a plain number: one with a decimal comma, true or false, or a word for yes or no.
CREATE MACRO other_value(word) AS coalesce(
    CASE WHEN has_commas() THEN TRY_CAST(replace(word, ',', '.') AS DOUBLE) END,
    CASE lower(word) WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 END,
    CASE WHEN has_words() THEN word_value(word) END
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
