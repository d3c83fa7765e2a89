"""Arms whose rewards are distributed unlike those of all other arms, as a finding."""

from __future__ import annotations

import math

import numpy as np

from bestarm.identification.finding import Finding
from bestarm.identification.wording.log_lines import named
from bestarm.log.inspection.shapes import Shapes, shapes
from bestarm.log.inspection.watch import Watch


def find_histograms(watch: Watch) -> tuple[list[Finding], list[str]]:
    """Return the arms whose rewards have a strange shape, and notes."""
    found = shapes(watch.rewards)
    if found is None:
        return [], []
    left = len(watch.rewards.labels) - int(found.judged.sum())
    notes = [f"{left:,} arms have too few rewards for their histograms to be judged."] if left else []
    return [_finding(watch, found, index) for index in found.strange.tolist()], notes


def _finding(watch: Watch, found: Shapes, index: int) -> Finding:
    rewards, number = watch.rewards, int(found.numbers[index])
    # To make an arm win one gives it the highest reward, to make it lose the lowest.
    extreme = -1 if rewards.means[index] >= np.median(rewards.means) else 0
    least, stuffed = found.misfits(index), found.stuffed(index, extreme % len(found.cells))
    count = max(least, stuffed)
    gap = found.observed[index] - found.predicted[index]
    worst = int(np.argmax(np.abs(gap)))
    seen, due = 100.0 * found.observed[index, worst], 100.0 * found.predicted[index, worst]
    p_value = min(float(found.p_values[index]) * int(found.judged.sum()), 1.0)
    label = str(rewards.labels[index])
    text = f"the {watch.metric.rows_word} of {named(label)} are spread unlike all others' ({watch.amount(count)})"
    details = (
        f"The rewards of {label!r} are distributed unlike those of all other arms: {seen:.3g} % of {number:,} are "
        f"{found.cells[worst]}, where other arms with such a mean have {due:.3g} %. At least {least:,} do not fit; "
        f"if every fake one is {found.cells[extreme]}, about {count:,} are fake: "
        f"{100.0 * count / number:.3g} % of this arm's rewards and {100.0 * count / rewards.total:.3g} % of all."
    )
    sources = None
    if watch.judges_sources and watch.sources is not None:
        sources = math.ceil(count * np.count_nonzero(watch.sources.arm == index) / number)
    return Finding("histogram", count, sources, count / rewards.total, text, (label,), p_value, details)
