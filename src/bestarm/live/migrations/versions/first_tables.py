"""The first tables: studies, and the log of their events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create them."""
    op.create_table(
        "bestarm_studies",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("created", sa.Double, nullable=False),
    )
    op.create_table(
        "bestarm_events",
        sa.Column("study", sa.Integer, sa.ForeignKey("bestarm_studies.id"), nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("pull", sa.BigInteger),
        sa.Column("arm", sa.Integer),
        sa.Column("value", sa.Double),
        sa.Column("source", sa.Text),
        sa.Column("worker", sa.Text),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("note", sa.Text),
        sa.PrimaryKeyConstraint("study", "seq"),
        sqlite_with_rowid=False,
    )
