"""The words for what is measured: capped rewards, one number per source, and ratios; and what each assumes."""

from __future__ import annotations

from bestarm.contamination.words import BOTH, FIRST_ROW, ONE_ARM, ONE_MEAN
from bestarm.identification.wording.metric import Metric

_ONE_NUMBER = {
    "first": "of a source's rewards for an arm the first counts, so that people may stop as they please",
    "last": "of a source's rewards for an arm the last counts; which one is the last does not depend on the rewards",
    "mean": "a source counts with the mean of its rewards for an arm; how many it gives does not depend on them",
    "sum": "a source counts with the sum of its rewards for an arm over the time of the log, which was fixed",
    "any": "a source counts with 1 for an arm if any of its rewards is 1; how many it gives does not depend on them",
}
_SINGLE = {
    "first": "of a source's rewards the first counts",
    "last": "of a source's rewards the last counts",
    "mean": "a source counts with the mean of its rewards, however many it chooses to give",
    "sum": "a source counts with the sum of its rewards over the time of the log, however many it chooses to give",
    "any": "a source counts with 1 if any of its rewards is 1, however many it chooses to give",
}
_OTHERS = "what a source does on an arm does not depend on the other arms that it sees"


def assumed(promise: str, metric: Metric, cap: float | None, *, single: bool) -> str:
    """Return the assumptions of a verdict with those of what is measured."""
    said = promise
    if single and (metric.per_source or metric.per):
        said = said.replace(FIRST_ROW, ONE_ARM)
    if metric.per and cap is not None:
        what = f"{metric.reward!r} and {metric.per!r}"
        ratio = f"honest sources of an arm have one mean of {what} each"
        said = said.replace(ONE_MEAN, ratio) + f"; a source with more than {cap:,.6g} {metric.per!r} counts with "
        said += f"{cap:,.6g}, and with {metric.reward!r} in proportion"
        return said if single else f"{said}; {_OTHERS}"
    if metric.counts_sources:
        said = said.replace(ONE_MEAN, "these numbers of honest sources of an arm have one mean")
    if metric.per_source:
        said += f"; {(_SINGLE if single else _ONE_NUMBER)[metric.per_source]}"
        if metric.per_source in ("sum", "any", "mean", "last") and not single and BOTH not in promise:
            said += f"; {_OTHERS}"
    if cap is not None:
        what = "sum" if metric.per_source == "sum" else "reward"
        said += f"; a {what} above {cap:,.6g} counts as {cap:,.6g}"
    return said
