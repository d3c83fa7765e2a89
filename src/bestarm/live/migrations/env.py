"""What alembic runs: it is given an open connection, and brings its tables to a revision."""

from __future__ import annotations

from alembic import context

from bestarm.live.schema import VERSION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
