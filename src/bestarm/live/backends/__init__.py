"""Where the logs of studies are kept: one file per kind of database, named after the scheme of its URLs."""
