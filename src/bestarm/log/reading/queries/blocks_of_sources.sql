-- How many sources of `firsts` each arm has in each block of `placed`; sources without a block are left out.
SELECT arm_index, block, count(*)::BIGINT AS times FROM firsts JOIN placed USING (who) GROUP BY 1, 2;
