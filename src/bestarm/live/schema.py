"""The tables of SQL stores. Rows of `bestarm_events` are only ever added: they are the log, in order."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

REVISION = "0002"  # of the tables below; live/migrations/versions creates and upgrades them
VERSION_TABLE = "bestarm_version"

metadata = MetaData()

studies = Table(
    "bestarm_studies",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=True),
    Column("name", Text, nullable=False, unique=True),
    Column("token", BigInteger, nullable=False),  # tells pulls of this study from those of others
    Column("settings", Text, nullable=False),  # JSON: the question, the method, the lease
    Column("created", Double, nullable=False),  # seconds since 1970, by the database's clock
)

# The columns that each kind of event fills: ask (pull, arm, worker), tell (pull, value, source), cancel, expire and
# renew (pull), decide (note: the verdict as JSON), archive (nothing).
events = Table(
    "bestarm_events",
    metadata,
    Column("study", Integer, ForeignKey("bestarm_studies.id"), nullable=False),
    Column("seq", BigInteger, nullable=False),  # 1, 2, ... of each study, without a gap
    Column("kind", Text, nullable=False),
    Column("pull", BigInteger),
    Column("arm", Integer),
    Column("value", Double),
    Column("source", Text),  # JSON
    Column("worker", Text),
    Column("at", Double, nullable=False),
    Column("note", Text),
    PrimaryKeyConstraint("study", "seq"),
    sqlite_with_rowid=False,
)

# A pull ends once, even if a program has a bug. (Since revision 0002.)
ENDS = "kind in ('tell', 'cancel', 'expire')"
one_end = Index(
    "bestarm_one_end",
    events.c.study,
    events.c.pull,
    unique=True,
    sqlite_where=text(ENDS),
    postgresql_where=text(ENDS),
)
