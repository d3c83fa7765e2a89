"""The database itself rejects a second end of a pull."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the index."""
    ends = sa.text("kind in ('tell', 'cancel', 'expire')")
    op.create_index(
        "bestarm_one_end", "bestarm_events", ["study", "pull"], unique=True, sqlite_where=ends, postgresql_where=ends
    )
