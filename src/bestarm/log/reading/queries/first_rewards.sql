-- The rows of `firsts` in order, with sources numbered by their first appearance.
SELECT arm_index::INTEGER AS arm, source::INTEGER AS source, value, share_of::DOUBLE AS share_of
FROM firsts JOIN (
    SELECT who, row_number() OVER (ORDER BY min(turn)) - 1 AS source FROM firsts GROUP BY who
) USING (who)
ORDER BY turn;
