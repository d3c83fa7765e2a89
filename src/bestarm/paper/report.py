"""The report on the paper's experiments: figures first, then the claims by experiment, the readings, all numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pandas as pd

from bestarm.paper.claims import (
    BY_CONSTRUCTION,
    NOT_TESTABLE,
    OVERALL,
    UNDER_ALL,
    UNDER_NONE,
    UNDER_SOME,
    Verdict,
)
from bestarm.paper.comparisons import FAILS, HOLDS, OPEN
from bestarm.paper.findings import findings
from bestarm.paper.full_size import FullSize
from bestarm.paper.full_size_run import FullRun
from bestarm.paper.readings import OURS, READINGS
from bestarm.paper.readings_figure import readings_of
from bestarm.paper.stored_results import NAME as STORED
from bestarm.paper.stored_results import THEIR_TRIALS
from bestarm.scenarios import page
from bestarm.scenarios.experiment import MAX_PULLS, Experiment
from bestarm.scenarios.numbers import gap_ratios, grid_numbers, instance_numbers
from bestarm.scenarios.page import text
from bestarm.scenarios.run import Run

# verdict: style, sign; the sign carries the meaning where the colour can't be seen
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
PAPER = (
    "Mukherjee, Tajer, Chen and Das, <i>Mean-based Best Arm Identification in Stochastic Bandits under Reward "
    "Contamination</i> (NeurIPS 2021)."
)


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
    names = ", ".join([*listed, *([STORED] if paper and len(paper.stored) else [])])
    asked = "" if paper else " asked for"
    about = (
        f"{PAPER} Made by <code>bestarm reproduce</code>, version {version('bestarm')}: {text(names)}; "
        f"{parts[0].trials:,} trials per point{asked}, seed {parts[0].seed}."
    )
    contents: list[tuple[str, str]] = []
    body = []
    if paper:
        contents += _contents(paper)
        body.append(_paper(paper))
    if full:
        contents += [("full-size", "Real data at full size")]
        body.append(_full(full))
    contents.append(("settings", "Settings"))
    body.append(f'<h2 id="settings">Settings</h2>\n{_settings(paper, full)}')
    if paper and not paper.verdicts and paper.run.experiments:
        title = "Variations of the paper's experiments"
    else:
        title = "The paper's experiments, repeated" if paper else "The paper's methods on real data at full size"
    page.write_page(path, title, about, contents, "\n".join(body))


def _contents(part: PaperPart) -> list[tuple[str, str]]:
    experiments = part.run.experiments
    if not experiments:
        return [("stored-2022", "Stored results of 2022")]
    found = [("figures", "The figures"), *((e.name, f"{e.name}: {e.title}") for e in experiments)]
    if part.verdicts:
        found = [
            ("counts", "In short"),
            *found,
            ("claims", "The claims, by experiment"),
            ("readings", "The readings"),
        ]
    found += [("stored-2022", "Stored results of 2022")] if len(part.stored) else []
    return [*found, ("numbers", "All numbers")]


def _paper(part: PaperPart) -> str:
    if not part.run.experiments:
        return _stored(part.stored)
    template = page.template("bestarm.paper", "report-paper")
    counts, sentences = _counts(part) if part.verdicts else (_variation(part.run.experiments), "")
    return template.substitute(
        figures="\n".join(_figure(experiment, part) for experiment in part.run.experiments),
        numbers="\n".join(_experiment(experiment, part) for experiment in part.run.experiments),
        counts=counts,
        claims=(_claims(part.verdicts, sentences) + _readings(part) if part.verdicts else "") + _stored(part.stored),
    )


def _variation(experiments: Sequence[Experiment]) -> str:
    return page.bullets(
        f"{experiment.name}: {experiment.figure}. The paper says nothing about these settings, so no claim is judged."
        for experiment in experiments
    )


# ------------------------------------------------------------------------------------------------------------ counts


def _counts(part: PaperPart) -> tuple[str, str]:
    """Return the counts with the findings, and sentences on what is behind them."""
    counts = Counter(verdict.overall for verdict in part.verdicts)
    partly = Counter(verdict.overall for verdict in part.verdicts if verdict.under(OPEN))
    boxes = "".join(
        f'<li><b class="{MARKS[name][0]}">{counts[name]}</b>{MARKS[name][1]} {name}'
        + (f'<br><span class="soft">{partly[name]} of them with readings left open</span>' if name in DECIDED else "")
        + "</li>"
        for name in OVERALL
    )
    sentences = [
        f"{len(part.verdicts)} claims of the paper were tested on {len(part.run.outcomes):,} simulated points, each "
        "under every reading of the text that makes a difference to it. A reading that its trials leave open is not "
        'counted: "all" means all that were decided. Each claim lists them.',
        _certified(part.points),
        _cut(part.readings),
    ]
    found = findings(part.verdicts, part.points, part.run.experiments, part.stored)
    return f'<ul class="counts">{boxes}</ul>{page.bullets(found)}', page.bullets(filter(None, sentences))


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


# ------------------------------------------------------------------------------------------------------------ claims


def _claims(verdicts: Sequence[Verdict], sentences: str) -> str:
    parts = [page.template("bestarm.paper", "report-claims").substitute(sentences=sentences)]
    names = dict.fromkeys(verdict.claim.experiment for verdict in verdicts)
    for name in names:
        rows = "".join(_claim(verdict) for verdict in verdicts if verdict.claim.experiment == name)
        head = '<thead><tr><th scope="col">all readings together</th><th scope="col">claim</th>'
        head += '<th scope="col">what was found under each reading</th></tr></thead>'
        parts.append(
            f'<h3 id="claims-{name}">{name}</h3>\n<div class="scroll"><table class="claims">{head}<tbody>{rows}</tbody>'
            "</table></div>"
        )
    return "\n".join(parts)


def _claim(verdict: Verdict) -> str:
    claim = verdict.claim
    style, sign = MARKS[verdict.overall]
    notes = [claim.note, f"By construction: {claim.by_construction}" if claim.by_construction else ""]
    note = "".join(f'<br><span class="soft">{text(words)}</span>' for words in notes if words)
    lines = "".join(
        f'<li><span class="{MARKS[finding.verdict][0]}">{MARKS[finding.verdict][1]}</span> <b>{text(name)}</b>: '
        f"{text(finding.measured)}</li>"
        for name, finding in verdict.findings.items()
    )
    left = len(verdict.under(OPEN))
    more = f'<br><span class="soft">{left} open</span>' if left and verdict.overall in DECIDED else ""
    return (
        f'<tr><td class="verdict {style}">{sign} {text(verdict.overall)}{more}</td>'
        f'<td><b>{text(claim.text)}</b><br><q>{text(claim.quote)}</q> <span class="soft">({text(claim.where)})</span>'
        f'{note}<br><span class="soft">Test: {text(claim.check.how)}.</span></td>'
        f'<td><ul class="found">{lines}</ul></td></tr>'
    )


def _readings(part: PaperPart) -> str:
    rows = []
    for reading in READINGS:
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
    return (
        '<h2 id="readings">The readings</h2>\n<p>Each is one change from ours; the last three columns count the '
        "claims that it makes a difference to. Ours has all the trials asked for; the others have a share of them, and "
        "at least as many as it takes to show, if none is wrong, that errors are rarer than δ. Where several "
        "adversaries share the trials, verdicts are about their average.</p>\n"
        + page.table(head, rows, style="words stack")
    )


def _stored(stored: pd.DataFrame) -> str:
    if stored.empty:
        return ""
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
    return (
        f'<h2 id="{STORED}">Stored results of 2022</h2>\n<p>A public course project by the paper\'s first author ran '
        "Algorithm 2 as a baseline and stored mean pulls. It is not the code of the paper, but the nearest that there "
        "is. Beside its numbers are ours, from simulations that follow the facts of its code (the reading "
        f"“first author's code”): means 5, 4.5, 1, 1 with K = 5 in the radius, and four compounds of PKIS2 with log "
        "percent control -0.1278, -0.2877, -0.9676, -1.4697; ε = 0.1, σ = 1. Its counter starts at 1, so ours "
        f"are mean pulls plus 1. The error of the difference takes its {THEIR_TRIALS} trials to be spread as ours "
        "are. A row that is not within 3 such errors was made by something that we do not know.</p>\n"
        + page.table(head, rows)
    )


# ----------------------------------------------------------------------------------------------------------- figures


def _figure(experiment: Experiment, part: PaperPart) -> str:
    means = ", ".join(f"{mean:.4g}" for mean in experiment.means)
    told = f"σ = {experiment.sigma:g}" if experiment.bounds is None else f"rewards in {list(experiment.bounds)}"
    about = [f"Means {means}; {told}. {experiment.figure}."]
    about += [f"Source: {experiment.source}."] if experiment.source else []
    about.append(ratio_words(experiment, part.run.seed))
    return (
        f'<h3 id="{experiment.name}">{experiment.name}: {text(experiment.title)}</h3>\n'
        + page.image(part.figures[experiment.name], _described(experiment, "the paper's methods"))
        + f'\n<p class="soft">{text(" ".join(about))}</p>'
    )


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


def _experiment(experiment: Experiment, part: PaperPart) -> str:
    own = part.points[part.points["experiment"] == experiment.name]
    name = experiment.name
    parts = [f'<h3 id="numbers-{name}">{name}: {text(experiment.title)}</h3>']
    if f"{name}-ours" in part.figures:
        what = "the shorter exploration and the certified method"
        parts.append(page.image(part.figures[f"{name}-ours"], _described(experiment, what)))
    heading = "Mean pulls with 95 % half-width; wrong answers, where there were any; trials that named none"
    parts += [f"<h4>{heading}</h4>", page.measured(experiment, own)]
    if f"{name}-readings" in part.figures:
        parts += [
            "<h4>Under each reading</h4>",
            page.image(
                part.figures[f"{name}-readings"], _described(experiment, "the paper's methods under each reading")
            ),
            _under_readings(experiment, part),
        ]
    parts += ["<h4>The paper's numbers, recomputed (with U = 0)</h4>", _numbers(experiment)]
    if experiment.choices:
        parts += ["<h4>What the text leaves open</h4>", page.bullets(experiment.choices)]
    return "\n".join(parts)


def _under_readings(experiment: Experiment, part: PaperPart) -> str:
    symbol = "ε" if experiment.sweep == "epsilon" else "δ"
    values = [epsilon if experiment.sweep == "epsilon" else delta for delta, epsilon in experiment.grid]
    rows = []
    own = part.readings[part.readings["experiment"] == experiment.name]
    for reading, other in readings_of(experiment):
        for curve in other.curves:
            found = own[(own["reading"] == reading.name) & (own["method"] == curve.label)]
            found = found.set_index(experiment.sweep).loc[values]
            ratio = f"{float(found['gap_ratio'].iloc[0]):.2f}"
            rows.append([reading.name, ratio, curve.label, *(page.cell(row) for _, row in found.iterrows())])
    head = ["reading", "smallest gap, observed / true", "method", *(f"{symbol} = {value:g}" for value in values)]
    return page.table(head, rows)


def _numbers(experiment: Experiment) -> str:
    numbers = instance_numbers(experiment)
    shown = [name for name in NUMBERS if experiment.covered or name.startswith(("T", "K_"))]
    facts = (
        f"Gap {numbers['gap']:.4g}. H, T* and the bounds are for normal arms whose standard deviation is σ: they say "
        "nothing about these arms, and are left out."
    )
    if experiment.covered:
        facts = _bound_words(experiment, numbers)
    rows = []
    for values in experiment.grid:
        row = grid_numbers(experiment, *values)
        cells = [f"{row[name]:,.1f}" if name == "T" else _number(row[name]) for name in shown]
        rows.append([f"δ = {values[0]:g}, ε = {values[1]:g}", *cells])
    return f'<p class="soft">{facts}</p>' + page.table(["", *(NUMBERS[name] for name in shown)], rows)


def _bound_words(experiment: Experiment, numbers: Mapping[str, float]) -> str:
    return (
        f"Gap {numbers['gap']:.4g}; H = {numbers['H']:.4g}; T* = {numbers['T_star']:.4g}, the exact characteristic "
        "time of Gaussian arms (Garivier and Kaufmann 2016); smallest gap that the worst adversary can't hide between "
        f"Gaussian arms at ε = {max(experiment.epsilons):g}: {numbers['hidden_gap']:.3g}, so H with that U is "
        f"{_number(numbers['H_worst_case'])}. kl(δ, 1-δ) is the relative entropy of coins with δ and 1-δ."
    )


# --------------------------------------------------------------------------------------------------------- full size


def _full(part: FullSizePart) -> str:
    sections = [_full_experiment(experiment, part) for experiment in part.run.experiments]
    return (
        '<h2 id="full-size">Real data at full size</h2>\n<p>This goes beyond the paper, which takes four arms of each '
        "data set: here are all of them. A trial takes seconds, so 2 % or fewer of the trials asked for are run; the "
        "numbers in the bars count them. Arms are numbered by rank: the truly best is #1.</p>\n" + "\n".join(sections)
    )


def _full_experiment(experiment: FullSize, part: FullSizePart) -> str:
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
    return "\n".join(
        [
            f'<h3 id="{experiment.name}">{experiment.name}: {text(experiment.title)}</h3>',
            f'<p class="soft">{text(f"{experiment.source}. {rates}.")}</p>',
            page.bullets([f"{attack.name}: {attack.words}." for attack in experiment.attacks]),
            page.image(part.figures[experiment.name], described),
            page.table(head, rows),
            page.bullets(experiment.notes),
        ]
    )


# ---------------------------------------------------------------------------------------------------------- settings


def _settings(paper: PaperPart | None, full: FullSizePart | None) -> str:
    if paper is None:
        assert full is not None
        shown = {"trials asked for": f"{full.run.trials:,}", "seed": str(full.run.seed)}
        return page.table(["setting", "value"], ({**shown, **page.packages()}).items(), style="words")
    run = paper.run
    shown = {
        "trials per point": f"{run.trials:,}",
        "seed": str(run.seed),
        "largest number of pulls in a trial": f"{MAX_PULLS:,}, unless the reading says otherwise",
        "simulated pulls": f"{sum(int(trials.pulls.sum()) for trials in run.outcomes.values()):,}",
    }
    rows = []
    for experiment in run.experiments:
        for reading, other in readings_of(experiment) if paper.verdicts else [(OURS, OURS.of(experiment))]:
            if reading is OURS or other.adversary != experiment.adversary:
                rows.append([experiment.name, reading.name, other.adversary.words, ratio_words(other, run.seed)])
    centres = [[experiment.name, _centres(experiment, run.seed)] for experiment in run.experiments]
    return (
        page.table(["setting", "value"], ({**shown, **page.packages()}).items(), style="words")
        + "<h4>The adversaries</h4>"
        + page.table(["experiment", "reading", "contaminated rewards are", "what that does"], rows, style="words stack")
        + "<h4>The centres of our adversary, one per arm</h4>"
        + page.table(["experiment", "centres"], centres, style="words")
        + '<p class="soft">Trials of all methods at one place of a grid use the same seeds. Equal points of two '
        "figures were simulated once. Every point and trial of the figures is in the tables beside this file, as CSV, "
        "Parquet and (points, readings, claims) LaTeX.</p>"
    )


def _centres(experiment: Experiment, seed: int) -> str:
    adversary = experiment.adversaries(seed)[0]
    assert adversary is not None
    return ", ".join(f"{centre:.3f}" for centre in adversary.pieces[0].a)


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:,.0f}" if value >= 1000.0 else f"{value:.4g}"
