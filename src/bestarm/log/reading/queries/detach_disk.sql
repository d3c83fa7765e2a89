-- Closes the file of attach_disk.sql.
DETACH disk;
