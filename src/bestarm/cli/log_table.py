"""The verdict on a log, for people to read in a terminal."""

from __future__ import annotations

import itertools
import math
import shutil
import sys
import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from bestarm.cli.output import Format, arm_rows, finite_leads, write_rows
from bestarm.cli.syntax import to_cli_syntax
from bestarm.contamination import resolve
from bestarm.identification.result import share_shown

if TYPE_CHECKING:
    from bestarm.identification.result import ArmRow
    from bestarm.identification.robustness import Sensitivity
    from bestarm.log.result import LogResult

_WIDEST = 100  # letters per line
_BAR = 30  # letters per bar
_SHOWN = 20  # arms
_LABEL = 40  # letters of an arm's name
_CELL = 60  # letters of several
_HEAD = 11  # of a line that begins with what it is about


def print_verdict(result: LogResult) -> None:
    """Print all that a log says."""
    say(str(result))
    print()
    _print_arms(result)
    facts = list(_facts(result))
    if facts:
        print()
        for head, text in facts:
            say(f"{head:<{_HEAD}}{text}", indent=_HEAD)
    if result.sensitivity:
        print(f"\nThe same{f' {result.pulls:,}' if result.sequential else ''} rewards at other epsilons")
        write_rows(_weighed(result), Format.table)
        question = _question(result)
        if question:
            say(question)
    print("\nThe file")
    for sentence in result.health.sentences():
        say(f"- {to_cli_syntax(sentence)}", indent=2)


def say(text: str, indent: int = 0) -> None:
    """Print a text in lines that are no wider than the terminal, and can be read."""
    width = min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)
    lines = textwrap.wrap(
        text, max(width, 40), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    print("\n".join(lines))


def _print_arms(result: LogResult) -> None:
    """Print one row per arm, the best first, with its interval drawn on a scale that all share."""
    first = result.leader if result.best is None else result.best

    def rank(row: dict[str, Any]) -> tuple[bool, bool, float, float]:
        mean = result.means.get(row["label"], math.nan)
        return row["label"] != first, math.isnan(row["estimate"]), -row["estimate"], math.inf if mean != mean else -mean

    shown = sorted(arm_rows(result), key=rank)[:_SHOWN]
    by_label = {row.label: row for row in result.arms}
    moved = bool(result.moved_means)
    scale = _scale(result, [by_label[row["label"]] for row in shown])
    rows = []
    for row in shown:
        cells: dict[str, Any] = {"arm": _short(str(row["label"])), "rewards": row["pulls"]}
        shown_ends = ("lower", "upper") if row["lower"] <= row["upper"] else ()  # after an alarm no mean may fit
        middle = result.middle
        cells |= {middle: row["estimate"]}
        if moved:
            cells["plain mean"] = result.means[row["label"]]
        cells |= {"lower": None, "upper": None}
        cells |= {name: row[name] for name in shown_ends if math.isfinite(row[name])}
        cells[middle] = cells[middle] if math.isfinite(cells[middle]) else None
        if "lead" in row:
            cells["lead"] = row["lead"]
        cells["left"] = "yes" if row["active"] else "no"
        if scale is not None:
            cells[_axis(scale)] = _bar(by_label[row["label"]], scale)
        rows.append(cells)
    write_rows(rows, Format.table)
    if len(result.arms) > len(shown):
        print(f"... and {len(result.arms) - len(shown):,} more arms (--format csv has all)")


def _short(label: str) -> str:
    name = " ".join(label.split())
    return name if len(name) <= _LABEL else name[: _LABEL - 3] + "..."


def _scale(result: LogResult, rows: list[ArmRow]) -> tuple[float, float] | None:
    if result.bounds is not None:
        return result.bounds
    fitting = [end for row in rows if row.lower <= row.upper for end in (row.lower, row.upper)]
    ends = [value for value in (*fitting, *(row.estimate for row in rows)) if math.isfinite(value)]
    return (min(ends), max(ends)) if ends and min(ends) < max(ends) else None


def _axis(scale: tuple[float, float]) -> str:
    low, high = (f"{value:.3g}" for value in scale)
    return f"{low}{' ' * (_BAR - len(low) - len(high))}{high}"


def _bar(row: ArmRow, scale: tuple[float, float]) -> str:
    """Return the interval of an arm's mean as a bar, with its estimate in it."""
    low, high = scale
    inside, middle = _letters()

    def index(value: float) -> int:
        return min(max(math.floor((value - low) / (high - low) * _BAR), 0), _BAR - 1)

    if not math.isfinite(row.estimate):
        return ""
    first = index(row.lower if math.isfinite(row.lower) else low)
    last = index(row.upper if math.isfinite(row.upper) else high)
    drawn = [inside if first <= cell <= last else " " for cell in range(_BAR)]
    drawn[index(row.estimate)] = middle
    return "".join(drawn)


def _letters() -> tuple[str, str]:
    """Return what a bar is drawn with, and its middle: blocks if stdout can show them."""
    try:
        "░█".encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return "-", "O"
    return "░", "█"


def _facts(result: LogResult) -> Iterator[tuple[str, str]]:
    """Say what else the rewards prove, of the winner or of the arm that leads."""
    who = repr(result.leader if result.best is None else result.best)
    if result.best is None:
        if result.limit is not None:
            yield "limit", result.limit
        if result.leader is not None and result.pulls > 0:
            yield "leader", f"{who}, but that is not proved"
        yield "candidates", _listed(tuple(sorted(result.candidates, key=lambda label: label != result.leader)))
    if result.best is None and result.limit == "budget" and not result.sequential:
        yield "more", f"{result.forecast_in_words()}{' would decide it' if result.more else ''}"
    if result.p_value is None or result.alarms:
        return
    always = ", valid at any time" if result.sequential else ""
    yield "p-value", f"{result.p_value:.3g}{always} (null hypothesis: some other arm is at least as good as {who})"
    if finite_leads(result):
        yield (
            "lead",
            f"how far {who} is ahead of each arm, at least (negative: it may be behind); all hold together with "
            f"probability {1.0 - result.delta:g} if it is the best",
        )
    if len(result.candidates) > 1 and result.best is not None:  # good enough, and not the only one left
        return
    if result.tolerance is not None:
        would = "still single out" if result.best is not None else "would single out"
        yield (
            "tolerance",
            f"the same rewards {would} {who} {_up_to(result.tolerance)}{_same_sigma(result)}",
        )
    if result.overturn is not None:
        yield "overturn", _overturn(result, who)


def _up_to(tolerance: float) -> str:
    return f"with any epsilon up to {share_shown(tolerance)}" if tolerance > 0.0 else "only if epsilon is 0"


def _overturn(result: LogResult, who: str) -> str:
    """Say what is proved of a number of replaced rewards, and no more."""
    many = f"{result.overturn:,}"
    if result.sources is not None:
        things, of = "dishonest sources", f"of {result.sources:,}"
    else:
        everywhere = resolve(result.options["contamination"]).shared
        many_in_all = result.pulls if result.sequential else result.rows
        things, of = "fake rewards", f"of {many_in_all:,}" if everywhere else "on some arm"
    if result.health.missing and result.health.missing_as == "replaced" and result.sources is None:
        of += ", besides the missing ones"
    if result.best is None:
        return f"{who} would be named with at most {many} {things} ({of}, whichever they are), and not with more"
    if result.sequential:  # bets were chosen anew for each number, after the rewards were seen
        return (
            f"these rewards still single out {who} with up to {many} {things} ({of}, whichever they are); no "
            "probability is claimed for that"
        )
    return (
        f"it would take more than {many} {things} ({of}, whichever they are) to overturn this: with that many or "
        f"fewer, {who} is the best, wrong with probability at most {result.delta:g}{_same_sigma(result)}"
    )


def _same_sigma(result: LogResult) -> str:
    """Say that a sigma was estimated for one epsilon, and is not proved for another."""
    if result.sigma_from is None:
        return ""
    return f", if sigma is at most {result.sigma:.3g} then too (it was estimated for epsilon = {result.epsilon:g})"


def _weighed(result: LogResult) -> list[dict[str, Any]]:
    """Return what the rewards say at other epsilons, a line for those next to each other that say the same."""

    def content(row: Sensitivity) -> tuple[Any, ...]:
        return row.status, row.candidates, row.limit, len(row.alarms)

    rows = []
    for _, group in itertools.groupby(result.sensitivity, content):
        same = list(group)
        row = same[0]
        between = f"{row.epsilon:g}" if len(same) == 1 else f"{row.epsilon:g} to {same[-1].epsilon:g}"
        left = _listed(row.candidates, 5)
        left = left if len(left) <= _CELL else f"{len(row.candidates):,} arms"
        cells = {"epsilon": between, "status": row.status, "left": left, "limit": row.limit}
        if any(row.alarms for row in result.sensitivity):
            many = f"{len(row.alarms)} alarm{'s' if len(row.alarms) > 1 else ''}"
            cells["alarms"] = f"the rewards contradict it ({many})" if row.alarms else None
        rows.append(cells)
    return rows


def _listed(labels: tuple[Any, ...], most: int = 10) -> str:
    """List arms in quotes, as their names may have commas in them."""
    return ", ".join(repr(_short(str(label))) for label in labels[:most]) + (", ..." if len(labels) > most else "")


def _question(result: LogResult) -> str | None:
    """Return what an analyst has to answer: whether more is fake than the answer can withstand."""
    if result.alarms or not result.tolerance or result.leader is None:
        return None
    share = f"{share_shown(100.0 * result.tolerance)} %"
    model = resolve(result.options["contamination"])
    asked = f"are more than {share} of {model.things} {model.fake}?"
    if result.best is not None and len(result.candidates) == 1:
        stands = "The answer stands" if result.sigma_from is None else "With this sigma the answer stands"
        return f"{stands} up to epsilon = {share_shown(result.tolerance)}: {asked}"
    if result.best is None:
        return f"{result.leader!r} would be the answer up to epsilon = {share_shown(result.tolerance)}: {asked}"
    return None
