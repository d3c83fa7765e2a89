"""Step 4 of reading a log: the rewards of each arm, counted, and what was wrong with the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError, UnclearError
from bestarm.identification.wording.metric import Metric
from bestarm.log.reading.bad_rows import BAD, examples, refuse_first, refuse_open_quotes
from bestarm.log.reading.by_source import BECOMES, OF, refuse_bad_shares, refuse_more_than_all
from bestarm.log.reading.rows import FEW, OpenLog
from bestarm.log.rewards import Health, Rewards, SourceTable
from bestarm.phrases import Call, Setting, first_argument

FEW_ARMS = "have at least two arms"
_CHUNK = 256  # vectors of rows fetched at a time, some 500,000 rows


def count_rewards(log: OpenLog) -> Rewards:
    """Return the rewards of each arm, or refuse the log for what is wrong with it."""
    states = log.database.ask("all_states")  # state, arm, rows, rewards, trimmed
    rows_in, rewards_in, missing, outside = _by_state(states)
    torn = log.torn_rows()
    per_row = max(len(log.columns.arms), len(log.columns.values), 2 if log.columns.visits else 1)
    rows = sum(rows_in.values()) // per_row + len(torn)
    if not rows and not log.among.is_all:
        raise InputError("where", "be true for some rows", log.among.how, "compare it with what is in the file")
    if not rows:
        raise InputError(log.title, "have rows", "a header alone", "was it written to the end?")
    bad = sum(rows_in[state] for state in BAD) // (2 if log.columns.visits else 1) + len(torn)
    refuse_open_quotes(torn)
    if bad and (log.spec.on_bad_row == "refuse" or not (rewards_in or missing)):
        refuse_first(log, torn, bad, rows)
    _check_arms(log, rewards_in, missing, outside)
    labels = sorted(rewards_in, key=_label_key(rewards_in))
    first_bad = examples(log, torn) if bad else ()
    log.database.ask("arms", labels, len(labels))
    values, counts = _values(log, [rewards_in[label] for label in labels])
    sources, repeated = (
        _sources(log, rewards_in.total()) if log.columns.source is not None else (None, _repeated_rows(log))
    )
    left_out, named = log.number_left_out()
    if log.unknown_names(named) and not named:
        fix = f"none of them is in {log.watched.who!r}"
        raise InputError("without", "name sources of the log", list(log.left_out.sources[:3]), fix)
    health = Health(
        rows=rows,
        used=sum(rewards_in.values()),
        missing=sum(missing.values()),
        missing_as=log.spec.missing,
        bad_rows=bad,
        bad_examples=first_bad,
        blank_arms=rows_in["no arm"],
        outside=rows_in["outside"],
        trimmed=sum(trimmed for state, *_, trimmed in states if state == "ok"),
        seen_once=tuple(label for label in labels if rewards_in[label] == 1),
        repeated=repeated,
        guesses=(*_guesses(log, labels), *_not_found(log, named)),
        files=tuple(file.name for file in log.files),
        layout=log.columns.layout,
        arm=log.columns.arm or "",
        reward=log.columns.reward or log.columns.successes or "",
        where=log.among.condition,
        left_out=left_out // per_row,
        left_out_how=log.left_out.how(named, Metric(source=log.watched.who or "").source_word),
        left_out_by_rewards=log.left_out.by_rewards,
        **log.counted_where,
        per_source="sum" if log.columns.per is not None else log.spec.per_source or "",
    )
    replaced = outside + missing if log.spec.missing == "replaced" else outside
    lost = np.array([replaced[each] for each in labels], np.int64)
    return Rewards(tuple(labels), values, counts, health, sources, lost, log.columns)


def _by_state(states: Sequence[tuple[Any, ...]]) -> tuple[Counter[str], Counter[str], Counter[str], Counter[str]]:
    """Return how many rows are in each state; and by arm the rewards, missing rows and rows out of bounds."""
    rows_in: Counter[str] = Counter()
    by_arm: dict[str, Counter[str]] = {"ok": Counter(), "missing": Counter(), "outside": Counter()}
    for state, name, rows, rewards, _ in states:
        rows_in[state] += rows
        if state in by_arm:
            by_arm[state][name] += rewards if state == "ok" else rows
    return rows_in, +by_arm["ok"], by_arm["missing"], by_arm["outside"]


def _check_arms(log: OpenLog, rewards_in: Counter[str], missing: Counter[str], outside: Counter[str]) -> None:
    lost, total = missing.total(), missing.total() + rewards_in.total()
    if lost and log.spec.missing == "refuse":
        question = f"Rewards are missing: {lost:,} of {total:,} ({100.0 * lost / total:.3g} %)."
        question += " Most are: if an empty cell means 0, write 0 there." if 2 * lost > total else ""
        data = first_argument([file.name for file in log.files])
        raise UnclearError(
            "missing",
            question,
            [
                ("if why they are missing has nothing to do with what they were", _as_missing("drop", data)),
                ("if somebody may have removed them; each then counts as a fake", _as_missing("replaced", data)),
            ],
        )
    for label in sorted({*missing, *outside} - {*rewards_in}):
        rest = f"leave out its rows ({missing[label] + outside[label]:,}, each without a reward that can be used)"
        raise InputError(f"the arm {label!r}", "have at least one reward", 0, rest)
    if len(rewards_in) < 2:
        few = sorted(rewards_in)
        where = f" where {log.among.how}" if log.among.how else ""
        raise InputError(f"{log.title}{where}", FEW_ARMS, few, "among fewer there is nothing to identify")


def _as_missing(value: str, data: str) -> Call:
    return Call((Setting("missing", value),), data)


def _label_key(labels: Any) -> Callable[[str], Any]:
    if all(label.removeprefix("-").isdecimal() and len(label) < 4000 for label in labels):
        return lambda label: (int(label), label)
    return lambda label: label


def _values(
    log: OpenLog, numbers: Sequence[int]
) -> tuple[tuple[NDArray[np.float64], ...], tuple[NDArray[np.int64], ...] | None]:
    """Return the rewards of each arm: one by one, or the different ones and how often each occurs."""
    if not log.is_few:
        result = log.database.start("all_values")
        flat, done = np.empty(sum(numbers)), 0
        while part := len(chunk := result.fetch_df_chunk(_CHUNK)):
            flat[done : done + part] = chunk["value"].to_numpy()
            done += part
        return tuple(np.split(flat, np.cumsum(numbers)[:-1])), None
    table = log.database.run("counted_values")
    cuts = np.searchsorted(table["arm_index"], np.arange(1, len(numbers)))
    values = tuple(np.split(table["value"].astype(np.float64), cuts))
    counts = tuple(np.split(table["count"].astype(np.int64), cuts))
    different = np.unique(table["value"]).size
    if log.is_counted or (different <= FEW and sum(numbers) >= 2 * different):
        return values, counts
    return tuple(np.repeat(each, often) for each, often in zip(values, counts, strict=True)), None


def _sources(log: OpenLog, rewards: int) -> tuple[SourceTable, int]:
    """Return the first reward of each source for each arm, and how many of all rewards came after it."""
    log.number_rows()
    per, what = log.columns.per, log.spec.per_source
    log.database.run(
        "ordered_few" if log.is_few else "ordered_many", cell="NULL::VARCHAR" if per is None else "share_of"
    )
    if per is not None:
        refuse_bad_shares(log)
    sums = {"value": BECOMES["sum"], "share_of": OF}
    log.database.run("firsts", **(sums if per is not None else {"value": BECOMES[what or "first"], "share_of": "NULL"}))
    if per is not None:
        refuse_more_than_all(log)
    table = log.database.run("first_rewards")
    arm, source = table["arm"].astype(np.int32), table["source"].astype(np.int32)
    names = log.database.texts("source_names")
    of = None if per is None else table["share_of"].astype(np.float64)
    return SourceTable(arm, source, table["value"].astype(np.float64), len(names), names, of, what), rewards - arm.size


def _repeated_rows(log: OpenLog) -> int:
    """Return how many rows of a counted log are about an arm, and a reward, that had one before."""
    if log.columns.layout != "counted":
        return 0
    if log.columns.values or log.columns.visits:
        ((repeated,),) = log.database.ask("repeated_arms", columns=len(log.columns.values) or 2, times=log.times)
    else:
        ((repeated,),) = log.database.ask("repeated_rewards", times=log.times)
    return int(repeated)


def _not_found(log: OpenLog, named: int) -> Iterator[str]:
    """Say that some of the sources to leave out are not in the log."""
    unknown = log.unknown_names(named)
    if unknown:
        all_ = len(log.left_out.sources)
        yield f"Of the {all_:,} names to leave out, {unknown:,} {'is' if unknown == 1 else 'are'} not in the log."


def _guesses(log: OpenLog, labels: Sequence[str]) -> Iterator[str]:
    """Say what was guessed about the log."""
    yield from log.columns.guesses
    for file in log.files:
        yield from file.notes
    ((comma,),) = log.database.ask("first_comma")
    if comma is not None:
        yield f"Rewards such as {comma.strip()!r} were read with a decimal comma."
    ((yes, no),) = log.database.ask("first_words")
    if yes is not None or no is not None:
        said = [f"{word!r} was read as {value}" for word, value in ((yes, 1), (no, 0)) if word is not None]
        yield f"The reward {' and '.join(said)}."
    torn = [label for label in labels if "\n" in label]
    if torn:
        lines = max(label.count("\n") for label in torn) + 1
        yield f"The name of an arm has {lines:,} lines (it begins {torn[0][:30]!r}): is a quote not closed there?"
