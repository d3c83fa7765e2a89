"""Questions that people ask of an experiment: the command, its answer, and how often usual tests are right instead.

`python -m benchmarks --only questions`. The logs are those of `question_logs.py`. The usual tests get the same rows.
What SciPy does not have (stratified tables, a ratio of sums) is spelled out here with NumPy.
"""

from __future__ import annotations

import json
import math
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, cpu_count, delayed
from scipy import stats

from benchmarks import question_logs as logs
from benchmarks.answers import proportions, welch
from benchmarks.newcomer import Reply, as_process, in_process
from benchmarks.question_logs import Claims, QuestionLog
from benchmarks.report import Goal, Section

SEEDS, FEW_SEEDS = 100, 10
DELTA = 0.05  # of the command, and the level of the usual tests
CAP_MS, CAP_MONEY, CAP_SEEN = 3000, 200, 20
DOUBTED = 4
KINDS = ("right", "part", "wrong", "doubted", "nobody")

PValue = Callable[[pd.DataFrame, pd.DataFrame], float]  # that the arm of the first rows is not the better one
Said = tuple[Claims, bool]  # what is claimed, and whether it can be relied on


@dataclass(frozen=True)
class Command:
    """What is typed after the file.

    Attributes
    ----------
    options : str
        The words.
    is_goal : bool
        Whether a wrong answer is one of ours: not where the command asks for a comparison that does not fit the log.
    """

    options: str = ""
    is_goal: bool = True

    def words(self, file: str) -> str:
        """Return it as it is typed."""
        return f"bestarm identify {shlex.quote(file)} {self.options}".rstrip()


@dataclass(frozen=True)
class Test:
    """A usual test: a name, and what it claims of a log."""

    __test__ = False  # it is not one of pytest's

    name: str
    claims: Callable[[pd.DataFrame], Claims]


@dataclass(frozen=True)
class Question:
    """A question about a log: the commands that ask it, and the usual tests that answer it."""

    log: QuestionLog
    commands: tuple[Command, ...]
    tests: tuple[Test, ...]


# --------------------------------------------------------------------------------------------------------- usual tests


def best_by(arm: str, p_value: PValue, level: float = DELTA) -> Callable[[pd.DataFrame], Claims]:
    """Return the test that names the arm which beats each other one at the level, corrected for their number."""

    def claims(frame: pd.DataFrame) -> Claims:
        parts = {str(label): part for label, part in frame.groupby(arm)}
        return frozenset(one for one in parts if _beats_all(one, parts, p_value, level))

    return claims


def _beats_all(one: str, parts: dict[str, pd.DataFrame], p_value: PValue, level: float) -> bool:
    others = [part for label, part in parts.items() if label != one]
    return all(p_value(parts[one], part) < level / len(others) for part in others)


def of_rows(reward: str, test: Callable[..., float], cap: float = math.inf, *, lower: bool = False) -> PValue:
    """Return a test of two samples, of a column of rewards up to a cap."""

    def p_value(one: pd.DataFrame, two: pd.DataFrame) -> float:
        first, second = (part[reward].to_numpy(float).clip(max=cap) for part in (one, two))
        return test(second, first) if lower else test(first, second)

    return p_value


def of_users(reward: str, how: str) -> PValue:
    """Return Welch's test of one number per user, such as the mean of the user's rewards."""

    def p_value(one: pd.DataFrame, two: pd.DataFrame) -> float:
        first, second = (part.groupby("user_id")[reward].agg(how).to_numpy(float) for part in (one, two))
        return welch(first, second)

    return p_value


def stratified(reward: str, stratum: str) -> PValue:
    """Return the test of Cochran, Mantel and Haenszel of 0/1 rewards, without correction for continuity."""

    def p_value(one: pd.DataFrame, two: pd.DataFrame) -> float:
        tables = [part.groupby(stratum)[reward].agg(["sum", "size"]) for part in (one, two)]
        both = tables[0].add_suffix("_1").join(tables[1].add_suffix("_2"), how="inner").astype(float)
        number = both["size_1"] + both["size_2"]
        hits = both["sum_1"] + both["sum_2"]
        expected = both["size_1"] * hits / number
        spread = both["size_1"] * both["size_2"] * hits * (number - hits) / (number**2 * (number - 1.0))
        total = float(spread.sum())
        return float(stats.norm.sf((both["sum_1"] - expected).sum() / math.sqrt(total))) if total > 0.0 else 1.0

    return p_value


def of_ratios(part: str, whole: str) -> PValue:
    """Return the test of two ratios of sums by the delta method, with users as units."""

    def ratio(frame: pd.DataFrame) -> tuple[float, float]:
        sums = frame.groupby("user_id")[[part, whole]].sum().to_numpy(float)
        found = sums[:, 0].sum() / sums[:, 1].sum()
        rest = sums[:, 0] - found * sums[:, 1]
        return found, float(rest.var(ddof=1)) / len(sums) / float(sums[:, 1].mean()) ** 2

    def p_value(one: pd.DataFrame, two: pd.DataFrame) -> float:
        (high, of_high), (low, of_low) = ratio(one), ratio(two)
        return float(stats.norm.sf((high - low) / math.sqrt(of_high + of_low)))

    return p_value


def of_totals(part: str, whole: str) -> PValue:
    """Return the z-test of two proportions that takes each impression for one by somebody else."""

    def p_value(one: pd.DataFrame, two: pd.DataFrame) -> float:
        (hits, seen), (other_hits, other_seen) = (frame[[part, whole]].sum().to_numpy(float) for frame in (one, two))
        pooled = (hits + other_hits) / (seen + other_seen)
        error = math.sqrt(pooled * (1.0 - pooled) * (1.0 / seen + 1.0 / other_seen))
        return float(stats.norm.sf((hits / seen - other_hits / other_seen) / error))

    return p_value


def above_control(arm: str, reward: str, control: str) -> Callable[[pd.DataFrame], Claims]:
    """Return z-tests against a control, corrected by Bonferroni."""
    p_value = of_rows(reward, proportions)

    def claims(frame: pd.DataFrame) -> Claims:
        parts = {str(label): part for label, part in frame.groupby(arm)}
        old = parts.pop(control)
        return frozenset(label for label, part in parts.items() if p_value(part, old) < DELTA / len(parts))

    return claims


def dunnett(arm: str, reward: str, control: str) -> Callable[[pd.DataFrame], Claims]:
    """Return SciPy's test of Dunnett: all against a control."""

    def claims(frame: pd.DataFrame) -> Claims:
        parts = {str(label): part[reward].to_numpy(float) for label, part in frame.groupby(arm)}
        old = parts.pop(control)
        found = stats.dunnett(*parts.values(), control=old, alternative="greater", random_state=1)
        return frozenset(label for label, p in zip(parts, found.pvalue, strict=True) if p < DELTA)

    return claims


def in_segments(by: str, arm: str, p_value: PValue, *, corrected: bool) -> Callable[[pd.DataFrame], Claims]:
    """Return a test in each segment, corrected for their number or not."""

    def claims(frame: pd.DataFrame) -> Claims:
        parts = {str(label): part for label, part in frame.groupby(by)}
        test = best_by(arm, p_value, DELTA / len(parts) if corrected else DELTA)
        return frozenset(f"{label}: {best}" for label, part in parts.items() for best in test(part))

    return claims


def among(column: str, value: str, test: Callable[[pd.DataFrame], Claims]) -> Callable[[pd.DataFrame], Claims]:
    """Return a test of some rows."""
    return lambda frame: test(frame[frame[column] == value])


QUESTIONS = (
    Question(
        logs.LATE,
        (Command(), Command("--block none", is_goal=False)),
        (
            Test("Cochran-Mantel-Haenszel by day", best_by("plan", stratified("signed_up", "date"))),
            Test("z-test of all days", best_by("plan", of_rows("signed_up", proportions))),
        ),
    ),
    Question(
        logs.SIMPSON,
        (Command("--block country"), Command(is_goal=False)),
        (
            Test("Cochran-Mantel-Haenszel by country", best_by("page", stratified("purchased", "country"))),
            Test("z-test of all countries", best_by("page", of_rows("purchased", proportions))),
        ),
    ),
    Question(logs.SMALL, (Command(),), (Test("z-test", best_by("subject_line", of_rows("opened", proportions))),)),
    Question(
        logs.SMALL_MONEY,
        (Command("--reward donation --bounds 0,100"),),
        (Test("Welch's test", best_by("letter", of_rows("donation", welch))),),
    ),
    Question(
        logs.TIME_OUTS,
        (Command(f"--lower-is-better --cap {CAP_MS}"), Command(f"--lower-is-better --bounds 0,{logs.TIME_OUT}")),
        (
            Test("Welch's test, capped", best_by("server", of_rows("latency_ms", welch, CAP_MS, lower=True))),
            Test("Welch's test", best_by("server", of_rows("latency_ms", welch, lower=True))),
        ),
    ),
    Question(
        logs.REVENUE,
        (Command(f"--cap {CAP_MONEY}"),),
        (
            Test("Welch's test, capped", best_by("checkout", of_rows("revenue", welch, CAP_MONEY))),
            Test("Welch's test", best_by("checkout", of_rows("revenue", welch))),
        ),
    ),
    Question(
        logs.RATIO,
        (Command(f"--reward clicks --per impressions --source user_id --cap {CAP_SEEN}"),),
        (
            Test("delta method, users", best_by("layout", of_ratios("clicks", "impressions"))),
            Test("z-test of impressions", best_by("layout", of_totals("clicks", "impressions"))),
        ),
    ),
    Question(
        logs.PER_USER,
        (Command("--source user_id --per-source mean"), Command("--source user_id --per-source first"), Command()),
        (
            Test("Welch's test of users' means", best_by("model", of_users("liked", "mean"))),
            Test("Welch's test of first rows", best_by("model", of_users("liked", "first"))),
            Test("Welch's test of rows", best_by("model", of_rows("liked", welch))),
        ),
    ),
    Question(
        logs.CONTROL,
        (Command("--control old"),),
        (
            Test("z-tests, Bonferroni", above_control("variant", "converted", "old")),
            Test("Dunnett's test", dunnett("variant", "converted", "old")),
        ),
    ),
    Question(
        logs.ASSIGNED,
        (Command("--assigned --epsilon 0.02"), Command("--epsilon 0.02"), Command("--assigned")),
        (Test("z-test", best_by("button", of_rows("clicked", proportions))),),
    ),
    Question(
        logs.BY_SEGMENT,
        (Command("--by country"),),
        (
            Test(
                "z-tests, Bonferroni",
                in_segments("country", "price_page", of_rows("booked", proportions), corrected=True),
            ),
            Test("z-tests", in_segments("country", "price_page", of_rows("booked", proportions), corrected=False)),
        ),
    ),
    Question(
        logs.IN_JAPAN,
        (Command("--where \"country = 'JP'\""),),
        (
            Test("z-test of these", among("country", "JP", best_by("price_page", of_rows("booked", proportions)))),
            Test("z-test of all rows", best_by("price_page", of_rows("booked", proportions))),
        ),
    ),
)


# ------------------------------------------------------------------------------------------------------------- answers


def worth(claims: Claims, truth: Claims) -> str:
    """Return what claims are worth: "part" if all are true, and not all that is true is claimed.

    >>> worth(frozenset("a"), frozenset("ab")), worth(frozenset("ac"), frozenset("ab"))
    ('part', 'wrong')
    """
    if not claims:
        return "nobody"
    if not claims <= truth:
        return "wrong"
    return "right" if claims == truth else "part"


def claimed(reply: Reply) -> Said:
    """Return what a command that printed JSON claims, and whether its exit code says that it can be relied on."""
    if reply.code not in (0, 3, DOUBTED):
        raise ValueError(f"the command ended with {reply.code}: {reply.err or reply.out}")
    found = json.loads(reply.out)
    return frozenset(_claims(found)), reply.code != DOUBTED


def _claims(found: dict[str, Any]) -> Iterator[str]:
    if "segments" in found:
        for segment in found["segments"]:
            yield from (f"{segment['segment']}: {claim}" for claim in _claims(segment))
    elif found["control"] is not None:
        yield from (str(each["label"]) for each in found["comparisons"] if each["better"])
    elif found["best"] is not None:
        yield str(found["best"])


def outcomes(question: Question, seed: int, *, tie: bool = False) -> dict[str, str]:
    """Return what each command and each test of a question is worth on the log of a seed."""
    frame = question.log.draw(seed, tie=tie)
    truth: Claims = frozenset() if tie else question.log.truth
    found = {test.name: worth(test.claims(frame), truth) for test in question.tests}
    with tempfile.TemporaryDirectory(prefix="bestarm-questions-") as name:
        folder = Path(name)
        question.log.write(frame, folder)
        for command in question.commands:
            words = command.words(question.log.file)
            claims, relied_on = claimed(in_process([*shlex.split(words), "--format", "json"], folder))
            found[words] = worth(claims, truth) if relied_on else "doubted"
    return found


def counted(question: Question, seeds: Iterable[int], *, tie: bool = False) -> dict[str, Counter[str]]:
    """Return how often each outcome is seen in some seeds, for each command and test of a question."""
    jobs = (delayed(outcomes)(question, seed, tie=tie) for seed in seeds)
    each = Parallel(n_jobs=cpu_count())(jobs)
    return {name: Counter(found[name] for found in each) for name in each[0]}


# ---------------------------------------------------------------------------------------------------------- the tables

HEADER = (
    *("question", "command", "seeds", "right", "part", "wrong, exit 0", "doubted", "nobody", "named at a tie"),
    *("usual test", "right", "part", "wrong", "named at a tie"),
)


def measure(quick: bool) -> Section:
    """Ask each question once in words, then count right and wrong answers in many seeds."""
    section = Section("Questions beside usual tests")
    seeds = FEW_SEEDS if quick else SEEDS
    section.notes.append(
        f"Logs of known truth, {seeds} seeds each. Right: all that is true is claimed, with exit code 0. Part: some "
        "of it, and nothing else; a control and segments may have several answers. Wrong: something is claimed that "
        "is not true. Named at a tie: the same log, but no arm differs from another; how often something is claimed "
        "with exit code 0."
    )
    section.notes.append(
        "All tests are one-sided at 5 %, as bestarm is, and corrected for the number of comparisons, but for `z-tests` "
        "of segments. So of two equal arms either may be named, each in 5 of 100 logs. An asterisk marks a command "
        "that pools days or countries with different shares of the arms: like a pooled test it answers about another "
        "mean, and it has no goal."
    )
    section.notes.append(_conversations())
    rows: list[tuple[str, ...]] = []
    goals: list[Goal] = []
    worst, named = 0.0, []
    for question in QUESTIONS:
        found, ties = (counted(question, range(seeds), tie=tie) for tie in (False, True))
        rows.extend(_rows(question, found, ties, seeds))
        for command in question.commands:
            words = command.words(question.log.file)
            if command.is_goal:
                worst = max(worst, found[words]["wrong"] / seeds)
                named.append(ties[words]["wrong"] / seeds)
    goals.append(Goal("a wrong answer with exit code 0, the worst of all questions", worst, DELTA))
    goals.append(Goal("named at a tie with exit code 0, the mean of all questions", float(np.mean(named)), DELTA))
    section.tables.append((HEADER, rows))
    section.goals.extend([] if quick else goals)
    return section


def _rows(
    question: Question, found: dict[str, Counter[str]], ties: dict[str, Counter[str]], seeds: int
) -> Iterator[tuple[str, ...]]:
    """Yield a row for each command of a question with a test beside it, as long as there are any."""
    for index, (command, test) in enumerate(zip_longest(question.commands, question.tests)):
        ours, theirs = [""] * 8, [""] * 5
        if command is not None:
            words = command.words(question.log.file)
            shown = command.options or "(no option)"
            numbers = [found[words][kind] for kind in KINDS] + [ties[words]["wrong"]]
            ours = [f"`{shown}`" + ("" if command.is_goal else " *"), str(seeds), *map(str, numbers)]
        if test is not None:
            numbers = [found[test.name][kind] for kind in KINDS[:3]] + [ties[test.name]["wrong"]]
            theirs = [test.name, *map(str, numbers)]
        yield (question.log.name if index == 0 else "", *ours, *theirs)


def _conversations() -> str:
    """Return what is typed and answered about the log of the first seed, question by question, as a block of text."""
    parts = []
    with tempfile.TemporaryDirectory(prefix="bestarm-questions-") as name:
        folder = Path(name)
        for question in QUESTIONS:
            question.log.write(question.log.draw(0), folder)
            parts.append(f"# {question.log.name}")
            for command in question.commands:
                words = command.words(question.log.file)
                reply = as_process(shlex.split(words), folder)
                parts.append(f"$ {words}\n{first_lines(reply.out)}\n(exit code {reply.code})")
    return "```text\n" + "\n\n".join(parts) + "\n```"


def first_lines(text: str) -> str:
    """Return the lines of a verdict, without its table; for segments those of each.

    >>> first_lines("A is best.\\nIt stands.\\n\\narm  mean\\n---  ----\\nA    1\\n\\n--explain prints more.")
    'A is best.\\nIt stands.'
    >>> first_lines("2 segments.\\n\\n== x = 1 ==\\nA is best.\\n\\narm  mean\\n\\n== x = 2 ==\\nNobody.")
    '2 segments.\\n== x = 1 ==\\nA is best.\\n== x = 2 ==\\nNobody.'
    """
    paragraphs = text.strip().split("\n\n")
    return "\n".join(part for index, part in enumerate(paragraphs) if index == 0 or part.startswith("== "))
