"""The report on the paper's experiments: figures first, then the claims by experiment, the readings, all numbers.

This module makes the data; `templates/report.html.j2` has the words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from bestarm.paper.claims import BY_CONSTRUCTION, NOT_TESTABLE, OVERALL, UNDER_ALL, UNDER_NONE, UNDER_SOME, Verdict
from bestarm.paper.comparisons import FAILS, HOLDS, OPEN
from bestarm.paper.findings import findings
from bestarm.paper.full_size import FullSize
from bestarm.paper.full_size_run import FullRun
from bestarm.paper.readings import OURS, READINGS
from bestarm.paper.readings_figure import readings_of
from bestarm.paper.stored_results import NAME as STORED
from bestarm.paper.stored_results import THEIR_TRIALS
from bestarm.scenarios.experiment import MAX_PULLS, Experiment
from bestarm.scenarios.numbers import gap_ratios, grid_numbers, instance_numbers
from bestarm.scenarios.page import PageTable, Picture, axis_of, cell, measured, settings_table, write_page
from bestarm.scenarios.run import Run

# How a verdict is shown: style and sign. The sign carries the meaning where the colour can't be seen.
MARKS = {
    UNDER_ALL: ("holds", "✓"),
    UNDER_SOME: ("some", "◐"),
    UNDER_NONE: ("fails", "✗"),
    NOT_TESTABLE: ("open", "?"),
    BY_CONSTRUCTION: ("open", "="),
    OPEN: ("open", "?"),
    HOLDS: ("holds", "✓"),
    FAILS: ("fails", "✗"),
}
DECIDED = (UNDER_ALL, UNDER_SOME, UNDER_NONE)
NUMBERS = {
    "T": "T",
    "K_T": "K T",
    "K_T_chernoff": "K T, chernoff",
    "lower_bound": "H log(1/δ)",
    "lower_bound_exact": "kl(δ, 1-δ) T*",
    "upper_bound_g_cbai": "upper bound, g-cbai",
    "upper_bound_se_cbai": "upper bound, se-cbai",
}


@dataclass(frozen=True)
class PaperPart:
    """The paper's experiments: what was run, its points, those under each reading, verdicts, and SVG texts by name.

    `stored` has the results of 2022 beside ours; it is empty if they were not asked for.
    """

    run: Run
    points: pd.DataFrame
    readings: pd.DataFrame
    verdicts: Sequence[Verdict]
    figures: Mapping[str, tuple[str, str]]
    stored: pd.DataFrame


@dataclass(frozen=True)
class FullSizePart:
    """The full-size experiments: what was run, its table, and SVG texts, wide and tall."""

    run: FullRun
    table: pd.DataFrame
    figures: Mapping[str, tuple[str, str]]


def write_report(paper: PaperPart | None, full: FullSizePart | None, path: Path) -> None:
    """Write the report on one or both kinds of experiments to a file."""
    parts = [part.run for part in (paper, full) if part is not None]
    listed = [experiment.name for run in parts for experiment in run.experiments]
    write_page(
        path,
        "bestarm.paper",
        "report.html.j2",
        title=_title(paper),
        contents=_contents(paper, full),
        version=version("bestarm"),
        names=", ".join([*listed, *([STORED] if paper and len(paper.stored) else [])]),
        trials=f"{parts[0].trials:,}",
        seed=parts[0].seed,
        paper=None if paper is None else _paper_page(paper),
        full=[] if full is None else [_full_size_section(experiment, full) for experiment in full.run.experiments],
        settings=_settings(paper, parts[0]),
        marks=MARKS,
        decided=DECIDED,
        open=OPEN,
        their_trials=THEIR_TRIALS,
    )


def _title(paper: PaperPart | None) -> str:
    if paper is None:
        return "The paper's methods on real data at full size"
    varied = not paper.verdicts and paper.run.experiments
    return "Variations of the paper's experiments" if varied else "The paper's experiments, repeated"


def _contents(paper: PaperPart | None, full: FullSizePart | None) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    if paper and paper.run.experiments:
        found += [("counts", "In short")] if paper.verdicts else []
        found += [("figures", "The figures"), *((e.name, f"{e.name}: {e.title}") for e in paper.run.experiments)]
        found += [("claims", "The claims, by experiment"), ("readings", "The readings")] if paper.verdicts else []
    found += [(STORED, "Stored results of 2022")] if paper and len(paper.stored) else []
    found += [("numbers", "All numbers")] if paper and paper.run.experiments else []
    found += [("full-size", "Real data at full size")] if full else []
    return [*found, ("settings", "Settings")]


# ------------------------------------------------------------------------------------------- the paper's experiments


def _paper_page(part: PaperPart) -> dict[str, Any]:
    """Return what the page says about the paper's experiments. Counts and claims are empty for a variation."""
    experiments = part.run.experiments
    counts = Counter(verdict.overall for verdict in part.verdicts)
    partly = Counter(verdict.overall for verdict in part.verdicts if verdict.under(OPEN))  # with readings left open
    names = dict.fromkeys(verdict.claim.experiment for verdict in part.verdicts)
    centres = [[experiment.name, _centres(experiment, part.run.seed)] for experiment in experiments]
    return {
        "experiments": experiments,
        "counts": [(name, counts[name], partly[name]) for name in OVERALL] if part.verdicts else [],
        "findings": _findings(part),
        "sentences": _sentences(part),
        "figures": {experiment.name: _figure_section(experiment, part) for experiment in experiments},
        "claims": [(name, [one for one in part.verdicts if one.claim.experiment == name]) for name in names],
        "readings": _readings(part),
        "stored": _stored(part.stored) if len(part.stored) else None,
        "numbers": {experiment.name: _numbers_section(experiment, part) for experiment in experiments},
        "adversaries": _adversaries(part),
        "centres": PageTable(["experiment", "centres"], centres, style="words"),
    }


def _findings(part: PaperPart) -> list[str]:
    if part.verdicts:
        return list(findings(part.verdicts, part.points, part.run.experiments, part.stored))
    silent = "The paper says nothing about these settings, so no claim is judged."
    return [f"{experiment.name}: {experiment.figure}. {silent}" for experiment in part.run.experiments]


def _sentences(part: PaperPart) -> list[str]:
    """Return what to know about the counts."""
    if not part.verdicts:
        return []
    sentences = [
        f"{len(part.verdicts)} claims of the paper were tested on {len(part.run.outcomes):,} simulated points, each "
        "under every reading of the text that makes a difference to it. A reading that its trials leave open is not "
        'counted: "all" means all that were decided. Each claim lists them.',
        _certified(part.points),
        _cut(part.readings),
    ]
    return [sentence for sentence in sentences if sentence]


def _certified(points: pd.DataFrame) -> str:
    part = points[points["variant"] == "certified"]
    shares = part.groupby("experiment", sort=False)["indistinguishable"].mean()
    shown = ", ".join(f"{name} {100.0 * share:.0f} %" for name, share in shares.items())
    wrong = part[part["error_low"] > part["delta"]]
    broken = ", ".join(dict.fromkeys(wrong["experiment"]))
    sentence = f"Our certified method stopped without naming a winner in these shares of its trials: {shown}."
    if broken:
        sentence += f" In {broken} it is wrong more often than δ: no σ covers those arms, so nothing is promised there."
    return sentence


def _cut(readings: pd.DataFrame) -> str:
    part = readings[readings["undecided"] > 0.0]
    if part.empty:
        return ""
    shares = part.groupby("reading", sort=False)["undecided"].max()
    where = ", ".join(f"{name} (up to {100.0 * share:.1f} % of a point's trials)" for name, share in shares.items())
    return f"Trials were cut by the cap on their pulls under {where}; the tables show where. Their means are too small."


def _readings(part: PaperPart) -> PageTable:
    rows = []
    for reading in READINGS if part.verdicts else ():
        counts = Counter(v.findings[reading.name].verdict for v in part.verdicts if reading.name in v.findings)
        own = part.readings[part.readings["reading"] == reading.name]
        if own.empty:
            continue
        trials = own.groupby(["experiment", "delta", "epsilon"])["trials"].min()  # what verdicts use
        span = f"{trials.min():,}" if trials.min() == trials.max() else f"{trials.min():,} to {trials.max():,}"
        rows.append(
            [reading.name, reading.about, reading.words, span, *(str(counts[name]) for name in (HOLDS, FAILS, OPEN))]
        )
    head = ["reading", "of what", "it takes the text to mean", "trials per point", "hold", "do not", "open"]
    return PageTable(head, rows, style="words stack")


def _stored(stored: pd.DataFrame) -> PageTable:
    head = ["arms", "method", "δ", "theirs", "ours", "standard error", "difference / its error", "within 3", "wrong"]
    rows = [
        [
            row["arms"],
            row["method"],
            f"{row['delta']:g}",
            f"{row['theirs']:,.2f}",
            f"{row['ours']:,.2f}",
            f"{row['standard_error']:,.2f}",
            f"{row['difference']:+.1f}",
            "yes" if row["within"] else "no",
            f"{row['wrong']} of {row['trials']:,}",
        ]
        for _, row in stored.iterrows()
    ]
    return PageTable(head, rows)


def _figure_section(experiment: Experiment, part: PaperPart) -> dict[str, Any]:
    means = ", ".join(f"{mean:.4g}" for mean in experiment.means)
    told = f"σ = {experiment.sigma:g}" if experiment.bounds is None else f"rewards in {list(experiment.bounds)}"
    about = [f"Means {means}; {told}. {experiment.figure}."]
    about += [f"Source: {experiment.source}."] if experiment.source else []
    about.append(ratio_words(experiment, part.run.seed))
    picture = Picture(part.figures[experiment.name], _described(experiment, "the paper's methods"))
    return {"picture": picture, "about": " ".join(about)}


def ratio_words(experiment: Experiment, seed: int) -> str:
    """Say what the adversary does to the smallest gap."""
    ratios = gap_ratios(experiment, seed, max(experiment.epsilons))
    if not ratios:
        return f"Adversary: {experiment.adversary.words}."
    much = f"{np.median(ratios):.2f} times"
    if len(ratios) > 1:
        much += f" (median of {len(ratios)} adversaries; from {min(ratios):.2f} to {max(ratios):.2f})"
    if len(experiment.epsilons) > 1:
        least = gap_ratios(experiment, seed, min(experiment.epsilons))
        much += (
            f" at ε = {max(experiment.epsilons):g}, {np.median(least):.2f} times at ε = {min(experiment.epsilons):g},"
        )
    helps = "; above 1 it helps the best arm" if max(ratios) > 1.0 else ""
    return f"Lead of the best arm over the next in the means of what is observed: {much} the true one{helps}."


def _described(experiment: Experiment, what: str) -> str:
    return f"{experiment.title}: mean pulls and error rates of {what}; the numbers are in the tables below."


def _numbers_section(experiment: Experiment, part: PaperPart) -> dict[str, Any]:
    """Return all numbers of an experiment: figures of our methods and readings, what was measured and recomputed."""
    pictures = {
        name: Picture(part.figures[f"{experiment.name}-{name}"], _described(experiment, what))
        for name, what in (
            ("ours", "the shorter exploration and the certified method"),
            ("readings", "the paper's methods under each reading"),
        )
        if f"{experiment.name}-{name}" in part.figures
    }
    return {
        "pictures": pictures,
        "measured": measured(experiment, part.points[part.points["experiment"] == experiment.name]),
        "readings": _under_readings(experiment, part) if "readings" in pictures else None,
        "facts": _facts(experiment),
        "recomputed": _recomputed(experiment),
    }


def _under_readings(experiment: Experiment, part: PaperPart) -> PageTable:
    symbol, values = axis_of(experiment)
    rows = []
    own = part.readings[part.readings["experiment"] == experiment.name]
    for reading, other in readings_of(experiment):
        for curve in other.curves:
            found = own[(own["reading"] == reading.name) & (own["method"] == curve.label)]
            found = found.set_index(experiment.sweep).loc[values]
            ratio = f"{float(found['gap_ratio'].iloc[0]):.2f}"
            rows.append([reading.name, ratio, curve.label, *(cell(row) for _, row in found.iterrows())])
    head = ["reading", "smallest gap, observed / true", "method", *(f"{symbol} = {value:g}" for value in values)]
    return PageTable(head, rows)


def _recomputed(experiment: Experiment) -> PageTable:
    shown = [name for name in NUMBERS if experiment.covered or name.startswith(("T", "K_"))]
    rows = []
    for values in experiment.grid:
        row = grid_numbers(experiment, *values)
        cells = [f"{row[name]:,.1f}" if name == "T" else _number(row[name]) for name in shown]
        rows.append([f"δ = {values[0]:g}, ε = {values[1]:g}", *cells])
    return PageTable(["", *(NUMBERS[name] for name in shown)], rows)


def _facts(experiment: Experiment) -> str:
    numbers = instance_numbers(experiment)
    if not experiment.covered:
        return (
            f"Gap {numbers['gap']:.4g}. H, T* and the bounds are for normal arms whose standard deviation is σ: they "
            "say nothing about these arms, and are left out."
        )
    return (
        f"Gap {numbers['gap']:.4g}; H = {numbers['H']:.4g}; T* = {numbers['T_star']:.4g}, the exact characteristic "
        "time of Gaussian arms (Garivier and Kaufmann 2016); smallest gap that the worst adversary can't hide between "
        f"Gaussian arms at ε = {max(experiment.epsilons):g}: {numbers['hidden_gap']:.3g}, so H with that U is "
        f"{_number(numbers['H_worst_case'])}. kl(δ, 1-δ) is the relative entropy of coins with δ and 1-δ."
    )


def _adversaries(part: PaperPart) -> PageTable:
    rows = []
    for experiment in part.run.experiments:
        for reading, other in readings_of(experiment) if part.verdicts else [(OURS, OURS.of(experiment))]:
            if reading is OURS or other.adversary != experiment.adversary:
                rows.append([experiment.name, reading.name, other.adversary.words, ratio_words(other, part.run.seed)])
    head = ["experiment", "reading", "contaminated rewards are", "what that does"]
    return PageTable(head, rows, style="words stack")


def _centres(experiment: Experiment, seed: int) -> str:
    adversary = experiment.adversaries(seed)[0]
    assert adversary is not None
    return ", ".join(f"{centre:.3f}" for centre in adversary.pieces[0].a)


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:,.0f}" if value >= 1000.0 else f"{value:.4g}"


# --------------------------------------------------------------------------------------------------------- full size


def _full_size_section(experiment: FullSize, part: FullSizePart) -> dict[str, Any]:
    own = part.table[part.table["experiment"] == experiment.name]
    head = ["attack, method", "trials", "what came of them", "mean pulls", "cap", "arms named"]
    rows = [
        [
            f"{row['attack']}\n{row['method']}",
            str(row["trials"]),
            row["verdict"].replace(", ", "\n"),
            f"{'≥ ' if row['mean_is_lower_bound'] else ''}{row['mean_pulls']:,.0f}",
            f"{row['max_pulls']:,}",
            row["named"].replace("; ", "\n"),
        ]
        for _, row in own.iterrows()
    ]
    told = ", ".join(f"{name} = {value}" for name, value in experiment.told.items())
    rates = f"ε = {experiment.epsilon:g}, δ = {experiment.delta:g}; the methods are told {told}"
    described = f"{experiment.title}: outcomes of each method's trials under each attack, and their mean pulls."
    return {
        "experiment": experiment,
        "about": f"{experiment.source}. {rates}.",
        "picture": Picture(part.figures[experiment.name], described),
        "outcomes": PageTable(head, rows),
    }


# ---------------------------------------------------------------------------------------------------------- settings


def _settings(paper: PaperPart | None, run: Run | FullRun) -> PageTable:
    if paper is None:
        return settings_table({"trials asked for": f"{run.trials:,}", "seed": str(run.seed)})
    pulls = sum(int(trials.pulls.sum()) for trials in paper.run.outcomes.values())
    return settings_table(
        {
            "trials per point": f"{run.trials:,}",
            "seed": str(run.seed),
            "largest number of pulls in a trial": f"{MAX_PULLS:,}, unless the reading says otherwise",
            "simulated pulls": f"{pulls:,}",
        }
    )
