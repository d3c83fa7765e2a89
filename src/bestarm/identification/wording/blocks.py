"""What is said of a verdict whose rewards were compared within blocks: days, hours, or values of a column."""

from __future__ import annotations

from dataclasses import dataclass, field

from bestarm.identification.wording.metric import Metric
from bestarm.problem import Label


@dataclass(frozen=True)
class Within:
    """How rewards were compared within blocks.

    Attributes
    ----------
    by : str
        "day", "hour", or the name of the column.
    column : str
        The column that says in which block a reward is.
    blocks : int
        How many blocks `first` and `rival` share.
    matches : int
        How many matches of these two there are.
    unused : int
        Rewards that were not used: in blocks of one arm only, or without a block.
    shares_change : bool
        Whether the shares of the arms differ between blocks.
    first : label
        The arm that others are compared with: the winner (or leader), or the control.
    rival : label
        The arm that is nearest to it; of a control, the arm with the most evidence against it.
    means : dict
        For each other arm, its mean and that of the first in the blocks that both share, each block weighted by its
        matches.

    Examples
    --------
    >>> within = Within("day", "seen_at", 60, 4_000, 500, True, "B", "A", {})
    >>> within.noun, within.on_the_same, Within("country", "country", 3, 9, 0, False, "B", "A", {}).on_the_same
    ('day', 'on the same days', 'within the same country')
    """

    by: str
    column: str
    blocks: int
    matches: int
    unused: int
    shares_change: bool
    first: Label
    rival: Label
    means: dict[Label, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_time(self) -> bool:
        """Whether blocks are stretches of time."""
        return self.by in ("day", "hour")

    @property
    def noun(self) -> str:
        """What a block is called."""
        return self.by if self.is_time else f"value of {self.by}"

    @property
    def on_the_same(self) -> str:
        """Which rewards are compared."""
        if self.is_time:
            return f"{'on' if self.by == 'day' else 'in'} the same {self.by}s"
        return f"within the same {self.by}"

    @property
    def inside(self) -> str:
        """Within what an arm is the best, for the end of a claim."""
        return f" within {self.by}s" if self.is_time else f" {self.on_the_same}"

    @property
    def in_one(self) -> str:
        """Where a reward is: "on a day", "with a country"."""
        return {"day": "on a day", "hour": "in an hour"}.get(self.by, f"with a value of {self.by}")

    def line(self, metric: Metric) -> str:
        """Return the sentence that says how rewards were compared, and why."""
        said = f"Compared within {self.by}s" if self.is_time else f"Compared {self.on_the_same}"
        if self.shares_change:
            differ = f"change from {self.by} to {self.by}" if self.is_time else f"differ by {self.by}"
            said += f", as the shares of the {metric.arm_word}s {differ}"
        return f"{said}{self._unused(metric)}."

    def setting(self, arms: int, metric: Metric) -> str:
        """Return the sentence of a report about blocks: what is compared, and why."""
        return f"{self.line(metric)} The column is {self.column!r}. The question is {self.estimand(arms)}."

    def share_nothing(self) -> str:
        """Return that two arms cannot be compared."""
        return f"share no {self.noun}, so that nothing can be compared"

    def about_means(self) -> str:
        """Return what the means in a table are."""
        whose = f"{self.noun}s that an arm shares with {self.first!r} (of {self.first!r}, with {self.rival!r})"
        return f"Means and intervals are about the {whose}, each weighted by its matches; fakes are included."

    def _unused(self, metric: Metric) -> str:
        if not self.unused:
            return ""
        verb = "was" if self.unused == 1 else "were"
        return f"; {metric.rows(self.unused)} {self.in_one} with one {metric.arm_word} only {verb} not used"

    def estimand(self, arms: int) -> str:
        """Return what is compared, for a sentence."""
        whose = "both" if arms == 2 else "two arms"
        return f"the average lead over the {self.noun}s that {whose} share, each weighted by its matches"

    def compared(self, pulls: int) -> str:
        """Return what was looked at, for the sentence."""
        shared = f"{self.blocks:,} {self.noun}{'' if self.blocks == 1 else 's'}"
        matches = f"{self.matches:,} match{'' if self.matches == 1 else 'es'}"
        pairs = f"{matches} of {self.first!r} with {self.rival!r} in {shared}"
        return f"in {pulls - self.unused:,} rewards compared {self.on_the_same} ({pairs})"


# ------------------------------------------------------------------------------------------------------- assumptions

MEANS_MAY_DIFFER = "clean rewards are independent, and their means may differ from {noun} to {noun}"
FIXED_IN_BLOCKS = (
    "the number of rewards of each arm {on_each} was fixed, or did not depend on the rewards; which rewards make a "
    "match follows from a hash of the whole log, and nobody chose fakes by trying that out; what is compared is "
    "{estimand}"
)
BATCHES = (
    "; a reward of the arm with fewer is compared with a batch of the other's, picked by a hash of the whole log, and "
    "nobody chose fakes by trying that out"
)


def means_may_differ(within: Within) -> str:
    """Return what is assumed of clean rewards in place of a mean of each arm."""
    return MEANS_MAY_DIFFER.format(noun=within.noun)


def fixed_in_blocks(within: Within, arms: int) -> str:
    """Return what is assumed of the numbers of rewards, and what is compared."""
    on_each = {"day": "on each day", "hour": "in each hour"}.get(within.by, f"with each {within.noun}")
    return FIXED_IN_BLOCKS.format(on_each=on_each, estimand=within.estimand(arms))
