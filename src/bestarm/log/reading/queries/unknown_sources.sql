-- How many sources of `firsts` have a name that stands for many people who are not known.
SELECT count(*) FROM firsts WHERE known_source(who) IS NULL;
