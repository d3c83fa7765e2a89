-- A query as DuckDB understands it, in JSON.
SELECT CAST(json_serialize_sql($$1::VARCHAR) AS VARCHAR);
