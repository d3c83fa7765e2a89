"""The attack bench: every method against every ready-made attack, and a picture of who was fooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from bestarm.bandits import ATTACKS, Arm, Bandit, Gaussian
from bestarm.bandits.arms import as_arm
from bestarm.checks import checked, number, one_of
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.simulation import Trials, progress_bar, simulate

# Means of Gaussian arms with sigma = 1. At epsilon = 0.1 a worst-case adversary can hide gaps up to 0.28 sigma, so
# that the first instance can be solved and the second cannot.
INSTANCES: dict[str, Sequence[Any]] = {
    "2.5 1.5 1.0 0.6": (2.5, 1.5, 1.0, 0.6),
    "2.5 2.3 2.0 0.6": (2.5, 2.3, 2.0, 0.6),
}

Rows = Mapping[str, tuple[str, dict[str, Any]]]


def attack_methods() -> Rows:
    """Return the rows of the bench: each method as it comes, and those that can be told of a malicious adversary so."""
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, method in METHODS.items():
        rows[name] = (name, {})
        if "adversary_power" in {option.name for option in method.options}:
            rows[f"{name} (malicious)"] = (name, {"adversary_power": "malicious"})
    return rows


def attack_table(
    methods: Sequence[str] | Rows | None = None,
    attacks: Sequence[str] | None = None,
    instances: Mapping[str, Sequence[Any]] | None = None,
    epsilon: float = 0.1,
    delta: float = 0.1,
    trials: int = 200,
    seed: int = 7,
    workers: int = 1,
    max_pulls: int = 200_000,
    *,
    progress: bool = False,
) -> pd.DataFrame:
    """Simulate methods x attacks x instances; return a row each.

    Parameters
    ----------
    methods : sequence of str, or mapping of names to (method, options), optional
        Names from `attack_methods()`, which are all taken by default, or rows of your own.
    attacks : sequence of str, optional
        Names from `bestarm.bandits.ATTACKS`; by default all.
    instances : mapping of names to arms, optional
        A number among the arms is the mean of a Gaussian with sigma = 1. By default `INSTANCES`.
    epsilon, delta : float
        Share of contaminated rewards, in (0, 0.5), which the methods are told, and accepted probability of an error.
    trials : int >= 1
        Trials a row.
    seed, workers, max_pulls
        As for `simulate`. Every row uses the same seed, so all methods meet the same adversary.
    progress : bool
        Show a bar on stderr, if that is a terminal.

    Returns
    -------
    pandas.DataFrame
        instance, attack, power, method, trials; error_rate, the share of trials that named a wrong arm, with its exact
        95 % interval error_low, error_high; mean_pulls and its standard_error; no_winner, the share that ended
        without naming an arm; undecided, the share that reached max_pulls. epsilon and delta are in its `attrs`.

    Examples
    --------
    >>> table = attack_table(["mean-se"], ["one-sided-gross"], {"pair": [1.0, 0.0]}, trials=20)
    >>> table[["instance", "power", "error_rate", "no_winner"]].to_dict("records")
    [{'instance': 'pair', 'power': 'oblivious', 'error_rate': 1.0, 'no_winner': 0.0}]
    """
    rows = _chosen_rows(methods)
    names = list(ATTACKS) if attacks is None else _names("attacks", attacks)
    for name in names:
        one_of("attacks", name, tuple(ATTACKS))
    epsilon, delta, _, _, _ = checked(epsilon=epsilon, delta=delta, trials=trials, workers=workers, max_pulls=max_pulls)
    if epsilon == 0.0:
        raise InputError("epsilon", "be above 0", epsilon, "without contaminated rewards there is no attack")
    problems = {name: _arms(arms) for name, arms in (INSTANCES if instances is None else instances).items()}
    for parameter, given in (("methods", rows), ("attacks", names), ("instances", problems)):
        if not given:
            raise InputError(parameter, "be at least one", given, "leave them out for all")
    found = []
    with progress_bar("attack", len(problems) * len(names) * len(rows), progress) as advance:
        for instance, arms in problems.items():
            for attack in names:
                power, builder = ATTACKS[attack]
                bandit = Bandit(arms, epsilon, builder(arms, epsilon))
                for label, (method, options) in rows.items():
                    outcome = simulate(
                        bandit,
                        method,
                        delta=delta,
                        trials=trials,
                        seed=seed,
                        workers=workers,
                        max_pulls=max_pulls,
                        **options,
                    )
                    cell = {"instance": instance, "attack": attack, "power": power, "method": label}
                    found.append({**cell, **_figures(outcome)})
                    advance(1)
    table = pd.DataFrame(found)
    table.attrs = {"epsilon": epsilon, "delta": delta}
    return table


def _figures(outcome: Trials) -> dict[str, Any]:
    count = len(outcome)
    interval = binomtest(outcome.wrong, count).proportion_ci(0.95, method="exact")
    spread = float(outcome.pulls.std(ddof=1)) if count > 1 else math.nan
    return {
        "trials": count,
        "error_rate": outcome.wrong / count,
        "error_low": float(interval.low),
        "error_high": float(interval.high),
        "mean_pulls": outcome.mean_pulls,
        "standard_error": spread / math.sqrt(count),
        "no_winner": float((outcome.statuses == "indistinguishable").mean()),
        "undecided": float((outcome.statuses == "undecided").mean()),
    }


def _chosen_rows(methods: Sequence[str] | Rows | None) -> Rows:
    if isinstance(methods, Mapping):
        return methods
    known = attack_methods()
    if methods is None:
        return known
    names = _names("methods", methods)
    for name in names:
        one_of("methods", name, tuple(known))
    return {name: known[name] for name in names}


def _names(parameter: str, given: Sequence[str]) -> list[str]:
    if isinstance(given, str):
        raise InputError(parameter, "be a list of names", given, f"put it in brackets: [{given!r}]")
    return list(dict.fromkeys(given))


def _arms(given: Sequence[Any]) -> list[Arm]:
    return [Gaussian(arm) if math.isfinite(number(arm)) else as_arm(arm) for arm in given]


# ----------------------------------------------------------------------------------------------------------- picture


def draw_attack_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Draw the table as a map to an image file: a panel an instance, a row a method, a column an attack.

    The colour and the number of a cell are the share of wrong answers; below it, where there were any, the shares that
    named no winner and that reached the cap.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

    instances, attacks, methods = (list(dict.fromkeys(frame[name])) for name in ("instance", "attack", "method"))
    width, height = 2.6 + 1.25 * len(attacks), 1.6 + len(instances) * (1.0 + 0.5 * len(methods))
    figure = Figure(figsize=(max(width, 6.0), max(height, 4.0)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(instances), 1, squeeze=False)[:, 0]
    powers = frame.drop_duplicates("attack").set_index("attack")["power"]
    colours = ScalarMappable(cmap="Oranges")
    colours.set_clim(0.0, 1.0)
    for panel, instance in zip(panels, instances, strict=True):
        part = frame[frame["instance"] == instance].set_index(["method", "attack"])
        rates = part["error_rate"].unstack("attack").loc[methods, attacks].to_numpy()
        panel.imshow(rates, cmap=colours.cmap, norm=colours.norm, aspect="auto")
        for row, method in enumerate(methods):
            for column, attack in enumerate(attacks):
                _write_cell(panel, column, row, part.loc[(method, attack)])
        panel.set_xticks(range(len(attacks)), [f"{attack}\n({powers[attack]})" for attack in attacks], fontsize=9)
        panel.set_yticks(range(len(methods)), methods)
        panel.set_xticks(np.arange(len(attacks) - 1) + 0.5, minor=True)
        panel.set_yticks(np.arange(len(methods) - 1) + 0.5, minor=True)
        panel.grid(which="minor", color="0.75", linewidth=1)
        panel.tick_params(which="both", length=0)
        panel.spines[:].set_color("0.75")
        panel.set_title(f"instance {instance}", loc="left", fontsize=11)
    figure.colorbar(colours, ax=list(panels), label="share of trials that named a wrong arm", shrink=0.8, aspect=30)
    settings = ", ".join(f"{name} = {value:g}" for name, value in frame.attrs.items())
    figure.suptitle(f"Wrong answers under attack\n{frame['trials'].iloc[0]} trials a cell; {settings}")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def _write_cell(panel: Any, column: int, row: int, figures: Any) -> None:
    colour = "white" if figures["error_rate"] > 0.55 else "black"
    notes = [
        f"{name} {figures[share]:.0%}"
        for name, share in (("no winner", "no_winner"), ("at the cap", "undecided"))
        if figures[share] > 0.0
    ]
    place = {"ha": "center", "color": colour}
    panel.text(column, row - (0.2 if notes else 0.0), f"{100.0 * figures['error_rate']:.3g}%", va="center", **place)
    if notes:
        panel.text(column, row + 0.08, "\n".join(notes), va="top", fontsize=7, **place)
