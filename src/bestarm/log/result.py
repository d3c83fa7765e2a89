"""The verdict on a log, in words that are right for one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bestarm.identification.wording.log_facts import LogFacts
from bestarm.identification.wording.log_verdict import LogWords
from bestarm.log.rewards import Health

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class LogResult(LogFacts):
    """What a log says: a `Result`, and what only a log has.

    `str()` is one sentence, one for each plain mean in it that is not the estimate, and one for each alarm.

    For a verdict without a winner, `leads`, `p_value`, `tolerance` and `overturn` are those of the leader: tolerance
    and overturn say how much at most may be replaced for it to be named (None: not even with nothing replaced; also
    after an alarm, and without a winner in a replay). They are the same whichever epsilon was asked about, unless it
    sets off an alarm or sigma was estimated for it; tolerance is never below the epsilon at which an arm is named.

    Attributes
    ----------
    rows : int
        Rewards in the log, those missing and counted as replaced included; `pulls` are those that were used.
    replaced : int or None
        How many may have been replaced (sources be dishonest), missing ones included; None if a coin decides.
        Where it is counted arm by arm, the largest number.
    sources : int or None
        Distinct sources, where the contamination is of sources; `overturn` then counts sources.
    ignored : int
        Rewards that were not used: those after the decision in a replay, those that sigma was estimated from, and those
        of a source on an arm that it had rewarded before.
    sensitivity : tuple of Sensitivity
        The verdict at each epsilon of a grid, by the same bets: those at any epsilon that is true are right, all
        together, with probability at least 1 - delta, so one may look up afterwards what the answer needs. Where a
        coin decides, `overturn` has a delta of its own beside that.
    more : dict
        A rough forecast for each arm in question: how many more rewards of the same kind would decide it. Empty if a
        winner was named, or where even a thousand times as many would not do.
    hint : str
        What may be wrong with the way the log was asked, or empty.
    sequential : bool
        Whether the log was replayed in its order.
    sigma_from : int or None
        Rewards that sigma was estimated from.
    means : dict
        The plain mean of the rewards of each arm that were used, replaced ones and all. The estimate of an arm, which
        lies in its interval, is the same within bounds and, mostly, at epsilon = 0; elsewhere rewards far out, which
        the evidence discounts, do not move it.
    discounted : dict
        For each arm how many rewards lie so far from its estimate, on the side of its mean, that every bet is clipped.
    health : Health
        What the file was like.
    """

    health: Health = field(default_factory=Health)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of intervals, leads, and verdicts at other epsilons; on axes that are given, the intervals.

        Examples
        --------
        >>> import pandas as pd
        >>> from bestarm import identify_log
        >>> votes = pd.DataFrame({"caption": ["A"] * 200 + ["B"] * 200, "stars": [2, 1] * 100 + [5, 4] * 100})
        >>> result = identify_log(votes, arm="caption", reward="stars", epsilon=0.02, bounds=(1, 5))
        >>> len(result.plot().axes)
        3
        """
        if axes is not None:
            return super().plot(axes)
        from bestarm.log.picture import draw

        return draw(self)

    def report(self, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()) -> None:
        """Write one page about the verdict that can be handed on: .html, or .md with its picture beside it (.png).

        `command` is what was typed, and `logs` the files that were read, for "how to repeat it"; by default those that
        the health names.
        """
        from bestarm.log.report import write_report

        write_report(self, path, command=command, logs=logs)

    @property
    def has_missing(self) -> bool:
        """Whether rewards are missing from the log and counted as replaced."""
        return bool(self.health.missing) and self.health.missing_as == "replaced"

    def overturn_in_words(self) -> str:
        """Return how much the answer withstands, such as "214 replaced rewards"; empty if that is not known."""
        return self._words().overturn()

    def _words(self) -> LogWords:
        return LogWords(self)
