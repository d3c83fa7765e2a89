-- The names of the sources of `firsts`, in the order of their numbers.
SELECT who FROM firsts GROUP BY who ORDER BY min(turn);
