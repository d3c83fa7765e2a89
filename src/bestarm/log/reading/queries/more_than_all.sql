-- The first source of `firsts` that has more on an arm (of `arms`) than it is a share of, and how many there are.
SELECT name, who, value, share_of, count(*) OVER ()
FROM firsts JOIN arms USING (arm_index)
WHERE value > share_of * (1 + 1e-12)
ORDER BY turn
LIMIT 1;
