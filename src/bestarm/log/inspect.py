"""Inspect a log before any test: what is in it, which sigma or bounds it supports, and what looks wrong.

It suggests, with reasons; nothing is left out. The checks are in `bestarm.log.inspection`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.identification.finding import Finding
from bestarm.identification.wording.text import in_cell
from bestarm.log.inspection import inspect_open
from bestarm.log.reading import Progress, count_rewards, open_log, refuse_in_database
from bestarm.log.rewards import Health, Rewards
from bestarm.log.spec import LogSpec
from bestarm.problem import Label

_SHOWN = 10
_RARE = 1e-3  # a value far from all others may be a mistake if at most this share of the rewards has it
_NORMAL_IQR = 1.349  # interquartile range of a normal law, in standard deviations
_NORMAL_MAD = 0.6745


@dataclass(frozen=True)
class Spread:
    """How the rewards of an arm are spread: number, mean, median, extremes, and a robust sigma."""

    arm: Label
    number: int
    mean: float
    median: float
    lowest: float
    highest: float
    sigma: float  # of a normal law with the same quartiles or median absolute deviation, the larger one


@dataclass(frozen=True)
class Suspicion:
    """A finding as the version before said it.

    Attributes
    ----------
    kind : str
        The kind of finding.
    what : tuple of str
        The arms or sources.
    rewards : int
        How many rewards are in doubt, 0 where there is no count, and `share`: of all.
    p_value : float or None
        An upper bound of the probability of such a find in a clean log, over everything that was tested.
    sentence : str
        The same in words.
    """

    kind: str
    what: tuple[str, ...]
    rewards: int
    share: float
    p_value: float | None
    sentence: str


@dataclass(frozen=True)
class Inspection:
    """What is in a log, and what looks wrong; `str()` is a page, `to_dict()` is for JSON."""

    arms: tuple[Spread, ...]
    total: int
    lowest: float
    highest: float
    different: int | None
    sources: int | None
    supports: tuple[str, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    health: Health

    @property
    def suspicions(self) -> tuple[Suspicion, ...]:
        """The findings under the name of the version before."""
        return tuple(
            Suspicion(each.kind, each.what, each.rows or 0, each.share or 0.0, each.p_value, each.details)
            for each in self.findings
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts and lists."""
        health = asdict(self.health) | {"sentences": self.health.sentences()}
        return asdict(self) | {"suspicions": [asdict(each) for each in self.suspicions], "health": health}

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Return what was found as lines to print; a line that begins with a dash is a sentence."""
        shown = sorted(self.arms, key=lambda arm: -arm.mean)[:_SHOWN]
        width = min(max(3, *(len(str(arm.arm)) for arm in shown)), 50)
        lines = [f"{len(self.arms):,} arms, {self.total:,} rewards from {self.lowest:g} to {self.highest:g}."]
        if self.sources is not None:
            lines.append(f"{self.sources:,} sources.")
        lines += ["", f"{'arm':<{width}}  {'rewards':>10}  {'mean':>9}  {'median':>9}  {'spread':>9}"]
        for arm in shown:
            cells = f"{arm.number:>10,}  {arm.mean:>9.4g}  {arm.median:>9.4g}  {arm.sigma:>9.3g}"
            lines.append(f"{in_cell(arm.arm, width):<{width}}  {cells}")
        if len(self.arms) > len(shown):
            lines.append(f"... and {len(self.arms) - len(shown):,} more with lower means")
        lines += ["", "What it supports", *(f"- {sentence}" for sentence in self.supports), "", "What looks wrong"]
        lines += [f"- {each.details}" for each in self.findings] or ["- None of the things these checks look for."]
        lines += [f"- {note}" for note in self.notes]
        return [*lines, "", "The file", *("- " + sentence for sentence in self.health.sentences())]


def inspect_log(
    data: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    source: str | bool | None = None,
    time: str | bool | None = None,
    wide: bool | Sequence[str] = False,
    counted: bool | str | Mapping[str, float] | None = None,
    successes: str | None = None,
    visits: str | None = None,
    missing: str = "drop",
    on_bad_row: str = "skip",
    bounds: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Inspect a log; the parameters are those of `read_log`, but bad rows and missing rewards are counted, not refused.

    The columns of sources and of time are guessed by their names unless source=False, time=False. The command is
    `bestarm inspect`.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"caption": ["A", "B"] * 50, "stars": [1, 5, 2, 4, 3] * 20})
    >>> found = inspect_log(votes)
    >>> found.total, found.lowest, found.highest, found.findings
    (100, 1.0, 5.0, ())
    >>> found.supports[0]
    'bounds = (1, 5), if no other reward is possible; they assume nothing about shape, so prefer them to sigma.'
    """
    spec = LogSpec(
        arm,
        reward,
        source,
        time,
        wide,
        counted,
        missing,
        on_bad_row,
        bounds,
        inspect=True,
        successes=successes,
        visits=visits,
    )
    fix = "ask identify_log, which lets the database count them, or inspect a file of the columns in use"
    refuse_in_database(data, "inspect_log", "it looks at single rows", fix)
    with open_log(data, spec, progress) as log:
        rewards = count_rewards(log)
        found = inspect_open(log, rewards)
    spreads = tuple(_spread(rewards, index) for index in range(len(rewards.labels)))
    different = None if rewards.counts is None else int(np.unique(np.concatenate(rewards.values)).size)
    return Inspection(
        arms=spreads,
        total=rewards.total,
        lowest=rewards.lowest,
        highest=rewards.highest,
        different=different,
        sources=found.sources,
        supports=_supports(rewards, spreads, different),
        findings=found.findings,
        notes=found.notes,
        health=rewards.health,
    )


def _spread(rewards: Rewards, index: int) -> Spread:
    values = rewards.values[index]
    counts = np.ones(values.size, np.int64) if rewards.counts is None else rewards.counts[index]
    number = int(counts.sum())
    low, median, high = (_quantile(values, counts, share) for share in (0.25, 0.5, 0.75))
    distance = np.abs(values - median)
    order = np.argsort(distance, kind="stable")
    deviation = _quantile(distance[order], counts[order], 0.5)
    sigma = max((high - low) / _NORMAL_IQR, deviation / _NORMAL_MAD)
    mean = float(np.average(values, weights=counts))
    return Spread(rewards.labels[index], number, mean, median, float(values[0]), float(values[-1]), sigma)


def _quantile(values: NDArray[np.float64], counts: NDArray[np.int64], share: float) -> float:
    cumulated = np.cumsum(counts)
    return float(values[np.searchsorted(cumulated, share * cumulated[-1])])


def _supports(rewards: Rewards, spreads: tuple[Spread, ...], different: int | None) -> tuple[str, ...]:
    low, high = rewards.lowest, rewards.highest
    if low == high:
        return (f"All rewards are {low:g}: there is nothing to tell the arms apart by.",)
    said = []
    if different is not None and different <= 20:
        said.append(
            f"bounds = ({low:g}, {high:g}), if no other reward is possible; they assume nothing about shape, so "
            "prefer them to sigma."
        )
        said += _far_out(rewards)
        said.append(f"sigma = {0.5 * (high - low):g} is what these bounds imply, whatever the shape.")
        return tuple(said)
    enough = [arm for arm in spreads if arm.number >= 20 and arm.sigma > 0.0]
    if enough:
        widest = max(enough, key=lambda arm: arm.sigma)
        middle = float(np.median([arm.sigma for arm in enough]))
        far = sum(
            int(np.count_nonzero(np.abs(rewards.all_of(index) - arm.median) > 4.0 * widest.sigma))
            for index, arm in enumerate(spreads)
        )
        said.append(
            f"sigma = {widest.sigma:.3g} if clean rewards are of normal shape: the widest arm, {widest.arm!r}, by its "
            f"quartiles; the median arm has {middle:.3g}. An estimate from the rewards themselves is not a guarantee."
        )
        if far > max(1e-4 * rewards.total, 3.0):
            said.append(
                f"But {_share(far, rewards.total)} are more than 4 such sigmas from the median of their arm, where a "
                "normal law has 0.006 %: either they are contamination, or the shape is not normal and sigma is larger."
            )
    said.append(
        f"bounds = ({low:g}, {high:g}) only if rewards outside are impossible: these are just the extremes seen."
    )
    return tuple(said)


def _far_out(rewards: Rewards) -> list[str]:
    """Report a few rewards that are far from all others, like typing errors, and the bounds without them."""
    assert rewards.counts is not None
    values, which = np.unique(np.concatenate(rewards.values), return_inverse=True)
    counts = np.bincount(which, weights=np.concatenate(rewards.counts)).astype(np.int64)
    first, last = 0, values.size - 1
    rare, gap = counts <= _RARE * rewards.total, np.diff(values)
    while last - first > 1 and rare[last] and gap[last - 1] > values[last - 1] - values[first]:
        last -= 1
    while last - first > 1 and rare[first] and gap[first] > values[last] - values[first + 1]:
        first += 1
    out = [*range(first), *range(last + 1, values.size)]
    if not out:
        return []
    number = int(counts[out].sum())
    shown = ", ".join(f"{values[index]:g}" for index in out[:3])
    return [
        f"But {_share(number, rewards.total)} {'is' if number == 1 else 'are'} far from all others ({shown}): if that "
        f"is a mistake, correct it and use bounds = ({values[first]:g}, {values[last]:g})."
    ]


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} rewards ({100.0 * count / total:.2g} %)"
