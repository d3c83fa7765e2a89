-- How many of the first $most cells of $column are dates such as 5/31/2024 or 31-05-2024, and the largest first and second
-- number in them.
SELECT count(*), coalesce(max(CAST(numbers[1] AS INTEGER)), 0), coalesce(max(CAST(numbers[2] AS INTEGER)), 0)
FROM (
    SELECT regexp_split_to_array(trim(cell), '[/-]') AS numbers
    FROM (SELECT $column AS cell FROM $relation LIMIT $most)
    WHERE is_numbered_date(cell)
);
