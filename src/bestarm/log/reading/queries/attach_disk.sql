-- Opens a file for a table that is too large for memory; it is deleted with the folder of the log.
ATTACH $file AS disk;
