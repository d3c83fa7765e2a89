-- What the first $most rows of $relation have in the columns $columns: cells that are not empty, different ones, cells that
-- can be rewards, words for yes and no among these, and dates; whether all rewards are 0 or 1; the least and the
-- largest; and cells that look like the number of somebody.
WITH first_cells AS (
    SELECT which, stripped(cell) AS word, count(*) AS times
    FROM (SELECT * FROM (SELECT $cells FROM $relation LIMIT $most) UNPIVOT (cell FOR which IN ($columns)))
    GROUP BY ALL
), numbers AS (
    SELECT *, TRY_CAST(word AS DOUBLE) AS number FROM first_cells
    WHERE lower(word) NOT IN ('', 'na', 'n/a', 'nan', 'null', 'none')
), valued AS (SELECT *, CASE WHEN number IS NULL THEN other_value(word) ELSE number END AS value FROM numbers)
SELECT which, sum(times)::BIGINT, count(*),
    coalesce(sum(times) FILTER (value IS NOT NULL), 0)::BIGINT,
    coalesce(sum(times) FILTER (number IS NULL AND value IS NOT NULL AND NOT contains(word, ',')), 0)::BIGINT,
    coalesce(sum(times) FILTER (value IS NULL AND (seconds_of(word) IS NOT NULL OR is_numbered_date(word))), 0)::BIGINT,
    coalesce(bool_and(value IN (0.0, 1.0)) FILTER (value IS NOT NULL), false),
    min(value), max(value),
    coalesce(sum(times) FILTER (is_opaque(word)), 0)::BIGINT
FROM valued
GROUP BY which;
