"""Inspect a log before any test: what is in it, which sigma or bounds it supports, and what looks wrong.

It suggests, with reasons; nothing is left out. Each test points at something in at most a share `shapes.RATE` of clean
logs, by Bonferroni over all that it looks at.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.identification.wording.text import counted, in_cell
from bestarm.log.reading import OpenLog, Progress, count_rewards, open_log
from bestarm.log.rewards import Health, Rewards
from bestarm.log.shapes import RATE, robust_scatter, shapes
from bestarm.log.spec import LogSpec
from bestarm.problem import Label

_BLOCKS = 512  # bursts are searched for in 512 stretches of the log, then in 128, 32 and 8 longer ones
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
    """Something that looks wrong, and what it would mean as an epsilon.

    Attributes
    ----------
    kind : str
        "histogram", "busy sources", "devoted sources", "burst" or "duplicates".
    what : tuple of str
        The arms or sources.
    rewards : int
        How many rewards are in doubt, and `share`: of all.
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
    suspicions: tuple[Suspicion, ...]
    notes: tuple[str, ...]
    health: Health

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts and lists."""
        return asdict(self) | {"health": asdict(self.health) | {"sentences": self.health.sentences()}}

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
        lines += [f"- {each.sentence}" for each in self.suspicions] or ["- None of the things these checks look for."]
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
    missing: str = "drop",
    on_bad_row: str = "skip",
    bounds: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Inspection:
    """Inspect a log; the parameters are those of `read_log`, but bad rows and missing rewards are counted, not refused.

    The column of sources is guessed by its name unless source=False. The command is `bestarm inspect`.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"caption": ["A", "B"] * 50, "stars": [1, 5, 2, 4, 3] * 20})
    >>> found = inspect_log(votes)
    >>> found.total, found.lowest, found.highest, found.suspicions
    (100, 1.0, 5.0, ())
    >>> found.supports[0]
    'bounds = (1, 5), if no other reward is possible; they assume nothing about shape, so prefer them to sigma.'
    """
    who = True if source is None else source
    spec = LogSpec(arm, reward, who, time, wide, counted, missing, on_bad_row, bounds, needs_time=True)
    with open_log(data, spec, progress) as log:
        rewards = count_rewards(log)
        suspicions, notes = _histograms(rewards)
        if rewards.sources is not None:
            found, more = _sources(log, rewards)
            suspicions, notes = [*suspicions, *found], [*notes, *more]
        if log.columns.time is not None:
            suspicions += _bursts(log, rewards)
        suspicions += _duplicates(log, rewards)
    spreads = tuple(_spread(rewards, index) for index in range(len(rewards.labels)))
    different = None if rewards.counts is None else int(np.unique(np.concatenate(rewards.values)).size)
    return Inspection(
        arms=spreads,
        total=rewards.total,
        lowest=rewards.lowest,
        highest=rewards.highest,
        different=different,
        sources=None if rewards.sources is None else rewards.sources.number,
        supports=_supports(rewards, spreads, different),
        suspicions=tuple(suspicions),
        notes=tuple(notes),
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


# ----------------------------------------------------------------------------------------------------- what looks wrong


def _histograms(rewards: Rewards) -> tuple[list[Suspicion], list[str]]:
    found = shapes(rewards)
    if found is None:
        return [], []
    suspicions = []
    for index in found.strange.tolist():
        number = int(found.numbers[index])
        # To make an arm win one gives it the highest reward, to make it lose the lowest.
        extreme = -1 if rewards.means[index] >= np.median(rewards.means) else 0
        least, stuffed = found.misfits(index), found.stuffed(index, extreme % len(found.cells))
        count = max(least, stuffed)
        gap = found.observed[index] - found.predicted[index]
        worst = int(np.argmax(np.abs(gap)))
        seen, due = 100.0 * found.observed[index, worst], 100.0 * found.predicted[index, worst]
        p_value = min(float(found.p_values[index]) * int(found.judged.sum()), 1.0)
        label = str(rewards.labels[index])
        sentence = (
            f"The rewards of {label!r} are distributed unlike those of all other arms: {seen:.3g} % of {number:,} are "
            f"{found.cells[worst]}, where other arms with such a mean have {due:.3g} %. At least {least:,} do not fit; "
            f"if every fake one is {found.cells[extreme]}, about {count:,} are fake: "
            f"{100.0 * count / number:.3g} % of this arm's rewards and {100.0 * count / rewards.total:.3g} % of all."
        )
        suspicions.append(Suspicion("histogram", (label,), count, count / rewards.total, p_value, sentence))
    left = len(rewards.labels) - int(found.judged.sum())
    return suspicions, [f"{left:,} arms have too few rewards for their histograms to be judged."] if left else []


def _sources(log: OpenLog, rewards: Rewards) -> tuple[list[Suspicion], list[str]]:
    """Return sources with improbably many rewards, and those devoted to one arm."""
    rows = log.database.run("rewards_by_source")
    indices, times = rows["arm_index"], rows["times"]
    names, which = np.unique(rows["who"].astype(str), return_inverse=True)
    number = np.bincount(which, weights=times.astype(np.float64)).astype(np.float64)
    busy = np.flatnonzero(number > _most_rewards(number))
    order = np.lexsort((-times, which))
    first = order[np.searchsorted(which[order], np.arange(names.size))]
    favourite, most = indices[first], times[first]  # the arm that each source rewarded most often, and how often
    # Each source counts once per arm, so that sources that repeat themselves do not change the arms' shares.
    shares = np.bincount(indices, minlength=len(rewards.labels)) / indices.size
    p_values = stats.binom.sf(most - 1, number, shares[favourite]) * len(rewards.labels)
    eligible = number >= 2
    devoted = np.flatnonzero(eligible & (p_values * names.size <= RATE))
    suspicions, notes = [], []
    if busy.size:
        told = f"have far more rewards than others ({int(number[busy].min()):,} or more, where half have at most "
        told += f"{int(np.median(number)):,})"
        suspicions.append(_about_sources("busy sources", told, names, number, busy, rewards))
    if 2 * devoted.size > np.count_nonzero(eligible):
        notes.append("Most sources keep to one arm, so that seems to be how arms were given to them.")
    elif devoted.size:
        arms, often = np.unique(favourite[devoted], return_counts=True)
        favoured = str(rewards.labels[int(arms[np.argmax(often)])])
        told = "give nearly all their rewards to a single arm, "
        told += f"{favoured!r}" if arms.size == 1 else f"most of them to {favoured!r}"
        suspicions.append(_about_sources("devoted sources", told, names, number, devoted, rewards))
    both = np.union1d(busy, devoted) if len(suspicions) == 2 else np.empty(0, np.int64)
    if both.size:
        count = int(number[both].sum())
        notes.append(
            f"Together these are {both.size:,} sources: epsilon = {both.size / names.size:.2g} of the sources, or "
            f"{count / rewards.total:.2g} of the rewards."
        )
    return suspicions, notes


def _most_rewards(number: NDArray[np.float64]) -> float:
    """Return the largest plausible number of rewards of a source: a quantile of a log-normal law fitted by quartiles.

    Activity of users is skewed; on the logarithmic scale it is about normal. Its spread is at least that of Poisson
    counts. Quartiles are moved little by a tenth of the sources being fake.
    """
    low, middle, high = np.quantile(number, [0.25, 0.5, 0.75])
    spread = max(np.log(high / middle), np.log(middle / low)) / _NORMAL_MAD
    spread = max(spread, 1.0 / np.sqrt(middle))
    return float(middle * np.exp(spread * stats.norm.isf(RATE / number.size)))


def _about_sources(
    kind: str, told: str, names: NDArray[Any], number: NDArray[np.float64], which: NDArray[np.int64], rewards: Rewards
) -> Suspicion:
    order = which[np.argsort(-number[which], kind="stable")]
    count = int(number[order].sum())
    few = ", ".join(repr(str(name)) for name in names[order[:3]]) + (", ..." if order.size > 3 else "")
    sentence = (
        f"{counted(order.size, 'source')} ({few}) {told}. If they are fake, that is epsilon = "
        f"{order.size / names.size:.2g} of the sources, and {100.0 * count / rewards.total:.2g} % of the rewards "
        f"({count:,})."
    )
    return Suspicion(kind, tuple(str(name) for name in names[order]), count, count / rewards.total, RATE, sentence)


def _bursts(log: OpenLog, rewards: Rewards) -> list[Suspicion]:
    """Return arms that got a far larger share of all rewards in some stretch of time than in the rest.

    The log is cut into stretches of as many rewards each, in the order of time, so that a busy hour is no burst. Were
    time and arm independent, an arm's rewards in a stretch would be hypergeometric; how much more arms vary is measured
    by the median over all stretches, as for histograms.
    """
    total = rewards.total
    blocks = min(_BLOCKS, total // 50)
    if blocks < 8:
        return []
    log.number_rows()
    rows = log.database.run("stretches", blocks=blocks, total=total)
    table = np.zeros((len(rewards.labels), blocks))
    table[rows["arm_index"], rows["block"]] = rows["times"]
    suspicions: dict[int, tuple[int, Suspicion]] = {}
    scales = [each for each in (8, 32, 128, 512) if each <= blocks]
    for cuts in scales:
        edges = np.arange(cuts) * blocks // cuts
        counts = np.add.reduceat(table, edges, axis=1)
        for p_value, index, block in _outstanding(counts, RATE / len(scales)):
            size, number, here = counts[:, block].sum(), counts[index].sum(), counts[index, block].sum()
            rest = (number - here) / (total - size)
            excess = round(float((here - rest * size) / (1.0 - rest)))
            if index in suspicions and suspicions[index][0] >= excess:
                continue  # keep the scale with the largest excess
            label = str(rewards.labels[index])
            row = "in a row" if len(block) == 1 else f"in {len(block)} stretches of time"
            sentence = (
                f"{label!r} has {100.0 * here / size:.3g} % of {int(size):,} rewards {row}, and "
                f"{100.0 * rest:.3g} % of the others. The excess of {excess:,} would be "
                f"{100.0 * excess / total:.2g} % of all rewards, if it is fake."
            )
            p_value = min(p_value * len(scales), 1.0)
            suspicions[index] = excess, Suspicion("burst", (label,), excess, excess / total, p_value, sentence)
    return [suspicion for _, suspicion in sorted(suspicions.values(), key=lambda pair: -pair[0])]


def _outstanding(counts: NDArray[np.float64], rate: float) -> list[tuple[float, int, list[int]]]:
    """Return the arms with improbably many rewards in some blocks: p-value over all cells, arm, blocks."""
    size, number = counts.sum(axis=0), counts.sum(axis=1)
    total = counts.sum()
    expected = number[:, None] * size[None, :] / total
    judged = expected >= 1.0
    if not judged.any():
        return []
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.where(counts > 0.0, counts * np.log(counts / expected), 0.0)
        others, due = size - counts, size - expected
        outside = np.where(others > 0.0, others * np.log(others / due), 0.0)
    deviance = 2.0 * (inside + outside)
    weights = np.broadcast_to(size, counts.shape)
    rho = robust_scatter(deviance[judged], weights[judged], 1)
    ratio = deviance / (1.0 + (weights - 1.0) * rho)
    tail = 0.5 * stats.chi2.sf(ratio, 1) * int(judged.sum())  # one-sided
    found = np.argwhere(judged & (counts > expected) & (tail <= rate))
    arms = {int(arm): found[found[:, 0] == arm, 1].tolist() for arm in found[:, 0]}
    return [(float(tail[arm, where].min()), arm, where) for arm, where in arms.items()]


def _duplicates(log: OpenLog, rewards: Rewards) -> list[Suspicion]:
    """Return rows that are equal in all columns, time included, if there are more of them than by chance.

    Were time independent of the rest of a row, two rows of one time would be equal with the probability that two rows
    at random are, and the number of such pairs about Poisson.
    """
    if log.columns.time is None:
        return []
    found = log.database.run("duplicates")
    count, same_time, same_rest = int(found["count"][0]), float(found["same_time"][0]), float(found["same_rest"][0])
    by_chance = 0.5 * same_time * same_rest / (rewards.total * max(rewards.total - 1.0, 1.0))
    p_value = float(stats.poisson.sf(count - 1, by_chance)) if count else 1.0
    if p_value > RATE:
        return []
    columns = "arm, reward, source and time" if log.columns.source else "arm, reward and time"
    sentence = (
        f"{_share(count, rewards.total)} have the same {columns} as an earlier row, where chance would give about "
        f"{by_chance:.2g}. If these are rows written twice, epsilon = {count / rewards.total:.2g} of the rewards."
    )
    return [Suspicion("duplicates", (), count, count / rewards.total, p_value, sentence)]


def _share(count: int, total: int) -> str:
    return f"{count:,} of {total:,} rewards ({100.0 * count / total:.2g} %)"
