"""Reading a log, in four steps, each with a type and a file of its own.

1. `files`: the files, found, unpacked and in UTF-8 (`LogFile`), which `parts` makes DuckDB select from (`Part`);
2. `columns`: which column is what (`LogColumns`);
3. `rows`: the rows in a database, understood (`OpenLog`); the queries are in the folder `queries`;
4. `counting`: the rewards of each arm (`Rewards`).
"""

from bestarm.log.reading.blocks import with_blocks
from bestarm.log.reading.columns import LogColumns
from bestarm.log.reading.counting import FEW_ARMS, count_rewards
from bestarm.log.reading.database import Progress
from bestarm.log.reading.files import LogFile, check_there
from bestarm.log.reading.read import read, read_log
from bestarm.log.reading.rows import DATES, OpenLog, open_log
from bestarm.log.reading.warehouse import is_in_database, refuse_in_database
from bestarm.log.reading.without import EQUAL_TIMES, SUSPICIOUS, LeftOut, names_in_file, suspicious

__all__ = [
    "DATES",
    "EQUAL_TIMES",
    "FEW_ARMS",
    "SUSPICIOUS",
    "LeftOut",
    "LogColumns",
    "LogFile",
    "OpenLog",
    "Progress",
    "check_there",
    "count_rewards",
    "is_in_database",
    "names_in_file",
    "open_log",
    "read",
    "read_log",
    "refuse_in_database",
    "suspicious",
    "with_blocks",
]
