-- Makes `meanings`: what each row of `grouped` means.
CREATE OR REPLACE TEMP TABLE meanings AS
SELECT name, value, state, times AS rows, n * times AS n,
    coalesce(arm <> name, false) AS trimmed,
    CASE WHEN contains(reward, ',') THEN reward END AS comma,
    coalesce(contains(reward, '.'), false) AS point,
    CASE WHEN plain IS NULL AND word_value(word) IS NOT NULL THEN word END AS spelled
FROM understood('grouped');
