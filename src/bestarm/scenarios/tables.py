"""Finished points and trials as tables, and tables as files: CSV, Parquet and LaTeX."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from bestarm.scenarios.experiment import Curve, Experiment
from bestarm.scenarios.numbers import grid_numbers
from bestarm.scenarios.run import Run
from bestarm.simulation import Trials

PLACE = ("experiment", "method", "variant", "delta", "epsilon")
FIGURES = (  # of `Trials.summary`
    *("mean_pulls", "mean_is_lower_bound", "standard_error", "q05", "q50", "q95"),
    *("wrong", "error_rate", "error_low", "error_high", "indistinguishable", "undecided"),
)


def points_table(run: Run) -> pd.DataFrame:
    """Return one row per point of a figure: experiment, method, variant, delta, epsilon, and its numbers.

    `error_rate` is the share of all trials that named a wrong arm, which is what delta bounds, with its exact 95 %
    interval; `indistinguishable` and `undecided` are the shares that named no winner and that reached the cap. Where
    some did, the mean of the pulls is a lower bound: `mean_is_lower_bound`.
    """
    return pd.DataFrame([point_row(*cell) for cell in _cells(run)])


def point_row(experiment: Experiment, curve: Curve, delta: float, epsilon: float, outcome: Trials) -> dict[str, Any]:
    """Return the numbers of one point."""
    summary = outcome.summary()
    return {
        "experiment": experiment.name,
        "method": curve.label,
        "variant": curve.variant,
        "delta": delta,
        "epsilon": epsilon,
        "trials": len(outcome),
        "K_T": grid_numbers(experiment, delta, epsilon)["K_T"],
        **{name: summary[name] for name in FIGURES},
    }


def trials_table(run: Run) -> pd.DataFrame:
    """Return one row per trial: experiment, method, variant, delta, epsilon, trial, pulls, answer, correct, status."""
    parts = []
    for experiment, curve, delta, epsilon, outcome in _cells(run):
        frame = outcome.to_frame()[["trial", "pulls", "answer", "correct", "status"]]
        index = {"experiment": experiment.name, "method": curve.label, "variant": curve.variant}
        parts.append(frame.assign(**index, delta=delta, epsilon=epsilon)[[*PLACE, *frame.columns]])
    return pd.concat(parts, ignore_index=True)


def _cells(run: Run) -> Iterator[tuple[Experiment, Curve, float, float, Trials]]:
    for experiment in run.experiments:
        for curve in experiment.curves:
            for delta, epsilon in experiment.grid:
                yield experiment, curve, delta, epsilon, run.outcome(experiment, curve, delta, epsilon)


# ------------------------------------------------------------------------------------------------------------- files


def write_table(table: pd.DataFrame, out: Path, name: str, caption: str) -> None:
    """Write a table as CSV, Parquet and LaTeX."""
    table.to_csv(out / f"{name}.csv", index=False)
    table.to_parquet(out / f"{name}.parquet", index=False)
    records: list[dict[Any, Any]] = table.to_dict("records")
    text = latex_table([str(column) for column in table.columns], records, caption)
    (out / f"{name}.tex").write_text(text, encoding="utf-8")


def write_trials(run: Run, out: Path) -> None:
    """Write all trials as Parquet and as compressed CSV."""
    trials = trials_table(run)
    trials.to_parquet(out / "trials.parquet", index=False)
    trials.to_csv(out / "trials.csv.gz", index=False, compression={"method": "gzip", "compresslevel": 3, "mtime": 0})


_ESCAPED = {c: f"\\{c}" for c in "&%$#_{}"} | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}"}
_ESCAPED |= {"^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}", '"': r"\textquotedbl{}"}
# Unicode that a plain LaTeX installation does not know.
_ESCAPED |= {"δ": r"$\delta$", "ε": r"$\epsilon$", "τ": r"$\tau$", "±": r"$\pm$"}


def latex_table(columns: Sequence[str], rows: Iterable[Mapping[str, Any]], caption: str) -> str:
    r"""Return rows as a LaTeX document fragment that needs the package longtable, which every distribution has.

    >>> print(latex_table(["method", "pulls"], [{"method": "g-cbai", "pulls": 7372.0}], "Pulls & errors"))
    \begin{longtable}{lr}
    \caption{Pulls \& errors}\\
    \hline
    method & pulls\\
    \hline
    \endhead
    g-cbai & 7372\\
    \hline
    \end{longtable}
    <BLANKLINE>
    """
    body = list(rows)
    sides = "".join("r" if body and isinstance(body[0][name], int | float) else "l" for name in columns)
    lines = [f"\\begin{{longtable}}{{{sides}}}", f"\\caption{{{_latex(caption)}}}\\\\", "\\hline"]
    lines += [" & ".join(map(_latex, columns)) + "\\\\", "\\hline", "\\endhead"]
    for row in body:
        cells = [f"{row[name]:.6g}" if isinstance(row[name], float) else str(row[name]) for name in columns]
        lines.append(" & ".join(map(_latex, cells)) + "\\\\")
    return "\n".join([*lines, "\\hline", "\\end{longtable}", ""])


def _latex(text: str) -> str:
    return "".join(_ESCAPED.get(character, character) for character in text)
