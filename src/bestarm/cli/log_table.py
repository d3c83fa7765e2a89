"""The verdict on a log, for people to read in a terminal."""

from __future__ import annotations

import itertools
import math
import shutil
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from bestarm.cli.control_table import comparison_table
from bestarm.cli.output import Format, arm_rows, plain, write_rows
from bestarm.cli.syntax import to_cli_syntax
from bestarm.identification.wording.control import ControlWords
from bestarm.identification.wording.log_lines import LineWords
from bestarm.identification.wording.log_series import APPROXIMATE
from bestarm.identification.wording.log_verdict import LogWords, contradicted, other_epsilons
from bestarm.identification.wording.segments import SegmentWords
from bestarm.identification.wording.text import capital, even_decimals, in_cell, named_in_cell

if TYPE_CHECKING:
    from bestarm.identification.result import ArmRow
    from bestarm.identification.robustness import Sensitivity
    from bestarm.log.result import LogResult
    from bestarm.log.segments import SegmentedResult

_WIDEST = 100  # letters per line
_BAR = 30  # letters per bar
_SHOWN = 20  # arms
_CELL = 60  # letters per cell that lists several things
_HEAD = 11  # letters of the word that begins a line


def print_verdict(result: LogResult, *, explain: bool = False, is_part: bool = False) -> None:
    """Print the three lines of a verdict, the table of arms and how to go on; or everything that a log says.

    How to go on, and what was guessed, is left out if it is a part of what is printed.
    """
    print("\n".join(result.lines))
    print()
    if result.control is None:
        _print_arms(result)
    else:
        _print_comparisons(result)
    if explain:
        _explain(result)
    else:
        _print_remarks(result)
        if not is_part:
            _print_next_steps(result)


def print_segments(result: SegmentedResult, *, explain: bool = False) -> None:
    """Print the verdict on each segment below a heading, and before all how they share delta."""
    words = SegmentWords(result)
    print(words.shared())
    for segment, found in result.items():
        print(f"\n== {words.heading(segment)} ==")
        print_verdict(found, explain=explain, is_part=True)
    for line in words.skipped():
        print(f"\n{line}")
    if not explain:
        _print_next_steps(next(iter(result.values())))


def _print_comparisons(result: LogResult) -> None:
    """Print one row per arm: the control, and how each other arm compares with it."""
    rows = comparison_table(result)
    words, few = ControlWords(result), rows[:_SHOWN]
    even = dict.fromkeys((result.middle, words.there_title()), even_decimals([row[result.middle] for row in few]))
    write_rows(few, Format.table, even | {"lead": even_decimals([row["lead"] for row in few])})
    if len(rows) > _SHOWN:
        print(f"... and {len(rows) - _SHOWN:,} more arms (--format csv has all)")
    say(words.about_the_table())


def _print_remarks(result: LogResult) -> None:
    """Print what else was noticed about the answer and the file."""
    health = result.health
    told = "\n".join([*result.lines, *result.doubts])
    noticed = [
        *result.doubts[1:],
        *(f"{capital(each.text)}." for each in LineWords(result).noted("split") if capital(each.text) not in told),
    ]
    noticed += health.remarks()  # what was left out is among the lines
    if noticed:
        print()
        for sentence in dict.fromkeys(noticed):
            say(f"- {to_cli_syntax(sentence)}", indent=2)


def _print_next_steps(result: LogResult) -> None:
    """Print how to go on; what was guessed goes to stderr."""
    print()
    for sentence in LineWords(result).next_steps():
        say(to_cli_syntax(sentence))
    for guess in result.health.guesses:
        print(to_cli_syntax(guess), file=sys.stderr)


def _explain(result: LogResult) -> None:
    print()
    say(str(result))
    for finding in result.findings:
        say(f"- {finding.details or capital(finding.text)}", indent=2)
    words = LogWords(result) if result.control is None else ControlWords(result)
    facts = list(words.facts())
    if facts:
        print()
        for head, text in facts:
            say(f"{head:<{_HEAD}}{text}", indent=_HEAD)
    if result.sensitivity:
        print(f"\n{other_epsilons(result)}")
        write_rows(_weighed(result), Format.table)
        question = words.question()
        if question:
            say(question)
    if result.series is not None and result.series.sentences:
        print("\nOver time")
        for sentence in result.series.sentences:
            say(f"- {sentence}", indent=2)
        say(APPROXIMATE)
    print("\nThe file")
    for sentence in result.health.sentences():
        say(f"- {to_cli_syntax(sentence)}", indent=2)


def say(text: str, indent: int = 0) -> None:
    """Print a text, wrapped to the width of the terminal or, if that is wider, to one that is easy to read."""
    width = min(shutil.get_terminal_size((_WIDEST, 0)).columns, _WIDEST)
    lines = textwrap.wrap(
        text, max(width, 40), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )
    print("\n".join(lines))


def _print_arms(result: LogResult) -> None:
    """Print one row per arm, the best first, with its interval drawn on a scale that all share."""
    words = LogWords(result)
    first, there = words.first, words.there()

    def rank(row: dict[str, Any]) -> tuple[bool, bool, float, float]:
        mean = result.means.get(row["label"], math.nan)
        better = -words.sign
        last = math.inf if math.isnan(mean) else better * mean
        return row["label"] != first, math.isnan(row["estimate"]), better * row["estimate"], last

    shown = sorted(arm_rows(result), key=rank)[:_SHOWN]
    by_label = {row.label: row for row in result.arms}
    scale = _scale(result, [by_label[row["label"]] for row in shown])
    rows = []
    for row in shown:
        fits = row["lower"] <= row["upper"]  # after an alarm no mean may fit
        cells = {"arm": in_cell(row["label"]), words.pulls_title: row["pulls"], result.middle: plain(row["estimate"])}
        if result.moved_means:
            cells["plain mean"] = result.means[row["label"]]
        if there:
            cells[words.there_title()] = there.get(row["label"])
        cells |= {name: plain(row[name]) if fits else None for name in ("lower", "upper")}
        if "lead" in row:
            cells["lead"] = row["lead"]
        cells["left"] = "yes" if row["active"] else "no"
        if scale is not None:
            cells[_axis(scale)] = _bar(by_label[row["label"]], scale)
        rows.append(cells)
    means = even_decimals([row["estimate"] for row in shown])
    even = dict.fromkeys((result.middle, "plain mean", words.there_title(), "lower", "upper"), means)
    write_rows(rows, Format.table, even | {"lead": even_decimals([row.get("lead") for row in shown])})
    if len(result.arms) > len(shown):
        print(f"... and {len(result.arms) - len(shown):,} more arms (--format csv has all)")


def _scale(result: LogResult, rows: list[ArmRow]) -> tuple[float, float] | None:
    """Return the ends of the axis that all bars share: those of the intervals, so that small rates differ."""
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


def _weighed(result: LogResult) -> list[dict[str, Any]]:
    """Return what the rewards say at other epsilons, a line for those next to each other that say the same."""

    def content(row: Sensitivity) -> tuple[Any, ...]:
        return row.status, row.candidates, row.limit, len(row.alarms)

    rows = []
    for _, group in itertools.groupby(result.sensitivity, content):
        same = list(group)
        row = same[0]
        between = f"{row.epsilon:g}" if len(same) == 1 else f"{row.epsilon:g} to {same[-1].epsilon:g}"
        left = named_in_cell(row.candidates, 5)
        left = left if len(left) <= _CELL else f"{len(row.candidates):,} arms"
        cells = {"epsilon": between, "status": row.status, "left": left, "limit": row.limit}
        if any(row.alarms for row in result.sensitivity):
            cells["alarms"] = contradicted(row)
        rows.append(cells)
    return rows
