"""User agents that are programs by their name, or that click everything."""

from __future__ import annotations

import re

import numpy as np
from scipy import stats

from bestarm.identification.finding import Finding
from bestarm.identification.wording.text import counted
from bestarm.log.inspection.shapes import RATE
from bestarm.log.inspection.watch import Watch

_PROGRAMS = re.compile(
    r"(?<!cu)bot($|[^a-z])|crawl|spider|scrapy|headless|phantomjs|selenium|puppeteer|playwright|wget|libwww|go-http-client"
    r"|(^|[^a-z])curl($|[^a-z])|python[-/ ]|^python$|httpclient|^java/",
    re.IGNORECASE,
)
_EVERYTHING = 0.8  # share of the highest reward from which on an agent clicks everything
_OTHERS = 0.4  # and the share that all others together may have at most
_MOST = 10_000


def find_agents(watch: Watch) -> list[Finding]:
    """Return the user agents that look like programs.

    By name; or by what they do, if others get the highest reward in at most two of five cases and this one in at least
    four of five, more often than if its chance were a half, by Bonferroni over all agents.
    """
    if watch.columns.agent is None:
        return []
    rows = watch.run(
        "by_agent",
        highest=repr(watch.rewards.highest),
        most=_MOST,
        sources="count(DISTINCT who)" if watch.judges_sources else "0",
    )
    names = [str(name) for name in rows["agent"]]
    times, top = rows["times"].astype(np.float64), rows["top"].astype(np.float64)
    by_name = np.array([bool(_PROGRAMS.search(name)) for name in names], bool)
    greedy = np.zeros(len(names), bool)
    p_values = np.asarray(stats.binom.sf(top - 1.0, times, 0.5)) * max(len(names), 1)
    if watch.is_rating:
        greedy = (top >= _EVERYTHING * times) & (p_values <= RATE)
        others = ~greedy
        if times[others].sum() == 0.0 or top[others].sum() > _OTHERS * times[others].sum():
            greedy[:] = False
    found = np.flatnonzero(by_name | greedy)
    number = int(times[found].sum())
    if not found.size or 2 * number > watch.total:
        return []
    one = found.size == 1
    what = "is a program by its name" if one else "are programs by their names"
    if greedy.any():
        reward = watch.metric.reward or "reward"
        which = f"{reward} = 1" if watch.metric.is_rate else f"the highest {reward}"
        what = f"{'gets' if one else 'get'} {which} nearly always"
        if (by_name & ~greedy).any():
            what += ", or are programs by their names"
    few = ", ".join(repr(names[index][:60]) for index in found[:3]) + (", ..." if found.size > 3 else "")
    text = f"{counted(found.size, 'user agent')} {'looks' if one else 'look'} like {'a bot' if one else 'bots'}"
    text = f"{text} ({watch.amount(number)})"
    details = f"{counted(found.size, 'user agent')} ({few}) {what}: {watch.amount(number)}."
    p_value = None if by_name.any() else float(p_values[found].max())
    share = number / watch.total
    sources = int(rows["sources"][found].sum()) if watch.judges_sources else None
    return [Finding("agents", number, sources, share, text, tuple(names[index] for index in found), p_value, details)]
