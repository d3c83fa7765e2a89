"""The page "Output as JSON": its tables come from the fields and docstrings of what is written."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

# What no docstring of a class says.
_MEANINGS = {
    "verdict": "The verdict as one long sentence, as `str(result)` has it.",
    "about_the_file": "Sentences about the file: rows read, bad rows, what was guessed.",
    "lines": "The verdict in at most three short lines.",
    "trusted": "Whether an arm is named, no alarm contradicts it, and inspection found no more than it survives.",
    "evidence": "The old name of `p_value`.",
    "assumptions": "The assumptions of `promise`, one by one.",
    "status": '"identified", "indistinguishable" (fakes may hide the lead) or "undecided" (too few rewards).',
    "delta": "The accepted probability of a wrong answer.",
    "epsilon": "How much may be fake, as it was given; null if none was.",
    "sigma": "The scale of clean rewards, if there are no bounds.",
    "bounds": "The lowest and the highest reward; null if sigma was given instead.",
    "method": 'How it was answered: "certified", unless a replay took another method.',
    "options": "The options of the method, such as `contamination`.",
    "limit": 'Why no winner is named: "contamination", "resolution" or "budget" (too few rewards).',
    "p_value": "Of the hypothesis that some other arm is at least as good as the winner (or the leader).",
    "tolerance": "The largest epsilon up to which the same rewards single out the winner.",
    "proved": "Whether it is proved that `delta` holds under the assumptions of `promise`.",
    "cancelled": "0: nothing is cancelled in a log.",
    "detectable": "Null in a log.",
    "waiting": "Empty in a log.",
    "left_out_how": 'Which rows were left out, in a few words; "" if none were found, null if all were to be used.',
    "left_out": "How many rows were left out.",
    "metric.arm": "The name of the column of arms; empty if each arm has a column.",
    "metric.reward": "The name of the column of rewards; empty if there is none.",
    "health.bad_examples": "The first of the bad rows.",
    "health.blank_arms": "Bad rows without an arm.",
    "health.outside": "Bad rows with a reward out of bounds.",
    "health.missing": "Rewards that were missing.",
    "health.left_out": "Rows that were left out because the user said so.",
    "health.left_out_how": "Which, in a few words.",
    "health.left_out_by_rewards": "Whether rewards decided which.",
    "health.arm": "As `metric.arm`.",
    "health.reward": "As `metric.reward`.",
    "findings[].rows": "How many rewards are in doubt; null where there is no count.",
    "findings[].sources": "How many sources are in doubt; null where there is no count. Copies of rows add no source.",
    "series.weekdays.highest": "The weekday with the highest mean.",
    "series.weekdays.lowest": "The one with the lowest mean.",
    "series.weekdays.high": "The mean of all arms on the highest weekday.",
    "series.weekdays.low": "The same on the lowest.",
    "arms[].label": "The arm.",
    "arms[].pulls": "Rewards of it that were used.",
    "arms[].estimate": "Its estimated mean.",
    "arms[].lower": "The lower end of its interval; null if no mean fits, after an alarm.",
    "arms[].upper": "The upper end.",
    "arms[].active": "Whether it is not ruled out.",
    "sensitivity[].epsilon": "Another epsilon.",
    "sensitivity[].status": "What `status` would be there; so for the next four.",
    "sensitivity[].best": "The winner there, or null.",
    "sensitivity[].candidates": "The arms that are not ruled out there.",
    "sensitivity[].limit": "Why none is named there.",
    "sensitivity[].alarms": "How the data contradict that epsilon.",
    "health.bad_examples[].file": "The file of a bad row.",
    "health.bad_examples[].line": "Its line; null where the format has no lines.",
    "health.bad_examples[].reason": "What is wrong with it.",
    "health.bad_examples[].value": "The cell.",
    "health.missing_as": 'What was done with missing rewards: "drop", "replaced", or "refuse" if that was not asked.',
    "series.arms[].label": "The arm; each of the next four has an entry per day.",
    "series.arms[].number": "How many rewards it has on each day.",
    "series.arms[].mean": "Their mean; null on a day without any.",
    "series.arms[].low": "The lower end of a band of 95 % for that day and arm alone, if nothing is fake.",
    "series.arms[].high": "Its upper end.",
    "series.trend.begin": "The mean of all arms on the first day, by a line through all days.",
    "series.trend.end": "The same on the last day.",
    "series.trend.p_value": "Of a slope of 0.",
    "series.scatter.seen": "How far days lie from the mean, apart from what the trend and weekdays explain.",
    "series.scatter.chance": "How far they would by chance alone.",
    "series.scatter.p_value": "Of days that differ by chance alone; approximate.",
    "series.scatter.is_rest": "Whether a trend or weekdays were taken off.",
    "waiting.rewards": "0: the rewards of a log do not wait.",
    "waiting.pulls": "Empty.",
}
_PLAIN = {
    "str": "text",
    "Status": "text",
    "Limit": "text",
    "int": "integer",
    "float": "number",
    "bool": "true or false",
}
_PLAIN |= {"Label": "label", "LabelT": "label", "dict[str, Any]": "object"}
_NULLABLE = {"epsilon"}  # in JSON only
_ENTRY = re.compile(r"^(\w[\w, ]*?) : .*$")


def json_table() -> list[str]:
    """Return the lines of a table: key, type and meaning."""
    lines = ["| key | type | what it is |", "|---|---|---|"]
    return lines + [f"| `{key}` | {kind} | {text} |" for key, kind, text in entries()]


def entries() -> Iterator[tuple[str, str, str]]:
    """Yield each key of `bestarm identify --format json`, with its type and meaning; [] are the items of a list."""
    from bestarm.log.result import LogResult

    yield "verdict", "text", _MEANINGS["verdict"]
    yield "about_the_file", "list of text", _MEANINGS["about_the_file"]
    yield "lines", "list of text", _MEANINGS["lines"]
    yield "trusted", "true or false", _MEANINGS["trusted"]
    yield from _of(LogResult, "")
    yield "evidence", "number or null", _MEANINGS["evidence"]
    yield "assumptions", "list of text", _MEANINGS["assumptions"]


def _of(kind: type[Any], prefix: str) -> Iterator[tuple[str, str, str]]:
    told = _told(kind)
    for field in fields(kind):
        key, text = prefix + field.name, told.get(field.name, "")
        shown, below = _shown(str(field.type))
        if key == "waiting":
            shown, below = "object", None
        shown += " or null" * (key in _NULLABLE)
        yield key, shown, _MEANINGS.get(key) or re.sub(r"\bNone\b", "null", text)
        if below is not None:
            yield from _of(below, f"{key}[]." if shown.startswith("list") else f"{key}.")
        if key == "waiting":
            yield "waiting.rewards", "integer", _MEANINGS["waiting.rewards"]
            yield "waiting.pulls", "list", _MEANINGS["waiting.pulls"]


def _told(kind: type[Any]) -> dict[str, str]:
    """Return what docstrings say of each attribute, also of the classes that one is made from."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        _, _, text = inspect.cleandoc(each.__doc__ or "").partition("Attributes\n----------\n")
        names: list[str] = []
        for line in text.partition("\n\n")[0].splitlines():
            entry = _ENTRY.match(line)
            if entry is not None:
                names = [name.strip() for name in entry[1].split(",")]
                found |= dict.fromkeys(names, "")
            for name in names if entry is None else ():
                found[name] = f"{found[name]} {line.strip()}".strip()
    return {name: text.replace("|", "\\|") for name, text in found.items()}


def _shown(annotation: str) -> tuple[str, type[Any] | None]:
    """Return the type in JSON, and the class whose fields are the keys below."""
    if annotation.endswith(" | None"):
        shown, below = _shown(annotation.removesuffix(" | None"))
        return f"{shown} or null", below
    if annotation in _PLAIN:
        return _PLAIN[annotation], None
    if annotation.startswith("dict["):
        return f"object: {_several(_shown(annotation[5:-1].partition(', ')[2])[0])} by arm", None
    if annotation.startswith("tuple["):
        items = annotation[6:-1].removesuffix(", ...")
        if items.startswith("tuple["):
            return "list of pairs", None
        if ", " in items:
            return "list of 2 numbers", None
        shown, below = _shown(items)
        return f"list of {'objects' if below is not None else _several(shown)}", below
    return "object", _class(annotation.partition("[")[0])


def _several(shown: str) -> str:
    return shown if shown == "text" else "2 numbers each" if shown == "list of 2 numbers" else f"{shown}s"


def _class(name: str) -> type[Any]:
    from bestarm.identification.comparison import Comparison, Uplift
    from bestarm.identification.finding import Finding
    from bestarm.identification.result import ArmRow
    from bestarm.identification.robustness import Sensitivity
    from bestarm.identification.waiting import Waiting
    from bestarm.identification.wording.blocks import Within
    from bestarm.identification.wording.metric import Metric
    from bestarm.log.inspection.over_time import Scatter, Trend, Weekdays
    from bestarm.log.rewards import BadRow, Health
    from bestarm.log.series import ArmSeries, Series

    known: list[type[Any]] = [ArmRow, ArmSeries, BadRow, Finding, Health, Metric, Scatter, Sensitivity, Series, Trend]
    return {each.__name__: each for each in [*known, Comparison, Uplift, Waiting, Weekdays, Within]}[name]
