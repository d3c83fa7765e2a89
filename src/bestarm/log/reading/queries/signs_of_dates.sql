-- Of the first $sample cells of $column: how many there are, how many are times, and whether some look like dates.
SELECT count(*), count(seconds), coalesce(bool_or(regexp_matches(cell, '\d[-/:.]\d|\d,? [A-Za-z]{3,}|[A-Za-z]{3,} \d')), false)
FROM (SELECT $column AS cell, $seconds AS seconds FROM $relation LIMIT $sample);
