-- The names of the sources of `watched` whose hashes are in `picked`.
SELECT hash(who) AS who, min(who) AS name FROM watched WHERE hash(who) IN (SELECT hashed FROM picked) GROUP BY 1;
