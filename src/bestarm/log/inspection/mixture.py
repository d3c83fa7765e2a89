"""Whether the shares of the arms differ by a column that was there before the arm was chosen, such as the country.

Then an arm may lead because it was shown more often where rewards are good (Simpson's paradox). Nobody asked for
blocks, so that only columns with a plain name are looked at: by arms and their values, never by rewards.
"""

from __future__ import annotations

import numpy as np

from bestarm.identification.finding import Finding
from bestarm.identification.wording.text import capital
from bestarm.log.blocks import NONE, shares_change
from bestarm.log.inspection.allotment import keep_to_an_arm
from bestarm.log.inspection.days import DayTable, to_digits
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import Watch
from bestarm.log.reading.watched import MOST_VALUES

VALUE = "value"  # what such a table calls a day


def table_by_column(watch: Watch) -> DayTable | None:
    """Return the rewards by value and arm, of the column that has such a name; None if there is none, or blocks are."""
    column, asked = watch.columns.block, watch.log.spec.block
    if column is None or asked not in (None, NONE) or not watch.is_table or keep_to_an_arm(watch):
        return None
    rows = watch.run("by_column", most=MOST_VALUES + 1)
    names, value = np.unique(rows["block"].astype(str), return_inverse=True)
    if not 2 <= names.size <= MOST_VALUES:
        return None
    size = names.size, len(watch.rewards.labels)
    number, sums, squares = (np.zeros(size) for _ in range(3))
    for array, name in ((number, "times"), (sums, "sums"), (squares, "squares")):
        array[value, rows["arm_index"]] = rows[name]
    nothing = np.zeros(size)
    table = (number, to_digits(sums), to_digits(squares), nothing, nothing)
    return DayTable(watch.rewards.labels, tuple(names.tolist()), *table, VALUE)


def find_mixture(watch: Watch, table: DayTable) -> list[Finding]:
    """Return whether the shares of the arms differ by the column."""
    if not shares_change(table.number.T.astype(np.int64)):
        return []
    arms, column = f"{watch.metric.arm_word}s", watch.columns.block or ""
    text = f"the shares of the {arms} differ by {column}"
    details = (
        f"{capital(text)}, so that {arms} with more of the good ones seem better. If it was there before the "
        f"{watch.metric.arm_word} was chosen, arms should be compared within it."
    )
    return [Finding("mixture", None, None, None, text, (column,), RATE, details)]
