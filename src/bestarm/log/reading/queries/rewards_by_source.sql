-- How many rewards each source gave to each arm, from `firsts`.
SELECT who, arm_index, times FROM firsts ORDER BY who, arm_index;
