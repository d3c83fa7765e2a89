"""How a study describes itself: in a notebook, and to the logger `bestarm` (no handler is added)."""

from __future__ import annotations

import html
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bestarm.live.events import ASK, DECIDE, TELL, Event
from bestarm.live.settings import Settings, from_note
from bestarm.problem import Label

if TYPE_CHECKING:
    from bestarm.live.study import Study

_LOG = logging.getLogger("bestarm")


def log_opened(shown: str, settings: Settings) -> None:
    """Log that a study was opened."""
    question = settings.question
    _LOG.info(
        "opened %s: %d arms, delta %g, epsilon %g, method %s",
        shown,
        len(settings.arms),
        question["delta"],
        question["epsilon"],
        settings.method,
    )


def log_changes(name: str, events: Sequence[Event], labels: Sequence[Label]) -> None:
    """Log events that were written: the decision as INFO, all others as DEBUG."""
    if not _LOG.isEnabledFor(logging.INFO):  # a thousandth of a tell, in place of a tenth
        return
    for event in events:
        if event.kind == DECIDE:
            _, verdict = from_note(event.note or "")
            _LOG.info("study %r has decided at event %d: %s, best %r", name, event.seq, verdict.status, verdict.best)
        elif event.kind == ASK:
            assert event.arm is not None
            _LOG.debug("study %r: ask, pull %d of %r for %s", name, event.pull, labels[event.arm], event.worker)
        elif event.kind == TELL:
            _LOG.debug("study %r: tell, pull %d is %r", name, event.pull, event.value)
        else:
            _LOG.debug("study %r: %s, pull %s", name, event.kind, event.pull)


def as_html(study: Study) -> str:
    """Return a study as HTML: where it is, its question, what is outstanding, and the verdict so far."""
    told = f"{study.pulls:,} rewards used, {study.pending:,} pulls outstanding, {study.sequence:,} events"
    asked = f"delta = {study.delta:g}, epsilon = {study.epsilon:g}, {study.method}"
    made = f"made {study.created:%Y-%m-%d %H:%M} UTC{', archived' if study.archived else ''}"
    head = f"<b>{html.escape(repr(study)[1:-1])}</b><br>{html.escape(asked)}; {made}<br>{told}"
    return f"<p>{head}</p>{study.result._repr_html_()}"
