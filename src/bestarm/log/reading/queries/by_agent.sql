-- For each user agent of `watched`: how many rewards, and how many of them are the highest, $highest; and $sources.
SELECT agent, sum(n)::BIGINT AS times, coalesce(sum(n) FILTER (value = $highest), 0)::BIGINT AS top,
    $sources AS sources
FROM watched
WHERE agent IS NOT NULL
GROUP BY 1
ORDER BY times DESC, agent
LIMIT $most;
