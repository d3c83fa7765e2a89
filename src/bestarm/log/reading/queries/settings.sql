-- A database in memory with limits, which downloads nothing.
SET memory_limit = $memory;
SET threads = $threads;
SET temp_directory = $folder;
SET autoinstall_known_extensions = false;
SET autoload_known_extensions = false;
SET TimeZone = 'UTC';
SET enable_progress_bar = false;
