-- The rows that DuckDB could not split into cells.
SELECT DISTINCT file_path, coalesce(line_byte_position, 1), error_type::VARCHAR, csv_line
FROM reject_errors JOIN reject_scans USING (scan_id, file_id)
ORDER BY ALL;
