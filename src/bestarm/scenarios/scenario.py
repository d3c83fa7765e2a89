"""Run a scenario, and write its tables, figures and report."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from bestarm.bandits import attacks
from bestarm.contamination import of_options
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.problem import pose
from bestarm.scenarios.experiment import CatalogueAttack, Experiment, RandomCentres
from bestarm.scenarios.figures import save_figures
from bestarm.scenarios.models import shown
from bestarm.scenarios.page import bullets, image, measured, packages, table, text, write_page
from bestarm.scenarios.run import Folder, Run, checked_run, run_points, wanted_trials
from bestarm.scenarios.scenario_file import Scenario, read_scenario, with_settings
from bestarm.scenarios.tables import points_table, write_table, write_trials
from bestarm.simulation import progress_bar
from bestarm.simulation.progress import Progress

OUTPUTS = (
    *("report.html", "figures", "points.csv", "points.parquet", "points.tex"),
    *("trials.parquet", "trials.csv.gz"),
)
# What the command prints of every point; the files have more columns.
SHOWN = (
    *("method", "delta", "epsilon", "trials", "mean_pulls", "mean_is_lower_bound", "standard_error"),
    *("wrong", "error_rate", "indistinguishable", "undecided"),
)
ARMS_SHOWN = 100  # in the report
CENTRES_SHOWN = 10
PRE = "margin: 0; padding: .6rem; font-size: .85rem; line-height: 1.4"


def run_scenario(
    scenario: str | Path | Scenario,
    *,
    out: str | Path | None = None,
    trials: int | None = None,
    seed: int | None = None,
    workers: int = 1,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress = False,
) -> pd.DataFrame:
    """Run a scenario, and write its tables, figures and report.

    Parameters
    ----------
    scenario : path or Scenario
        A file as docs/guide/own-scenario.md explains it, or what `read_scenario` or `parse_scenario` made of one.
    out : path, optional
        Folder for all that is written; results/<name of the scenario> by default. It must be new or empty.
    trials, seed : int, optional
        In place of those of the file.
    workers : int >= 1
        Threads. The trials are the same for any number of them.
    resume : bool
        Keep the points that an earlier run of the scenario has finished in that folder, and simulate the others. The
        file may have changed meanwhile: what is different is simulated.
    overwrite : bool
        Remove all that an earlier run left there.
    progress : bool or callable
        As for `simulate`: a bar, or a function that is told the number of trials just finished.

    Returns
    -------
    DataFrame
        One row per point, as `points_table` makes it. Then `out` has report.html, figures/ (.png, .svg), points (.csv,
        .parquet, .tex) and trials (.parquet, .csv.gz).
    """
    asked = scenario if isinstance(scenario, Scenario) else read_scenario(scenario)
    chosen = with_settings(asked, trials, seed)
    checked_run(chosen.trials, chosen.seed, workers)
    target = folder_of(chosen, out)
    # These two words mark the folders of earlier versions too, which can be resumed or overwritten.
    settings = {"made by": "bestarm simulate", "study": chosen.name, "trials": chosen.trials}
    folder = Folder(target, settings, chosen.seed, OUTPUTS)
    folder.open(resume, overwrite)
    wanted = wanted_trials(chosen.experiments, chosen.trials)
    with progress_bar(chosen.name, sum(wanted.values()), progress) as advance:
        try:
            outcomes = run_points(wanted, folder, workers, advance)
        except MemoryError:
            fix = "a trial takes about 100 bytes and 8 for each arm"
            raise InputError("trials", "fit into the memory of this machine", chosen.trials, fix) from None
    run = Run(chosen.experiments, chosen.trials, chosen.seed, outcomes)
    points = points_table(run)
    folder.remove_outputs()  # of an epsilon, say, that the file had when it was resumed
    write_table(points, target, "points", f"{chosen.title}: pulls and errors at every point.")
    write_trials(run, target)
    drawn = _save_figures(points, chosen.experiments, target / "figures")
    _write_report(chosen, asked, points, drawn, target / "report.html")
    return points


def run_study(study: str | Path | Scenario, **options: Any) -> pd.DataFrame:
    """Run a scenario: the old name of `run_scenario`, for one more version."""
    warnings.warn("run_study is deprecated: use run_scenario", DeprecationWarning, stacklevel=2)
    return run_scenario(study, **options)


def folder_of(scenario: Scenario, out: str | Path | None = None) -> Path:
    """Return where all that is written about a scenario goes."""
    return Path("results", scenario.name) if out is None else Path(out)


def _save_figures(points: pd.DataFrame, experiments: Sequence[Experiment], out: Path) -> dict[str, tuple[str, str]]:
    """Draw the figures, with dollars that stay dollars: to the library that draws, a pair of them is a formula."""

    def plain(words: str) -> str:
        return words.replace("$", r"\$")

    drawn = [
        replace(
            experiment,
            title=plain(experiment.title),
            curves=tuple(replace(curve, label=plain(curve.label)) for curve in experiment.curves),
        )
        for experiment in experiments
    ]
    return save_figures(points.assign(method=points["method"].map(plain)), drawn, out)


# ------------------------------------------------------------------------------------------------------------ report


def _write_report(
    scenario: Scenario, asked: Scenario, points: pd.DataFrame, drawn: Mapping[str, tuple[str, str]], path: Path
) -> None:
    about = (
        f"bestarm {version('bestarm')}; {scenario.trials:,} trials per point, {int(points['trials'].sum()):,} in all; "
    )
    sections = {
        "question": ("The question", _question(scenario)),
        "results": ("Results", _results(scenario, points, drawn)),
        "arms": ("The arms", _arms(scenario)),
        "adversary": ("The adversary", _adversary(scenario)),
        "methods": ("The methods", _methods(scenario)),
        "repeat": ("How to repeat it", _repeat(scenario, asked)),
    }
    notes = _notes(scenario, points)
    if notes:
        before = {name: sections.pop(name) for name in ("question", "results")}
        sections = {**before, "mind": ("What to keep in mind", bullets(notes)), **sections}
    body = "\n".join(f'<h2 id="{anchor}">{head}</h2>\n{part}' for anchor, (head, part) in sections.items())
    contents = []
    for anchor, (head, _) in sections.items():
        contents.append((anchor, head))
        if anchor == "results" and len(scenario.experiments) > 1:
            contents += [(one.name, f"Results at ε = {one.epsilons[0]:g}") for one in scenario.experiments]
    write_page(path, scenario.title, text(f"{about}seed {scenario.seed}"), contents, body)


def _question(scenario: Scenario) -> str:
    first = scenario.experiments[0]
    told = f"sigma = {first.sigma:g}" if first.bounds is None else f"bounds {first.bounds[0]:g} to {first.bounds[1]:g}"
    deltas, epsilons = _listed(first.deltas), _listed(_epsilons(scenario))
    sentences = (
        f"Which of {len(scenario.arms)} arms has the highest mean reward, even if some rewards are replaced? ε says "
        f"how much is replaced ({epsilons}), and δ is the accepted probability of a wrong answer ({deltas}).",
        f"The methods are told ε, δ and, about the rewards, {told}. A trial ends when a method stops, or undecided at "
        f"{first.max_pulls:,} pulls.",
    )
    return "".join(f"<p>{text(sentence)}</p>" for sentence in sentences)


def _results(scenario: Scenario, points: pd.DataFrame, drawn: Mapping[str, tuple[str, str]]) -> str:
    parts = [
        "<p>In the figures K T is the number of pulls that the paper's exploration takes. Every point is in <a href=\""
        'points.csv">points.csv</a> (also .parquet, .tex), every trial in <a href="trials.parquet">trials.parquet</a> '
        "(also .csv.gz), the figures in figures/.</p>"
    ]
    for experiment in scenario.experiments:
        own = points[points["experiment"] == experiment.name]
        if len(scenario.experiments) > 1:
            parts.append(f'<h3 id="{experiment.name}">ε = {experiment.epsilons[0]:g}</h3>')
        described = (
            f"{experiment.title}: mean pulls and error rates of the methods; the numbers are in the table below."
        )
        parts += [
            image(drawn[experiment.name], described),
            "<h4>Mean pulls with 95 % half-width; then, where there were any, trials that were wrong, that named no "
            "winner, that reached the cap</h4>",
            measured(experiment, own),
        ]
    return "\n".join(parts)


def _arms(scenario: Scenario) -> str:
    best = max(arm.mean for arm in scenario.arms)
    rows = [
        [label, law, f"{arm.mean:.6g}", "best" if arm.mean == best else f"{best - arm.mean:.4g}"]
        for label, law, arm in scenario.named_arms
    ]
    more = len(rows) - ARMS_SHOWN
    rest = f"<p>And {more:,} more, which are in the file below.</p>" if more > 0 else ""
    return (
        table(["arm", "law of clean rewards", "true mean", "behind the best"], rows[:ARMS_SHOWN], style="words") + rest
    )


def _adversary(scenario: Scenario) -> str:
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
    return bullets(words)


def _attack_words(name: str) -> str:
    """Return the first sentence on an attack; one that keeps to a share is named after another."""
    base = {"quota-uniform": "benign", "quota-gross": "one-sided-gross"}.get(name, name.removeprefix("quota-"))
    build = getattr(attacks, base.replace("-", "_"), None)
    sentence = (build.__doc__ or "").strip().splitlines()[0] if build else ""
    return f"{sentence} Within a quota for each arm." if base != name else sentence


def _methods(scenario: Scenario) -> str:
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
    return bullets(sentences)


def _notes(scenario: Scenario, points: pd.DataFrame) -> list[str]:
    first = scenario.experiments[0]
    notes = [*_promises(scenario)]
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
    """Say which methods are told of another kind of contamination than the adversary keeps to."""
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


def _repeat(scenario: Scenario, asked: Scenario) -> str:
    words = ["bestarm", "scenario", scenario.file]
    words += ["--trials", str(scenario.trials)] if scenario.trials != asked.trials else []
    words += ["--seed", str(scenario.seed)] if scenario.seed != asked.seed else []
    settings = {
        "command": shlex.join(words),
        f"SHA-256 of {scenario.file}": scenario.sha256,
        "trials per point": f"{scenario.trials:,}",
        "seed": str(scenario.seed),
        **packages(),
    }
    return (
        table(["setting", "value"], [[name, value] for name, value in settings.items()], style="words")
        + f"<p>The file {text(scenario.file)}:</p>"
        + f'<div class="scroll" tabindex="0"><pre style="{PRE}">{text(scenario.text)}</pre></div>'
    )


def _epsilons(scenario: Scenario) -> list[float]:
    return [epsilon for experiment in scenario.experiments for epsilon in experiment.epsilons]


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)
