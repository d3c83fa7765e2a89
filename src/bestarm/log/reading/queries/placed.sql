-- Makes `placed`: the block of each source of $rows, that of its first row: by time and, where times are equal or there
-- are none, by the block itself.
CREATE OR REPLACE TEMP TABLE placed AS
SELECT who, min({'seconds': seconds, 'block': $block}).block AS block
FROM $rows
WHERE $block IS NOT NULL AND who IS NOT NULL
GROUP BY who;
