"""Live experiments on a database."""

from __future__ import annotations

from bestarm.live.connect import missing

try:
    from bestarm.live.backup import backup_studies as backup_studies
    from bestarm.live.backup import import_studies as import_studies
    from bestarm.live.study import Study as Study
except ImportError as error:
    if error.name not in ("alembic", "sqlalchemy"):
        raise
    raise missing(error) from error
