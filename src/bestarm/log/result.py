"""The verdict on a log as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestarm.identification.wording.control import ControlWords
from bestarm.identification.wording.log_lines import LineWords
from bestarm.identification.wording.log_verdict import LogFacts, LogWords
from bestarm.log.rewards import Health
from bestarm.log.series import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from bestarm.log.certificate import Basis


@dataclass(frozen=True)
class LogResult(LogFacts):
    """What a log says: a `Result`, and what only a log has.

    `str()` is one sentence, one for each plain mean in it that is not the estimate, and one for each alarm.

    Without a winner, `leads`, `p_value`, `tolerance` and `overturn` are those of the leader: it would be named if no
    more than that were replaced. None means not even if nothing were; they are also None after an alarm, and without a
    winner in a replay. They do not depend on the epsilon that was asked about, unless it sets off an alarm or sigma was
    estimated for it; tolerance is never below the epsilon at which an arm is named.

    Attributes
    ----------
    rows : int
        Rewards in the log, including missing ones that count as replaced; `pulls` are those that were used.
    replaced : int or None
        How many rewards may have been replaced, or sources be dishonest, including missing ones; if they are counted
        arm by arm, the largest count. None if a coin decides.
    sources : int or None
        Distinct sources, if epsilon is a share of sources; `overturn` then counts sources.
    ignored : int
        Rewards that were not used: after the decision of a replay, to estimate sigma, or by a source for an arm that it
        had rewarded before.
    sensitivity : tuple of Sensitivity
        The verdict at each epsilon of a grid, by the same bets. All rows whose epsilon is large enough are right
        together with probability at least 1 - delta, so you may choose one after seeing them. If a coin decides,
        `overturn` has a delta of its own besides that.
    more : dict
        A rough forecast for each arm in question: how many more rewards of the same kind would decide it. Empty if a
        winner was named, or if even a thousand times as many would not decide it.
    hint : str
        What may be wrong with the question, or empty.
    sequential : bool
        Whether the log was replayed in its order.
    sigma_from : int or None
        Rewards that sigma was estimated from.
    means : dict
        The plain mean of the rewards of each arm that were used, including replaced ones. The estimate of an arm, which
        lies in its interval, is the same within bounds and, mostly, at epsilon = 0. Otherwise rewards far out, which
        the evidence discounts, do not move the estimate.
    discounted : dict
        For each arm, how many rewards lie so far from its estimate, on the side of its mean, that all bets clip them.
    for_all_counts : bool
        Whether no epsilon was given. Then the claim is that the named arm is the best, or more than `overturn` rewards
        are fake, which is wrong with probability at most delta whatever the number of fakes is; everything else is
        as at epsilon = 0, and JSON has null for it. If a coin decides, the claim goes by `tolerance`.
    survival : tuple of (int, float)
        Numbers of fakes, and the p-value of the winner (or leader) with as many; empty if a coin decides.
    stopping : {"fixed", "any"}
        Whether the number of rewards was fixed, or may have depended on them.
    exact : bool
        Whether an exact test of 0/1 rewards was used, for which `stopping` is "fixed".
    floor : float or None
        If contamination hides the lead, or the lead in the log is below this: the lead below which nothing can be
        proved at this epsilon, however many rewards of this kind there are.
    lower_is_better : bool
        Whether the lowest mean is the best.
    metric : Metric
        The names of the columns, and the words for what is measured.
    inspected : bool
        Whether the log was inspected.
    findings : tuple of Finding
        What inspection found.
    doubts : tuple of str
        Why the named arm is not `trusted`: a sentence for each finding that is more than it survives.
    left_out : int
        How many rows were left out, and `left_out_how` which, in a few words: empty if none were found, None if all
        were to be used.
    within : Within or None
        How rewards were compared within blocks, such as days: which, how many matches and how many rewards not used.
        Then estimates and intervals are about the blocks that an arm shares with the winner (or leader), each weighted
        by its matches; `means` are plain ones.
    batches : bool
        Whether each reward of an arm with fewer was compared with a batch of the other's.
    uplift : Uplift or None
        How much higher, relatively, the mean of the winner (or leader) is than that of the arm with the highest mean
        besides it, with bounds; None where rewards may be negative. With the leads it holds with probability
        `all_hold`, if the winner is the best.
    control : label or None
        The arm that all others were compared with. Then `comparisons` has the answers. `best` is the arm of the highest
        mean among those proved better than the control: that it beats the others is not claimed. `candidates` are all
        of those; `status` is "identified" if there is one. `overturn` and `tolerance` are the smallest of theirs,
        `p_value` is that of `best` or the leader, and `leads` and `sensitivity` are empty. `trusted` is whether there
        is one, and each can be relied on.
    comparisons : tuple of Comparison
        The other arms compared with the control, the highest mean first. That those are better, leads and uplifts are
        right together with probability at least 1 - delta.
    assigned : bool
        Whether arms were drawn at random.
    units : int or None
        If they were: how many sources count as one reward each; None without sources.
    where : str or None
        The condition on rows that are looked at.
    segment : str or None
        The segment that they are of.
    cap : float or None
        The most that a reward counts; of a ratio, the most of the whole that a source counts.
    capped : int
        How many rewards, or of a ratio sources, are above the cap.
    per : str
        The column of the whole that the rewards are a part of, if a ratio of sums is compared; else empty.
    per_source : str
        What the rewards of a source for an arm became, if that was said; else empty.
    health : Health
        Counts about the file.
    series : Series or None
        The rewards over time, arm by arm, and how days differ; None if the log has no times or was not inspected. It
        is no evidence.
    """

    health: Health = field(default_factory=Health)
    series: Series | None = None

    @property
    def counted_in(self) -> str:
        """The table of a database that counted the rows where they are; empty for a file."""
        return self.health.counted_in

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict in short lines: who is best, what that survives, whether within blocks, what inspection found."""
        return tuple((LineWords if self.control is None else ControlWords)(self).lines())

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers; epsilon is None if none was given."""
        fields = super().to_dict()
        if self.for_all_counts:
            fields["epsilon"] = None
        for name in ("survival", "findings", "doubts", "comparisons"):
            fields[name] = list(fields[name])
        fields["series"] = None if self.series is None else self.series.to_dict()
        return fields | {"lines": list(self.lines), "trusted": self.trusted}

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of intervals, leads and what the answer survives; on given axes, of the intervals alone.

        If an epsilon was given, it also shows the verdicts at other epsilons; if the log has times, means over time.

        Examples
        --------
        >>> import pandas as pd
        >>> from bestarm import identify_log
        >>> votes = pd.DataFrame({"caption": ["A"] * 200 + ["B"] * 200, "stars": [2, 1] * 100 + [5, 4] * 100})
        >>> result = identify_log(votes, arm="caption", reward="stars", bounds=(1, 5))
        >>> len(result.plot().axes)
        3
        """
        if axes is not None:
            return super().plot(axes)
        from bestarm.log.picture import draw

        return draw(self)

    def report(self, path: str | Path, *, command: str | None = None, logs: Sequence[Path] = ()) -> None:
        """Write one page about the verdict that can be handed on: .html, or .md with its picture beside it (.png).

        For "How to repeat it", `command` is what was typed and `logs` are the files that were read, whose SHA-256 is
        given; by default those of the health, as far as they are still there.
        """
        from bestarm.log.report import write_report

        write_report(self, path, command=command, logs=logs)

    def certificate(self, path: str | Path | None = None) -> dict[str, Any]:
        """Return a certificate of the verdict, and write it to a file if a path is given; see `verify_certificate`.

        It is there for a result that `identify_log` returned, as long as nothing in it is replaced.
        """
        from bestarm.log.certificate import certificate_of, write_certificate

        found = certificate_of(self, self._basis)
        if path is not None:
            write_certificate(found, path)
        return found

    def _repr_html_(self) -> str:
        """Return the three lines, what the answer survives and the table of arms, for a notebook."""
        from bestarm.log.notebook import as_cell

        return as_cell(self)

    @property
    def _basis(self) -> Basis | None:
        """What a certificate needs besides; no field, so that a result that is changed does not keep it."""
        found: Basis | None = self.__dict__.get("_kept_basis")
        return found

    def _with_basis(self, basis: Basis) -> LogResult:
        """Keep what a certificate needs, and return the result."""
        self.__dict__["_kept_basis"] = basis
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields alone: a pickle does not carry the rewards."""
        return {name: value for name, value in self.__dict__.items() if name != "_kept_basis"}

    @property
    def has_missing(self) -> bool:
        """Whether rewards are missing from the log and counted as replaced."""
        return bool(self.health.missing) and self.health.missing_as == "replaced"

    def _words(self) -> LogWords:
        return LogWords(self) if self.control is None else ControlWords(self)
