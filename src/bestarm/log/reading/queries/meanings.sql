-- Makes `meanings`: what each row of `grouped` means.
CREATE OR REPLACE TEMP TABLE meanings AS
SELECT name, value, state, times AS rows, n * times AS n,
    coalesce(arm <> name, false) AS trimmed,
    CASE WHEN contains(reward, ',') THEN reward END AS comma,
    coalesce(contains(reward, '.'), false) AS point
FROM understood('grouped');
