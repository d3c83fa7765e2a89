"""The report: one HTML file with everything in it, which opens without a network."""

from __future__ import annotations

import base64
import html
import math
import platform
import string
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

import pandas as pd

from bestarm.bandits import paper_adversary
from bestarm.paper.claims import Verdict, claims_rows
from bestarm.paper.comparisons import EQUAL, FAILS, HOLDS, OPEN
from bestarm.paper.experiments import MAX_PULLS, Experiment
from bestarm.paper.full_size import FullSize
from bestarm.paper.full_size_run import FullRun
from bestarm.paper.numbers import grid_numbers, instance_numbers
from bestarm.paper.run import Run

# verdict: style, sign; the sign carries the meaning where the colour can't be seen
MARKS = {HOLDS: ("holds", "✓"), FAILS: ("fails", "✗"), OPEN: ("open", "?")}
PACKAGES = ("bestarm", "numpy", "scipy", "numba", "pandas", "pyarrow", "matplotlib")
EXPLORING = ("g-cbai", "se-cbai", "random", "median-se")
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
    """The paper's experiments: what was run, its points, what follows for the claims, and SVG texts, wide and tall."""

    run: Run
    points: pd.DataFrame
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
    page = _template("report").substitute(
        title="The paper's experiments, repeated" if paper else "The paper's methods on real data at full size",
        version=version("bestarm"),
        what=f"{names}; {parts[0].trials:,} trials a point{'' if paper else ' asked for'}, seed {parts[0].seed}",
        paper=_paper(paper) if paper else "",
        full=_full(full) if full else "",
        settings=_settings(paper, full),
    )
    path.write_text(page, encoding="utf-8")


def _paper(part: PaperPart) -> str:
    return _template("report-paper").substitute(
        summary=_summary(part.run, part.points, part.verdicts),
        claims=_claims(part.verdicts),
        figures="\n".join(_experiment(experiment, part.points, part.figures) for experiment in part.run.experiments),
    )


def _template(name: str) -> string.Template:
    text = files("bestarm.paper").joinpath(f"{name}.html.template").read_text(encoding="utf-8")
    return string.Template(text)


# ----------------------------------------------------------------------------------------------------------- summary


def _summary(run: Run, points: pd.DataFrame, verdicts: Sequence[Verdict]) -> str:
    counts = Counter(verdict.finding.verdict for verdict in verdicts)
    boxes = "".join(
        f'<li><b class="{style}">{counts[name]}</b>{sign} {name}</li>' for name, (style, sign) in MARKS.items()
    )
    sentences = [f"{len(verdicts)} claims were tested on {len(run.outcomes)} simulated points.", _exploration(points)]
    sentences += [*_hidden(run.experiments), _certified(points), _cut(points)]
    return f'<ul class="counts">{boxes}</ul>' + _list(filter(None, sentences))


def _exploration(points: pd.DataFrame) -> str:
    base = points["method"].str.split(" ").str[0]
    part = points[(points["variant"] == "paper") & base.isin(EXPLORING)]
    at = (part["mean_pulls"] / part["K_T"] - 1.0).abs() <= EQUAL
    return (
        f"At {int(at.sum())} of {len(part)} points of the paper's methods with a forced exploration, the mean number "
        "of pulls is within 1 % of K T: there the exploration decides, and no method can be better than another."
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
    return f"The certified method stopped without naming a winner in these shares of its trials: {shown}."


def _cut(points: pd.DataFrame) -> str:
    part = points[points["undecided"] > 0.0]
    rows = part[["experiment", "method", "undecided"]].itertuples(index=False, name=None)
    places = ", ".join(f"{name} {method} {100.0 * float(share):.1f} %" for name, method, share in rows)
    return f"Trials cut at {MAX_PULLS:,} pulls (their means are too small): {places}." if places else ""


# ------------------------------------------------------------------------------------------------------------ claims


def _claims(verdicts: Sequence[Verdict]) -> str:
    rows = []
    for row in claims_rows(verdicts):
        style, sign = MARKS[row["verdict"]]
        rows.append(
            f'<tr><td>{row["experiment"]}</td><td class="verdict {style}">{sign} {row["verdict"]}</td>'
            f'<td>{_text(row["claim"])}<br><span class="soft">{_text(row["where"])}</span></td>'
            f'<td>{_text(row["measured"])}</td><td class="soft">{_text(row["test"])}</td></tr>'
        )
    head = "<thead><tr><th>experiment</th><th>verdict</th><th>claim</th><th>measured</th><th>test</th></tr></thead>"
    return f'<div class="scroll"><table class="claims">{head}<tbody>{"".join(rows)}</tbody></table></div>'


# ----------------------------------------------------------------------------------------------------------- figures


def _experiment(experiment: Experiment, points: pd.DataFrame, figures: Mapping[str, tuple[str, str]]) -> str:
    own = points[points["experiment"] == experiment.name]
    means = ", ".join(f"{mean:.4g}" for mean in experiment.means)
    about = [f"Means {means}; sigma = {experiment.sigma:g}. {experiment.figure}."]
    about += [f"Source: {experiment.source}."] if experiment.source else []
    parts = [
        f'<h3 id="{experiment.name}">{experiment.name}: {_text(experiment.title)}</h3>',
        f'<p class="soft">{_text(" ".join(about))}</p>',
        _picture(experiment, figures[experiment.name], "the paper's methods"),
        _picture(experiment, figures[f"{experiment.name}-ours"], "the shorter exploration and the certified method"),
        "<h4>Mean pulls with 95 % half-width; wrong answers, where there were any; trials that named no winner</h4>",
        _measured(experiment, own),
        "<h4>The paper's numbers, recomputed (with U = 0)</h4>",
        _numbers(experiment),
        "<h4>What the text leaves open</h4>",
        _list(experiment.choices),
    ]
    return "\n".join(parts)


def _picture(experiment: Experiment, texts: tuple[str, str], what: str) -> str:
    return _image(
        texts, f"{experiment.title}: mean pulls and error rates of {what}; the numbers are in the table below."
    )


def _image(texts: tuple[str, str], described: str) -> str:
    wide, tall = texts
    return (
        f'<figure><picture><source media="(max-width: 700px)" srcset="{_data(tall)}">'
        f'<img src="{_data(wide)}" alt="{_text(described)}"></picture></figure>'
    )


def _data(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _measured(experiment: Experiment, own: pd.DataFrame) -> str:
    symbol = "ε" if experiment.sweep == "epsilon" else "δ"
    places = [epsilon if experiment.sweep == "epsilon" else delta for delta, epsilon in experiment.grid]
    rows = []
    for curve in experiment.curves:
        part = own[own["method"] == curve.label].set_index(experiment.sweep).loc[places]
        rows.append([curve.label, *(_cell(row) for _, row in part.iterrows())])
    return _table(["method", *(f"{symbol} = {place:g}" for place in places)], rows)


def _cell(row: pd.Series) -> str:
    text = f"{row['mean_pulls']:,.0f}"
    if row["standard_error"] > 0.0:
        text += f" ± {1.96 * row['standard_error']:,.0f}"
    notes = (("wrong", "error_rate"), ("no winner", "indistinguishable"), ("at the cap", "undecided"))
    return "\n".join([text, *(f"{name} {100.0 * row[column]:.3g} %" for name, column in notes if row[column] > 0.0)])


def _numbers(experiment: Experiment) -> str:
    numbers = instance_numbers(experiment)
    facts = (
        f"Gap {numbers['gap']:.4g}; H = {numbers['H']:.4g}; T* = {numbers['T_star']:.4g}; smallest gap that the worst "
        f"adversary can't hide from Gaussian arms at ε = {max(experiment.epsilons):g}: {numbers['hidden_gap']:.3g}, so "
        f"H with that U is {_number(numbers['H_worst_case'])}."
    )
    rows = []
    for place in experiment.grid:
        row = grid_numbers(experiment, *place)
        shown = [f"{row['T']:,.1f}", *(_number(row[column]) for column in NUMBERS if column != "T")]
        rows.append([f"δ = {place[0]:g}, ε = {place[1]:g}", *shown])
    return f'<p class="soft">{facts}</p>' + _table(["", *NUMBERS.values()], rows)


# --------------------------------------------------------------------------------------------------------- full size


def _full(part: FullSizePart) -> str:
    sections = [_full_experiment(experiment, part) for experiment in part.run.experiments]
    return (
        '<h2 id="full-size">Real data at full size</h2>\n<p>Beyond the paper, which takes four arms of each data set: '
        "all of them. A trial takes seconds, so that 2 % or fewer of the trials asked for are run; numbers in the bars "
        "count them. Arms are numbered by rank, the truly best is #1.</p>\n" + "\n".join(sections)
    )


def _full_experiment(experiment: FullSize, part: FullSizePart) -> str:
    own = part.table[part.table["experiment"] == experiment.name]
    head = ["attack, method", "trials", "what came of them", "mean pulls", "cap", "arms named"]
    rows = [
        [
            f"{row['attack']}\n{row['method']}",
            str(row["trials"]),
            row["verdict"].replace(", ", "\n"),
            f"{row['mean_pulls']:,.0f}",
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
            f'<h3 id="{experiment.name}">{experiment.name}: {_text(experiment.title)}</h3>',
            f'<p class="soft">{_text(f"{experiment.source}. {rates}.")}</p>',
            _list([f"{attack.name}: {attack.words}." for attack in experiment.attacks]),
            _image(part.figures[experiment.name], described),
            _table(head, rows),
            _list(experiment.notes),
        ]
    )


# ---------------------------------------------------------------------------------------------------------- settings


def _settings(paper: PaperPart | None, full: FullSizePart | None) -> str:
    packages = {"Python": platform.python_version(), **{name: version(name) for name in PACKAGES}}
    if paper is None:
        assert full is not None
        shown = {"trials asked for": f"{full.run.trials:,}", "seed": str(full.run.seed)}
        return _table(["setting", "value"], ({**shown, **packages}).items(), style="words")
    run = paper.run
    shown = {
        "trials a point": f"{run.trials:,}",
        "seed": str(run.seed),
        "largest number of pulls of a trial": f"{MAX_PULLS:,}",
        "simulated pulls": f"{sum(int(trials.pulls.sum()) for trials in run.outcomes.values()):,}",
        "time of the simulations": f"{run.seconds:,.0f} s",
    }
    centres = [[experiment.name, _centres(experiment, run.seed)] for experiment in run.experiments]
    return (
        _table(["setting", "value"], ({**shown, **packages}).items(), style="words")
        + "<h4>The adversaries: contaminated rewards are uniform within 1 of these centres, an arm each</h4>"
        + _table(["experiment", "centres"], centres, style="words")
        + '<p class="soft">Drawn by the seed, and redrawn until the best contaminated mean is that of the best arm and '
        "every contaminated gap is at least half the true one. Trials of all methods at one place of a grid use the "
        "same seeds. Equal points of two figures were simulated once. Every point and trial is in the tables beside "
        "this file.</p>"
    )


def _centres(experiment: Experiment, seed: int) -> str:
    adversary = paper_adversary(experiment.means, max(experiment.epsilons), seed)
    return ", ".join(f"{centre:.3f}" for centre in adversary.pieces[0].a)


# -------------------------------------------------------------------------------------------------------------- HTML


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], style: str = "numbers") -> str:
    cells = "".join(f"<th>{_text(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{_text(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table class="{style}"><thead><tr>{cells}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _list(sentences: Iterable[str]) -> str:
    return "<ul>" + "".join(f"<li>{_text(sentence)}</li>" for sentence in sentences) + "</ul>"


def _number(value: float) -> str:
    return "infinite" if math.isinf(value) else f"{value:,.0f}" if value >= 1000.0 else f"{value:.4g}"


def _text(text: str) -> str:
    return html.escape(text)
