"""Fifteen logs of known truth: what a newcomer types, what is answered, and how often that is wrong in a hundred seeds.

`python -m benchmarks --only fifteen`. The logs are those of `known_logs.py`.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from joblib import Parallel, cpu_count, delayed

from benchmarks.known_logs import LOGS, KnownLog, Outcome
from benchmarks.newcomer import Answer, as_process, ask
from benchmarks.report import Goal, Section, significant

SEEDS, FEW_SEEDS = 100, 10
DELTA = 0.05  # the chance of a wrong answer that the command promises by default
JSON = ("--format", "json")


def measure(quick: bool) -> Section:
    """Ask about each log once as a newcomer does, then about many seeds of it."""
    section = Section("Fifteen logs of known truth")
    seeds = FEW_SEEDS if quick else SEEDS
    section.notes.append(
        "The bare command is typed first; where it asks, the command that it prints is pasted. Seconds are those of "
        "the last command, from its start to its end."
    )
    asked = [(log, *_once(log, log.few if quick else log.rows)) for log in LOGS]
    section.notes.append(_conversations([(log, answer) for log, answer, _ in asked]))
    section.notes.append(
        f"The second table: {seeds} seeds of each log, with fewer rows; how often the right arm is named with exit "
        "code 0, a wrong one with exit code 0, any with exit code 4, nobody (3), and how often the command only asks "
        "(2). Last, the same log without its fault: how often an arm is named and doubted (4)."
    )
    section.tables.append((("log", "rows", "commands", "truth", "exit code", "seconds", "outcome"), _first(asked)))
    found = {log.name: outcomes(log, seeds) for log in LOGS}
    twins = {log.name: outcomes(log, seeds, honest=True) if log.fault else found[log.name] for log in LOGS}
    header = ("log", "rows", "right", "wrong, exit 0", "doubted", "nobody", "asks", "doubted without its fault")
    section.tables.append((header, [_counted(log, found[log.name], twins[log.name]) for log in LOGS]))
    if not quick:
        worst = max(found[log.name]["wrong"] for log in LOGS)
        doubted = sum(twins[log.name]["doubted"] for log in LOGS) / (seeds * len(LOGS))
        section.goals.append(Goal("a wrong arm with exit code 0, the worst log of fifteen", worst / seeds, DELTA))
        section.goals.append(Goal("honest logs doubted, of all fifteen kinds", doubted, 0.01))
    return section


def outcomes(log: KnownLog, seeds: int, *, honest: bool = False) -> Counter[Outcome]:
    """Return how often each outcome is seen in some seeds of a log, drawn with few rows."""
    jobs = (delayed(outcome)(log, seed, honest=honest) for seed in range(seeds))
    return Counter(Parallel(n_jobs=cpu_count())(jobs))


def outcome(log: KnownLog, seed: int, *, honest: bool = False) -> Outcome:
    """Return the outcome of one seed of a log, drawn with few rows."""
    with tempfile.TemporaryDirectory(prefix="bestarm-fifteen-") as folder:
        answer = ask(log.write(Path(folder), seed, log.few, honest=honest), log.wants, options=JSON)
    return log.outcome(answer.reply.code, answer.best)


def _once(log: KnownLog, rows: int) -> tuple[Answer, Outcome]:
    """Return what a process answers about the log of the first seed, and what that is worth."""
    with tempfile.TemporaryDirectory(prefix="bestarm-fifteen-") as folder:
        path = log.write(Path(folder), 0, rows)
        answer = ask(path, log.wants, as_process)
        best = ask(path, log.wants, options=JSON).best
    return answer, log.outcome(answer.reply.code, best)


def _first(asked: list[tuple[KnownLog, Answer, Outcome]]) -> list[tuple[str, ...]]:
    return [
        (
            log.name,
            f"{log.rows:,}",
            str(len(answer.commands)),
            log.best,
            str(answer.reply.code),
            significant(answer.reply.seconds),
            found,
        )
        for log, answer, found in asked
    ]


def _conversations(asked: list[tuple[KnownLog, Answer]]) -> str:
    """Return what was typed and answered, log by log, as a block of text."""
    parts = []
    for log, answer in asked:
        title = f"# {log.name}" + (f": {log.fault}" if log.fault else "")
        parts.append("\n".join([title, *(f"$ {command}" for command in answer.commands), answer.lines]))
    return "```text\n" + "\n\n".join(parts) + "\n```"


def _counted(log: KnownLog, found: Counter[Outcome], twin: Counter[Outcome]) -> tuple[str, ...]:
    kinds: tuple[Outcome, ...] = ("right", "wrong", "doubted", "nobody", "asks")
    return (log.name, f"{log.few:,}", *(str(found[kind]) for kind in kinds), str(twin["doubted"]))
