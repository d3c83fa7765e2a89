"""What looks wrong in a log: one module per kind of finding, and `inspect_open`, which runs them all.

`watch` counts the rows in the ways that the findings need; `within` says what a finding does to an answer.
"""

from bestarm.log.inspection.inspect import Inspected, find_left_out, inspect_open
from bestarm.log.inspection.within import WithinDays, within_days

__all__ = ["Inspected", "WithinDays", "find_left_out", "inspect_open", "within_days"]
