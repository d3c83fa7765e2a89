-- Makes `watched` of a log that is too large for memory: what was written to the file on disk.
CREATE TEMP VIEW watched AS FROM disk.watched;
