"""What the rewards of a source for an arm become, in SQL; and what cannot be the share of something."""

from __future__ import annotations

from bestarm.errors import InputError
from bestarm.log.reading.rows import OpenLog

# Sums are taken in the order of size, so that they are the same to the last bit whatever the order of the rows.
_SUM = "list_sum(list_sort(list({})))"
BECOMES = {
    "first": "arg_min(value, rowid)",
    "last": "arg_max(value, rowid)",
    "mean": f"{_SUM.format('value')} / count(*)",
    "sum": _SUM.format("value"),
    "any": "max(value)",
}
OF = _SUM.format("share_of")


def refuse_bad_shares(log: OpenLog) -> None:
    """Refuse rows whose reward is negative, or is the share of nothing, of less than nothing or of no number."""
    for arm, who, value, cell, number in log.database.ask("bad_share"):
        per, reward = log.columns.per, log.columns.reward
        if value < 0:
            name, rule, got = str(reward), f"be 0 or more where it is a share of {per!r}", f"{value:g}"
        else:
            name, rule, got = str(per), "be a number, 0 or more, in every row that has a reward", cell or "nothing"
        received = f"{got} (source {who!r}, arm {arm!r}; {number:,} such row{'' if number == 1 else 's'})"
        raise InputError(name, rule, received, "mend the file, or leave these rows out of it")


def refuse_more_than_all(log: OpenLog) -> None:
    """Refuse sources that have more of something than there is, such as more clicks than impressions."""
    for arm, who, value, of, number in log.database.ask("more_than_all"):
        per, reward = log.columns.per, log.columns.reward
        received = f"{value:g} of {of:g} for source {who!r} on {arm!r} ({number:,} such case{'s'[: number != 1]})"
        fix = f"a ratio is of a part and the whole, such as clicks per impression: which column counts all {reward!r}?"
        raise InputError(str(reward), f"be at most {per!r}, summed over the rows of a source for an arm", received, fix)
