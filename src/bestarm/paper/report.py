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

from bestarm.experiments import page
from bestarm.experiments.experiment import MAX_PULLS, Experiment
from bestarm.experiments.numbers import gap_ratios, grid_numbers, instance_numbers
from bestarm.experiments.page import text
from bestarm.experiments.run import Run
from bestarm.paper.claims import NOT_TESTABLE, OVERALL, UNDER_ALL, UNDER_NONE, UNDER_SOME, Verdict
from bestarm.paper.comparisons import EQUAL, FAILS, HOLDS, OPEN
from bestarm.paper.experiments import EXPLORING
from bestarm.paper.full_size import FullSize
from bestarm.paper.full_size_run import FullRun
from bestarm.paper.readings import OURS, READINGS
from bestarm.paper.readings_figure import readings_of

# verdict: style, sign; the sign carries the meaning where the colour can't be seen
MARKS = {
    UNDER_ALL: ("holds", "✓"),
    UNDER_SOME: ("some", "◐"),
    UNDER_NONE: ("fails", "✗"),
    NOT_TESTABLE: ("open", "?"),
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
    """The paper's experiments: what was run, its points, those under each reading, verdicts, and SVG texts by name."""

    run: Run
    points: pd.DataFrame
    readings: pd.DataFrame
    verdicts: Sequence[Verdict]
    figures: Mapping[str, tuple[str, str]]


@dataclass(frozen=True)
class FullSizePart:
    """The full-size experiments: what was run, its table, and SVG texts, wide and tall."""

    run: FullRun
    table: pd.DataFrame
    figures: Mapping[str, tuple[str, str]]


def write_report(paper: PaperPart | None, full: FullSizePart | None, path: Path) -> None:
    """Write the report on one or both kinds of experiments to a file."""
    parts = [part.run for part in (paper, full) if part is not None]
    names = ", ".join(experiment.name for run in parts for experiment in run.experiments)
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
    if paper and not paper.verdicts:
        title = "Variations of the paper's experiments"
    else:
        title = "The paper's experiments, repeated" if paper else "The paper's methods on real data at full size"
    page.write_page(path, title, about, contents, "\n".join(body))


def _contents(part: PaperPart) -> list[tuple[str, str]]:
    experiments = part.run.experiments
    found = [("figures", "The figures"), *((e.name, f"{e.name}: {e.title}") for e in experiments)]
    if part.verdicts:
        found = [
            ("counts", "In short"),
            *found,
            ("claims", "The claims, by experiment"),
            ("readings", "The readings"),
        ]
    return [*found, ("numbers", "All numbers")]


def _paper(part: PaperPart) -> str:
    template = page.template("bestarm.paper", "report-paper")
    counts, sentences = _counts(part) if part.verdicts else (_variation(part.run.experiments), "")
    return template.substitute(
        figures="\n".join(_figure(experiment, part) for experiment in part.run.experiments),
        numbers="\n".join(_experiment(experiment, part) for experiment in part.run.experiments),
        counts=counts,
        claims=_claims(part.verdicts, sentences) + _readings(part) if part.verdicts else "",
    )


def _variation(experiments: Sequence[Experiment]) -> str:
    return page.bullets(
        f"{experiment.name}: {experiment.figure}. The paper says nothing about these settings, so no claim is judged."
        for experiment in experiments
    )


# ------------------------------------------------------------------------------------------------------------ counts


def _counts(part: PaperPart) -> tuple[str, str]:
    """Return the four counts, and sentences on what is behind them."""
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
        _exploration(part.points),
        *_hidden(part.run.experiments),
        _certified(part.points),
        _cut(part.readings),
    ]
    return f'<ul class="counts">{boxes}</ul>', page.bullets(filter(None, sentences))


def _exploration(points: pd.DataFrame) -> str:
    base = points["method"].str.split(" ").str[0]
    part = points[(points["variant"] == "paper") & base.isin(EXPLORING)]
    at = (part["mean_pulls"] / part["K_T"] - 1.0).abs() <= EQUAL
    return (
        "With the forced exploration as printed, T pulls of each of the K arms, the mean number of pulls is within 1 % "
        f"of K T at {int(at.sum())} of {len(part)} points of the paper's methods: there the exploration decides, and "
        "no method can be better than another."
    )


def _hidden(experiments: Sequence[Experiment]) -> list[str]:
    """Say where the two best Gaussian arms are too close for any method, against the worst adversary."""
    found: dict[str, list[str]] = {}
    for experiment in experiments:
        numbers = instance_numbers(experiment)
        if numbers["gap"] <= numbers["hidden_gap"] and all(arm.sigma is not None for arm in experiment.arms):
            sentence = (
                f"the two best means are {numbers['gap']:.3g} apart, and contamination at ε = "
                f"{max(experiment.epsilons):g} can hide gaps up to {numbers['hidden_gap']:.3g} for ever. Methods that "
                "name a winner here rely on a mild adversary."
            )
            found.setdefault(sentence, []).append(experiment.name)
    return [f"{', '.join(names)}: {sentence}" for sentence, names in found.items()]


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
    places = ", ".join(f"{name} (up to {100.0 * share:.1f} % of a point's trials)" for name, share in shares.items())
    return (
        f"Trials were cut by the cap on their pulls under {places}; the tables show where. Their means are too small."
    )


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
    note = f'<br><span class="soft">{text(claim.note)}</span>' if claim.note else ""
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
    places = [epsilon if experiment.sweep == "epsilon" else delta for delta, epsilon in experiment.grid]
    rows = []
    own = part.readings[part.readings["experiment"] == experiment.name]
    for reading, other in readings_of(experiment):
        for curve in other.curves:
            found = own[(own["reading"] == reading.name) & (own["method"] == curve.label)]
            found = found.set_index(experiment.sweep).loc[places]
            ratio = f"{float(found['gap_ratio'].iloc[0]):.2f}"
            rows.append([reading.name, ratio, curve.label, *(page.cell(row) for _, row in found.iterrows())])
    head = ["reading", "smallest gap, observed / true", "method", *(f"{symbol} = {place:g}" for place in places)]
    return page.table(head, rows)


def _numbers(experiment: Experiment) -> str:
    numbers = instance_numbers(experiment)
    facts = (
        f"Gap {numbers['gap']:.4g}; H = {numbers['H']:.4g}; T* = {numbers['T_star']:.4g}, the exact characteristic "
        "time of Gaussian arms (Garivier and Kaufmann 2016); smallest gap that the worst adversary can't hide between "
        f"Gaussian arms at ε = {max(experiment.epsilons):g}: {numbers['hidden_gap']:.3g}, so H with that U is "
        f"{_number(numbers['H_worst_case'])}. kl(δ, 1-δ) is the relative entropy of coins with δ and 1-δ."
    )
    rows = []
    for place in experiment.grid:
        row = grid_numbers(experiment, *place)
        shown = [f"{row['T']:,.1f}", *(_number(row[column]) for column in NUMBERS if column != "T")]
        rows.append([f"δ = {place[0]:g}, ε = {place[1]:g}", *shown])
    return f'<p class="soft">{facts}</p>' + page.table(["", *NUMBERS.values()], rows)


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
