"""Which page of the reference has which public name: by the module it comes from, so that no list is kept."""

from __future__ import annotations

import functools
import importlib
import inspect
import re
from dataclasses import dataclass
from types import ModuleType

import bestarm


@dataclass(frozen=True)
class Area:
    """A page of the Python interface: its topic, the modules whose names it lists, and names that are not in `ba`."""

    slug: str
    title: str
    about: str
    homes: tuple[str, ...]
    more: tuple[str, ...] = ()


AREAS = (
    Area(
        "identify",
        "Identify an arm",
        "Ask and tell, or let `bestarm` own the loop; what comes out. Start with "
        "[the tutorial](../../tutorial/choosing-a-prompt.md).",
        ("identification", "problem"),
    ),
    Area(
        "logs",
        "Logs",
        "Rewards that are already there, in a file or a table: see "
        "[a contest with rigged votes](../../guide/rigged-contest.md).",
        ("log",),
    ),
    Area(
        "studies",
        "Studies",
        "An identifier on a database: see [studies on a database](../../guide/studies.md).",
        ("live",),
        ("bestarm.live.export.replay",),
    ),
    Area(
        "bandits",
        "Bandits and arms",
        "What is simulated. Adversaries have [a page of their own](adversaries.md).",
        ("bandits",),
        ("bestarm.bandits.Stream",),
    ),
    Area(
        "adversaries",
        "Adversaries",
        "What stands in for a reward that is replaced. A name in place of an arm means that each arm has one.",
        ("adversaries",),
    ),
    Area(
        "attacks",
        "Attacks",
        "Adversaries made for given arms: see [the attack bench](../../explanation/attacks.md).",
        ("attacks", "attack_bench"),
    ),
    Area(
        "simulate",
        "Simulate",
        "Many trials at once: see [all cores, a cluster](../../guide/cluster.md).",
        ("simulation",),
    ),
    Area("plan", "Plan", "Before the first reward: see [planning](../../guide/planning.md).", ("planning",)),
    Area(
        "theory",
        "Theory",
        "The paper's formulas as functions; [the glossary](../glossary.md) has their symbols.",
        ("theory", "estimators"),
    ),
    Area(
        "datasets",
        "Data sets",
        "Real data as bandits: see [real data](../../guide/datasets.md).",
        ("datasets",),
        ("bestarm.bandits.datasets.pkis2.pkis2",),
    ),
    Area(
        "catalogue",
        "The catalogue of methods",
        "What a method is made of; [the methods](../methods.md) themselves.",
        ("methods",),
        ("bestarm.methods.Method", "bestarm.methods.Option"),
    ),
    Area(
        "contamination",
        "Contamination models",
        "What epsilon means: see [which contamination is mine?](../../guide/contamination.md).",
        ("contamination",),
        ("bestarm.contamination.Contamination", "bestarm.contamination.Coin", "bestarm.contamination.Share"),
    ),
    Area(
        "paper",
        "Experiments",
        "The paper's experiments and your own: see [repeat the paper's experiments](../../guide/reproduce.md) and "
        "[a scenario of your own](../../guide/own-scenario.md).",
        ("paper", "scenarios"),
        (
            "bestarm.paper.experiments.experiment",
            "bestarm.paper.reproduce.reproduce",
            "bestarm.scenarios.scenario.run_scenario",
        ),
    ),
)
ERRORS = "errors"  # these have a page that is written: reference/errors.md


def homes() -> dict[str, list[str]]:
    """Return the public names of `bestarm` by the room that they come from."""
    found: dict[str, list[str]] = {}
    for name in bestarm.__all__:
        if name == "__version__":
            continue
        value = getattr(bestarm, name)
        room = name if inspect.ismodule(value) else _room(bestarm.HOMES.get(name, "bestarm.bandits"))
        found.setdefault(room, []).append(name)
    return found


def _room(module: str) -> str:
    """Return the room that a module is listed under: its own name if a page lists it, or else its room."""
    _, room, *rest = module.split(".")
    claimed = {home for area in AREAS for home in area.homes}
    return next((part for part in reversed(rest) if part in claimed), room)


def areas() -> list[tuple[Area, list[str]]]:
    """Return every page with the names on it; a room that no page claims gets one of its own."""
    left = homes()
    left.pop(ERRORS, None)
    pages = []
    for area in AREAS:
        names = [f"bestarm.{name}" for room in area.homes for name in left.pop(room, ())]
        pages.append((area, [*names, *area.more]))
    for room, found in left.items():
        pages.append(
            (Area(room, room.capitalize(), f"From `bestarm.{room}`.", (room,)), [f"bestarm.{n}" for n in found])
        )
    return pages


@functools.cache
def known() -> frozenset[str]:
    """Return every name that is on a page: the public ones, and those in public modules."""
    found = {name for _, names in areas() for name in names}
    for name in bestarm.__all__:
        value = getattr(bestarm, name)
        if inspect.ismodule(value):
            found |= {f"bestarm.{name}.{member}" for member in public(value)}
    return frozenset(found)


def public(module: ModuleType) -> list[str]:
    """Return the public names of a module: those in `__all__`, or else those it defines."""
    if hasattr(module, "__all__"):
        return list(module.__all__)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]


def page(area: Area, names: list[str]) -> str:
    """Return a page in Markdown, for mkdocstrings to fill."""
    return "\n".join([f"# {area.title}", "", area.about, "", *(f"::: {name}\n" for name in names)])


def index() -> str:
    """Return the list of all public names, each linked, with the first sentence of its docstring."""
    lines = [
        "# Python interface",
        "",
        f"Every public name of `bestarm` {bestarm.__version__}, as `import bestarm as ba` has it.",
        "",
    ]
    for area, names in areas():
        lines += [f"**[{area.title}]({area.slug}.md)**", "", "| name | what |", "|---|---|"]
        for name in names:
            lines.append(f"| [`{_spelled(name)}`][{name}] | {_summary(name)} |")
        lines.append("")
    return "\n".join(lines)


def _spelled(name: str) -> str:
    """Return a name as users write it: `ba.plan`, or where it is imported from."""
    if name.removeprefix("bestarm.") in bestarm.__all__:
        return name.replace("bestarm.", "ba.", 1)
    return re.sub(r"\.(\w+)\.\1$", r".\1", name)  # of a function and its module, which have one name


def _summary(name: str) -> str:
    module, _, last = name.rpartition(".")
    value = getattr(importlib.import_module(module), last)
    if not callable(value) and not inspect.ismodule(value):
        return ""
    return (inspect.getdoc(value) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
