"""Whether an answer can be relied on: what inspection found is compared with what the answer survives.

Inspection is a finding, not a theorem. It never changes evidence; it may withdraw trust.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bestarm.contamination import of_options
from bestarm.identification.finding import Finding
from bestarm.identification.wording.control import beyond_lead
from bestarm.identification.wording.log_lines import beyond, falls
from bestarm.log.result import LogResult
from bestarm.problem import Label

# For a named arm: why a finding without a count takes the answer away, by the kind of finding.
Falls = Callable[[Label, float], dict[str, str]]


def with_findings(result: LogResult, findings: Sequence[Finding], within: Falls | None = None) -> LogResult:
    """Return a verdict with what inspection found, and whether it can be relied on.

    Parameters
    ----------
    result : LogResult
        The verdict.
    findings : sequence of Finding
        What inspection found.
    within : function, optional
        Takes the named arm and delta, and says for each kind of finding without a count why the arm is no longer the
        best when it is compared within days, or by source; kinds that change nothing are left out.
    """
    if result.control is not None:
        return _with_control(result, findings, within)
    doubts = []
    if result.best is not None:
        fallen = within(result.best, result.delta) if within is not None else {}
        for finding in findings:
            if finding.is_counted and exceeds(result, finding):
                doubts.append(beyond(result, finding))
            elif finding.kind in fallen:
                doubts.append(falls(finding, fallen[finding.kind]))
    return replace(result, findings=tuple(findings), doubts=tuple(doubts), inspected=True)


def _with_control(result: LogResult, findings: Sequence[Finding], within: Falls | None) -> LogResult:
    """Return a verdict with a control: each arm that is proved better has doubts of its own."""
    comparisons, doubts = [], []
    for each in result.comparisons:
        own: list[str] = []
        if each.better:
            survived = replace(result, overturn=each.overturn, tolerance=each.tolerance)
            fallen = within(each.label, result.delta) if within is not None else {}
            for finding in findings:
                if finding.is_counted and exceeds(survived, finding):
                    own.append(beyond_lead(survived, finding, each.label))
                elif finding.kind in fallen:
                    own.append(falls(finding, fallen[finding.kind]))
        comparisons.append(replace(each, doubts=tuple(own)))
        doubts += own
    told = tuple(dict.fromkeys(doubts))
    return replace(result, findings=tuple(findings), comparisons=tuple(comparisons), doubts=told, inspected=True)


def exceeds(result: LogResult, finding: Finding) -> bool:
    """Tell whether a finding is more than the answer survives, or more than the epsilon that was given."""
    model = of_options(result.options)
    allowed = result.overturn if result.for_all_counts else result.replaced
    if model is None or not model.counted or allowed is None:
        most = result.tolerance if result.for_all_counts else result.epsilon
        share = finding.share if result.units is None else finding.number(of_sources=True) / result.units
        return (share or 0.0) > (most or 0.0)
    return finding.number(of_sources=model.by_source) > allowed
