"""Live experiments on a database."""

from __future__ import annotations

from bestarm.live.backup import backup_studies as backup_studies
from bestarm.live.backup import import_studies as import_studies
from bestarm.live.study import Study as Study
