-- How many rewards a source gave to an arm after the first, from `firsts`.
SELECT sum(times)::BIGINT - count(*) FROM firsts;
