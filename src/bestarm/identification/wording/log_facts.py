"""The verdict on a log, as far as its sentences need it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bestarm.identification.result import ArmRow, Result
from bestarm.problem import Label

if TYPE_CHECKING:
    from bestarm.identification.robustness import Sensitivity

_VISIBLE = 0.25  # of an interval: how far a mean must be from the estimate to be mentioned


@dataclass(frozen=True)
class LogFacts(Result):
    """A `Result`, and what only a log has; `bestarm.log.result.LogResult` explains its attributes."""

    rows: int = 0
    replaced: int | None = None
    sources: int | None = None
    ignored: int = 0
    sensitivity: tuple[Sensitivity, ...] = ()
    more: dict[Label, int] = field(default_factory=dict)
    hint: str = ""
    sequential: bool = False
    sigma_from: int | None = None
    means: dict[Label, float] = field(default_factory=dict)
    discounted: dict[Label, int] = field(default_factory=dict)

    @property
    def has_missing(self) -> bool:
        """Whether rewards are missing from the log and counted as replaced."""
        return False

    @property
    def middle(self) -> str:
        """What the estimates are: "mean" if all of them are plain means, else "estimate"."""
        same = (math.isclose(self.means[row.label], row.estimate) for row in self._known_rows())
        return "mean" if self.means and all(same) else "estimate"

    @property
    def moved_means(self) -> dict[Label, float]:
        """Plain means that are visibly not the estimate: out of the interval, or a quarter of it away."""
        moved = {}
        for row in self._known_rows():
            mean, width = self.means[row.label], row.upper - row.lower
            if not row.lower <= mean <= row.upper or abs(mean - row.estimate) > _VISIBLE * width:
                moved[row.label] = mean
        return moved

    def _known_rows(self) -> list[ArmRow]:
        """Return the arms that have a mean and an interval: after an alarm no mean may fit."""
        found = (row for row in self.arms if not math.isnan(self.means.get(row.label, math.nan)))
        return [row for row in found if row.lower <= row.upper]
