"""All checks on an open log, one after the other, and what they would do to an answer.

Each check points at something in at most a share `shapes.RATE` of clean logs, by Bonferroni over all that it looks at.
Inspection is a finding, not a theorem: it never changes evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.identification.finding import Finding
from bestarm.identification.wording.log_lines import named
from bestarm.log.inspection.agents import find_agents
from bestarm.log.inspection.allotment import (
    allotted,
    change_by_hour,
    find_bursts,
    find_late_arms,
    find_split,
    keep_to_an_arm,
)
from bestarm.log.inspection.changes import find_changes
from bestarm.log.inspection.clusters import Clusters, find_clusters, find_dispersion, rivals_that_catch_up
from bestarm.log.inspection.days import DayTable, find_odd_days, find_trend, table_by_day, table_by_hour
from bestarm.log.inspection.duplicates import find_duplicates
from bestarm.log.inspection.histograms import find_histograms
from bestarm.log.inspection.mixture import find_mixture, table_by_column
from bestarm.log.inspection.sources import find_sources
from bestarm.log.inspection.watch import Watch
from bestarm.log.inspection.within import carried_by, within_days, within_hours
from bestarm.log.reading import SUSPICIOUS, LeftOut, OpenLog, Progress, count_rewards, open_log, suspicious
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec
from bestarm.problem import Label


@dataclass(frozen=True, eq=False)
class Inspected:
    """What inspection found in a log, and what it needs to judge an answer.

    Attributes
    ----------
    findings : tuple of Finding
        What looks wrong.
    notes : tuple of str
        What else there is to say, a sentence each.
    sources : int or None
        How many sources there are, if a column names them.
    source : str
        The column that names them, or empty.
    table : DayTable or None
        Rewards by day and arm.
    hours : DayTable or None
        Rewards by hour and arm, if the shares of the arms change over time.
    mixture : DayTable or None
        Rewards by value of a column and arm, if the shares of the arms differ by it; `column` is its name.
    changes : bool
        Whether the shares of the arms change over time.
    changed : tuple of int
        The days from which on one arm is unlike before and the others are not.
    blocked : bool
        Whether the answer compares rewards within stretches of time, so that these changes do not matter.
    """

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    sources: int | None
    source: str
    table: DayTable | None
    changes: bool
    odd_days: tuple[int, ...]
    labels: tuple[Label, ...]
    means: NDArray[np.float64]
    errors: NDArray[np.float64]
    clusters: dict[str, Clusters] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    blocked: bool = False
    hours: DayTable | None = None
    mixture: DayTable | None = None
    column: str = ""
    changed: tuple[int, ...] = ()

    def within_blocks(self, means: Sequence[float], by_time: bool) -> Inspected:
        """Return the same to judge an answer of rewards that were compared within blocks, with the means in these."""
        clusters = {kind: each for kind, each in self.clusters.items() if not (by_time and self.units[kind] == "day")}
        return replace(self, means=np.array(means), clusters=clusters, blocked=by_time)

    def falls(
        self, best: Label, delta: float, *, lower_is_better: bool = False, control: Label | None = None
    ) -> dict[str, str]:
        """Return for each kind of finding without a count why a named arm falls because of it.

        Drift alone is no reason, because it is the same for arms with constant shares: arms are compared within days
        only if their shares change over time. Odd days are one if they carry the lead. Rewards that go together are
        one if the arm does not lead clearly when sources or rows are what scatters. With a control the arm is compared
        with that alone.
        """
        kinds = {finding.kind for finding in self.findings}
        found: dict[str, str] = {}
        table, hours, mixture, level = self.table, self.hours, self.mixture, delta
        if control is not None:
            table, hours, mixture = (each and each.only((best, control)) for each in (table, hours, mixture))
            level = delta / (len(self.labels) - 1)
        if table is not None and self.changes and not self.blocked:
            within = within_days(table, best, level, lower_is_better=lower_is_better)
            if not within.holds:
                found |= {kind: within.text for kind in ("late arm", "split", "trend") if kind in kinds}
        if mixture is not None:  # of a log that is compared within days too: these do not see countries
            within = within_days(mixture, best, level, lower_is_better=lower_is_better)
            if not within.holds:
                found["mixture"] = within.text.replace("within values", f"within the same {self.column}")
        if hours is not None:
            why = within_hours(hours, best, level, lower_is_better=lower_is_better)
            found = {kind: why for kind in ("late arm", "split") if why and kind in kinds} | found
        if table is not None and self.odd_days:
            why = carried_by(table, self.odd_days, best, level, lower_is_better=lower_is_better, within=self.blocked)
            found |= {"day": why} if why else {}
        if table is not None and self.changed:
            before = tuple(day for day in range(len(table.days)) if day not in self.changed)
            how = {"lower_is_better": lower_is_better, "within": self.blocked}
            for out, kept in ((self.changed, "before that"), (before, "from then on")):
                why = carried_by(table, out, best, level, kept=kept, **how)
                found |= {"change": why} if why else {}
        index = self.labels.index(best)
        for kind, clusters in self.clusters.items():
            means = -self.means if lower_is_better else self.means
            rivals = rivals_that_catch_up(clusters, means, self.errors, index, delta)
            rivals = [rival for rival in rivals if control is None or self.labels[rival] == control]
            if rivals:
                rival = named(self.labels[rivals[0]])
                found[kind] = f"counted by {self.units[kind]}, {named(best)} no longer leads {rival} clearly"
        return found


def inspect_open(log: OpenLog, rewards: Rewards) -> Inspected:
    """Inspect a log that was opened with `inspect`, after its rewards were counted."""
    watch = Watch(log, rewards)
    histograms, notes = find_histograms(watch)
    bots, more = find_sources(watch)
    findings = [*bots, *find_agents(watch), *find_duplicates(watch)]
    allotment, table = allotted(watch), table_by_day(watch)
    if allotment is not None:
        findings += find_bursts(watch, allotment)
    findings += histograms
    odd: tuple[int, ...] = ()
    if table is not None:
        days, odd = find_odd_days(watch, table)
        findings += days
    if allotment is not None:
        findings += find_late_arms(watch, allotment)
    mixture = table_by_column(watch)
    mixed = [] if mixture is None else find_mixture(watch, mixture)
    findings += mixed
    hours = None if keep_to_an_arm(watch) else table_by_hour(watch)
    by_hour = hours is not None and change_by_hour(hours)
    findings += find_split(watch, allotment, by_hour)
    changed: tuple[int, ...] = ()
    if table is not None:
        alone, changed = find_changes(watch, table, odd)
        findings += alone or find_trend(watch, table)  # a trend is one of all arms together
    changes = allotment is not None and allotment.changes
    together, by_source = find_clusters(watch)
    scattered, by_row = find_dispersion(watch)
    pairs = (("clusters", by_source), ("dispersion", by_row))
    units = {"clusters": watch.metric.source_word, "dispersion": "row" if watch.clock is None else "day"}
    return Inspected(
        findings=(*findings, *together, *scattered),
        notes=(*notes, *more),
        sources=None if watch.sources is None else watch.sources.total,
        source=watch.columns.who or "",
        table=table,
        changes=changes,
        odd_days=odd,
        changed=changed,
        labels=rewards.labels,
        means=rewards.means,
        errors=_standard_errors(rewards),
        clusters={kind: clusters for kind, clusters in pairs if clusters is not None},
        units=units,
        hours=hours if changes or by_hour else None,
        mixture=mixture if mixed else None,
        column=watch.columns.block or "",
    )


def find_left_out(data: Any, spec: LogSpec, progress: Progress | None = None) -> LeftOut | None:
    """Return the rows that inspection points at, if the question is to be answered without them."""
    if spec.without != SUSPICIOUS:
        return None
    if isinstance(data, str) and data == "-":
        raise InputError("without", "come with a file that can be read twice", SUSPICIOUS, "save it to a file first")
    with open_log(data, replace(spec, without=None, inspect=True), progress) as log:
        return suspicious(inspect_open(log, count_rewards(log)).findings)


def _standard_errors(rewards: Rewards) -> NDArray[np.float64]:
    counts = rewards.counts or [np.ones(values.size) for values in rewards.values]
    found = []
    for values, often, mean in zip(rewards.values, counts, rewards.means, strict=True):
        number = float(often.sum())
        found.append(np.sqrt(float((often * (values - mean) ** 2).sum()) / max(number - 1.0, 1.0) / number))
    return np.array(found)
