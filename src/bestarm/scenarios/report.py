"""The report on a scenario: what was asked, the results, what to keep in mind, and how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from bestarm.bandits import attacks
from bestarm.contamination import of_options
from bestarm.methods import METHODS
from bestarm.problem import pose
from bestarm.scenarios.experiment import CatalogueAttack, Experiment, RandomCentres
from bestarm.scenarios.models import shown
from bestarm.scenarios.page import PageTable, Picture, measured, settings_table, write_page
from bestarm.scenarios.scenario_file import Scenario

ARMS_SHOWN = 100
CENTRES_SHOWN = 10


def write_report(
    scenario: Scenario, asked: Scenario, points: pd.DataFrame, drawn: Mapping[str, tuple[str, str]], path: Path
) -> None:
    """Write the report.

    Parameters
    ----------
    scenario, asked : Scenario
        What was run, and what the file says: trials and seed may differ.
    points : DataFrame
        Of `points_table`.
    drawn : mapping of str to (str, str)
        SVG of the figure of each experiment, wide and tall.
    path : Path
        The file.
    """
    first = scenario.experiments[0]
    counted = f"{scenario.trials:,} trials per point, {int(points['trials'].sum()):,} in all"
    results = [_result(experiment, points, drawn) for experiment in scenario.experiments]
    notes = [*_promises(scenario), *_notes(scenario, points)]
    more = len(scenario.arms) - ARMS_SHOWN
    write_page(
        path,
        "bestarm.scenarios",
        "scenario.html.j2",
        title=scenario.title,
        about=f"bestarm {version('bestarm')}; {counted}; seed {scenario.seed}",
        contents=_contents(scenario, notes),
        scenario=scenario,
        deltas=_listed(first.deltas),
        epsilons=_listed(_epsilons(scenario)),
        told=_told(first),
        max_pulls=f"{first.max_pulls:,}",
        results=results,
        notes=notes,
        arms=_arms(scenario),
        more_arms=f"{more:,}" if more > 0 else "",
        adversary=_adversary(scenario),
        methods=_methods(scenario),
        settings=_settings(scenario, asked),
    )


def _contents(scenario: Scenario, notes: Sequence[str]) -> list[tuple[str, str]]:
    many = len(scenario.experiments) > 1
    split = [(one.name, f"Results at ε = {one.epsilons[0]:g}") for one in scenario.experiments if many]
    mind = [("mind", "What to keep in mind")] if notes else []
    return [
        *(("question", "The question"), ("results", "Results"), *split, *mind),
        *(("arms", "The arms"), ("adversary", "The adversary"), ("methods", "The methods")),
        ("repeat", "How to repeat it"),
    ]


def _told(experiment: Experiment) -> str:
    if experiment.bounds is None:
        return f"sigma = {experiment.sigma:g}"
    return f"bounds {experiment.bounds[0]:g} to {experiment.bounds[1]:g}"


def _result(
    experiment: Experiment, points: pd.DataFrame, drawn: Mapping[str, tuple[str, str]]
) -> tuple[Experiment, Picture, PageTable]:
    own = points[points["experiment"] == experiment.name]
    described = f"{experiment.title}: mean pulls and error rates of the methods; the numbers are in the table below."
    return experiment, Picture(drawn[experiment.name], described), measured(experiment, own)


def _arms(scenario: Scenario) -> PageTable:
    best = max(arm.mean for arm in scenario.arms)
    rows = [
        [label, law, f"{arm.mean:.6g}", "best" if arm.mean == best else f"{best - arm.mean:.4g}"]
        for label, law, arm in scenario.named_arms[:ARMS_SHOWN]
    ]
    return PageTable(["arm", "law of clean rewards", "true mean", "behind the best"], rows, style="words")


def _adversary(scenario: Scenario) -> list[str]:
    chosen = scenario.adversary
    words = [f"Replaced rewards: {chosen.words}."]
    if isinstance(chosen, CatalogueAttack):
        words = [f"The attack {chosen.name}: {_attack_words(chosen.name)}"]
    if scenario.quota:
        words.append(
            "At any time at most a share ε of the rewards of each arm is replaced, picked at random: some method is "
            "told of such a share, and all methods face the same adversary."
        )
    elif chosen.words != "nothing is replaced" and not isinstance(chosen, CatalogueAttack):
        words.append("Each reward is replaced with probability ε, independently of all others.")
    if isinstance(chosen, RandomCentres) and len(scenario.arms) <= CENTRES_SHOWN:
        for experiment in scenario.experiments:
            drawn = experiment.adversaries(scenario.seed)
            for number, adversary in enumerate(drawn[:CENTRES_SHOWN]):
                assert adversary is not None
                centres = ", ".join(f"{centre:.3f}" for centre in adversary.pieces[0].a)
                draw = f", draw {number + 1} of {len(drawn)}" if len(drawn) > 1 else ""
                words.append(f"Centres for ε up to {max(experiment.epsilons):g}{draw}: {centres}.")
    return words


def _attack_words(name: str) -> str:
    """Return the first sentence on an attack; one that keeps to a share is named after another."""
    base = {"quota-uniform": "benign", "quota-gross": "one-sided-gross"}.get(name, name.removeprefix("quota-"))
    build = getattr(attacks, base.replace("-", "_"), None)
    sentence = (build.__doc__ or "").strip().splitlines()[0] if build else ""
    return f"{sentence} Within a quota for each arm." if base != name else sentence


def _methods(scenario: Scenario) -> list[str]:
    first = scenario.experiments[0]
    problem = pose(
        len(scenario.arms), delta=first.deltas[0], epsilon=first.epsilons[0], sigma=first.sigma, bounds=first.bounds
    )
    sentences = []
    for curve in scenario.curves:
        entry = METHODS[curve.method]
        options = ", ".join(f"{name} = {shown(value)}" for name, value in curve.options)
        held = "is proved to be" if entry.certifies else "is meant to be"
        promise = entry.promised(entry.complete(problem, dict(curve.options)))
        what = f"{curve.method} with {options}" if options else curve.method
        named = what if what == curve.label else f"{curve.label}: {what}"
        sentences.append(f"{named}. The probability of a wrong answer {held} at most δ if {promise}.")
    return sentences


def _notes(scenario: Scenario, points: pd.DataFrame) -> list[str]:
    first = scenario.experiments[0]
    notes = []
    scales = [arm.sigma for arm in scenario.arms]
    if first.bounds is None and any(scale is None or scale > first.scale * (1.0 + 1e-12) for scale in scales):
        notes.append(
            f"Not all arms are sub-Gaussian with the scale sigma = {first.scale:g} that the methods are told: nothing "
            "is promised for such rewards."
        )
    if sum(arm.mean == max(first.means) for arm in scenario.arms) > 1:
        notes.append("Several arms have the highest mean; naming any of them counts as right.")
    if isinstance(scenario.adversary, CatalogueAttack) and first.sweep == "epsilon":
        notes.append(f"The values of the attack are those for the largest ε, {max(first.epsilons):g}, at every ε.")
    cut = points[points["undecided"] > 0.0]
    if len(cut):
        notes.append(
            f"At {len(cut)} of {len(points)} points some trials were cut at {first.max_pulls:,} pulls; mean pulls are "
            "lower bounds there, marked by ≥. A larger max_pulls in the file lets them go on."
        )
    return notes


def _promises(scenario: Scenario) -> list[str]:
    """Name the methods that are told of another kind of contamination than the adversary keeps to."""
    first = scenario.experiments[0]
    (adversary, *_) = first.adversaries(scenario.seed)
    if adversary is None or max(_epsilons(scenario)) == 0.0:
        return []
    problem = pose(len(scenario.arms), delta=0.5, epsilon=0.1, sigma=first.sigma, bounds=first.bounds)
    notes = []
    for curve in scenario.curves:
        told = of_options(METHODS[curve.method].complete(problem, dict(curve.options)))
        if told is not None and not told.covers(adversary.power):
            kinds = " and ".join(adversary.contaminations) or "none of the kinds of contamination"
            notes.append(
                f"{curve.label} is told that contamination is {told}, but the adversary keeps to {kinds}: nothing is "
                "promised here."
            )
    return notes


def _settings(scenario: Scenario, asked: Scenario) -> PageTable:
    words = ["bestarm", "scenario", scenario.file]
    words += ["--trials", str(scenario.trials)] if scenario.trials != asked.trials else []
    words += ["--seed", str(scenario.seed)] if scenario.seed != asked.seed else []
    settings = {
        "command": shlex.join(words),
        f"SHA-256 of {scenario.file}": scenario.sha256,
        "trials per point": f"{scenario.trials:,}",
        "seed": str(scenario.seed),
    }
    return settings_table(settings)


def _epsilons(scenario: Scenario) -> list[float]:
    return [epsilon for experiment in scenario.experiments for epsilon in experiment.epsilons]


def _listed(values: Iterable[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
