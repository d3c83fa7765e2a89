"""The attack bench: every method against every ready-made attack, and a picture of who was fooled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from scipy.stats import binomtest

from bestarm.bandits import ATTACKS, Adversary, Arm, Bandit, Gaussian
from bestarm.bandits.adversaries import CustomAdversary, Draw, as_adversary
from bestarm.bandits.arms import as_arm
from bestarm.checks import checked, number, one_of
from bestarm.contaminations import CONTAMINATIONS
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
Builder = Callable[[Sequence[Arm], float], Adversary | CustomAdversary]
Own = Mapping[str, Adversary | CustomAdversary | Draw]  # attacks of a user's own, by name

# What the certified method can be told of in a simulation. Its promise covers an attack that keeps to what it was told.
KINDS = tuple(kind for kind in CONTAMINATIONS if kind != "sources")


def attack_methods(contamination: str | None = None) -> Rows:
    """Return the rows of the bench: each method as it comes, and the certified one for each kind of contamination.

    With `contamination`, the certified method has only the row of that kind.
    """
    if contamination is not None:
        one_of("contamination", contamination, KINDS)
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, method in METHODS.items():
        if not method.certifies:
            rows[name] = (name, {})
            continue
        for kind in KINDS if contamination is None else (contamination,):
            rows[name if kind == KINDS[0] else f"{name} ({kind})"] = (name, {"contamination": kind})
    return rows


def attack_table(
    methods: Sequence[str] | Rows | None = None,
    attacks: Sequence[str | Own] | Own | None = None,
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
    attacks : sequence of str, or mapping of names to adversaries, optional
        Names from `bestarm.bandits.ATTACKS`, by default all; or attacks of your own under names of your own: an
        adversary of `bestarm.adversaries` or a function as for `Bandit`. A sequence may hold both: ["hidden", {"mine":
        adversary}].
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
        instance, attack, power ("custom" for a function), method; covered, whether the attack keeps to the
        contamination that the certified method was told of, so that its promise applies (None for other methods, whose
        promises are of another kind); trials; the shares of them that named the right arm (right), that named a wrong
        one (error_rate, with its exact 95 % interval error_low, error_high), that stopped without a winner (no_winner)
        and that reached max_pulls (undecided), 1 in sum; mean_pulls and its standard_error. epsilon and delta are in
        its `attrs`.

    Examples
    --------
    >>> table = attack_table(["mean-se"], ["one-sided-gross"], {"pair": [1.0, 0.0]}, trials=20)
    >>> table[["instance", "power", "right", "error_rate", "no_winner"]].to_dict("records")
    [{'instance': 'pair', 'power': 'oblivious', 'right': 0.0, 'error_rate': 1.0, 'no_winner': 0.0}]
    """
    rows = methods if isinstance(methods, Mapping) else attack_methods()
    if methods is not None and not isinstance(methods, Mapping):
        rows = rows_named(methods, rows)
    chosen = _chosen_attacks(attacks)
    epsilon, delta, _, _, _ = checked(epsilon=epsilon, delta=delta, trials=trials, workers=workers, max_pulls=max_pulls)
    if epsilon == 0.0:
        raise InputError("epsilon", "be above 0", epsilon, "without contaminated rewards there is no attack")
    problems = {name: _arms(arms) for name, arms in (INSTANCES if instances is None else instances).items()}
    for parameter, given in (("methods", rows), ("attacks", chosen), ("instances", problems)):
        if not given:
            raise InputError(parameter, "be at least one", list(given), "leave them out for all")
    bandits = {
        (instance, attack): Bandit(arms, epsilon, build(arms, epsilon))  # all of them before the first trial is run
        for instance, arms in problems.items()
        for attack, build in chosen.items()
    }
    found = []
    with progress_bar("attack", len(bandits) * len(rows), progress) as advance:
        for (instance, attack), bandit in bandits.items():
            adversary = bandit.adversary
            assert adversary is not None
            power = adversary.power if isinstance(adversary, Adversary) else "custom"
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
                told = outcome.settings["options"].get("contamination")
                covered = None if told is None else told in adversary.contaminations
                cell = {"instance": instance, "attack": attack, "power": power, "method": label, "covered": covered}
                found.append({**cell, **_figures(outcome)})
                advance(1)
    table = pd.DataFrame(found)
    table["covered"] = table["covered"].astype(object)
    table.attrs = {"epsilon": epsilon, "delta": delta}
    return table


def _figures(outcome: Trials) -> dict[str, Any]:
    count = len(outcome)
    interval = binomtest(outcome.wrong, count).proportion_ci(0.95, method="exact")
    spread = float(outcome.pulls.std(ddof=1)) if count > 1 else math.nan
    return {
        "trials": count,
        "right": (outcome.decided - outcome.wrong) / count,
        "error_rate": outcome.wrong / count,
        "error_low": float(interval.low),
        "error_high": float(interval.high),
        "no_winner": outcome.indistinguishable / count,
        "undecided": outcome.undecided / count,
        "mean_pulls": outcome.mean_pulls,
        "standard_error": spread / math.sqrt(count),
    }


def _chosen_attacks(attacks: Sequence[str | Own] | Own | None) -> dict[str, Builder]:
    """Return how to make each attack for some arms; one of the user's own is the same for all."""
    if attacks is None:
        return {name: build for name, (_, build) in ATTACKS.items()}
    if isinstance(attacks, str) or not isinstance(attacks, Mapping | Sequence):
        raise InputError("attacks", "be a list of names", attacks, 'such as ["hidden"], or {"mine": adversary}')
    chosen: dict[str, Builder] = {}
    for entry in [attacks] if isinstance(attacks, Mapping) else attacks:
        if not isinstance(entry, Mapping):
            one_of("attacks", entry, tuple(ATTACKS), ", or adversaries by name")
            chosen[entry] = ATTACKS[entry][1]
            continue
        for name, given in entry.items():
            if name in ATTACKS or name in chosen or not isinstance(name, str):
                raise InputError("attacks", "have a name of their own", name, "it names another attack of the bench")
            adversary = as_adversary(given)
            if adversary is None:
                raise InputError("attacks", "be adversaries", None, "without contaminated rewards there is no attack")
            chosen[name] = partial(_same, adversary)
    return chosen


def _same(adversary: Adversary | CustomAdversary, arms: Sequence[Arm], epsilon: float) -> Adversary | CustomAdversary:
    return adversary


def rows_named(names: Sequence[str], known: Rows) -> Rows:
    """Return the rows of these names, or refuse the first that there is not."""
    if isinstance(names, str):
        raise InputError("methods", "be a list of names", names, f"put it in brackets: [{names!r}]")
    for name in names:
        one_of("methods", name, tuple(known))
    return {name: known[name] for name in names}


def _arms(given: Sequence[Any]) -> list[Arm]:
    return [Gaussian(arm) if math.isfinite(number(arm)) else as_arm(arm) for arm in given]


# ----------------------------------------------------------------------------------------------------------- picture

# share of the trials: how it is called, its colour and its hatch
OUTCOMES: dict[str, tuple[str, str, str]] = {
    "error_rate": ("named a wrong arm", "#D55E00", ""),
    "no_winner": ("stopped without a winner", "#C8C8C8", "////"),
    "undecided": ("not decided at the cap", "#F0E442", "...."),
    "right": ("named the right arm", "#BFE0F5", ""),
}


def draw_attack_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Draw the table as a map to an image file: a panel an instance, a row a method, a column an attack.

    A cell is a bar of all its trials: how many named a wrong arm, none, and the right one; its number is the share of
    wrong answers. A cell that is crossed out is of the certified method, told of contamination that the attack does not
    keep to: nothing is promised there.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    instances, attacks, methods = (list(dict.fromkeys(frame[name])) for name in ("instance", "attack", "method"))
    width, height = 2.6 + 0.95 * len(attacks), 2.2 + len(instances) * (1.3 + 0.42 * len(methods))
    figure = Figure(figsize=(max(width, 8.0), max(height, 4.0)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(instances), 1, squeeze=False)[:, 0]
    powers = frame.drop_duplicates("attack").set_index("attack")["power"]
    for panel, instance in zip(panels, instances, strict=True):
        part = frame[frame["instance"] == instance].set_index(["method", "attack"])
        for row, method in enumerate(methods):
            for column, attack in enumerate(attacks):
                _draw_cell(panel, column, row, part.loc[(method, attack)])
        panel.set(xlim=(-0.5, len(attacks) - 0.5), ylim=(len(methods) - 0.5, -0.5))
        panel.set_xticks(range(len(attacks)), [f"{attack}\n({powers[attack]})" for attack in attacks], fontsize=8)
        panel.set_yticks(range(len(methods)), methods)
        panel.tick_params(which="both", length=0)
        panel.spines[:].set_visible(False)
        panel.set_title(f"instance {instance}", loc="left", fontsize=11)
    patches: list[Any] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.45", linewidth=0.5, label=name)
        for name, colour, hatch in OUTCOMES.values()
    ]
    patches.append(Line2D([], [], color="black", linewidth=1.0, label="no promise: it was told of other contamination"))
    figure.legend(handles=patches, loc="outside lower center", ncols=len(patches), frameon=False)
    settings = ", ".join(f"{name} = {value:g}" for name, value in frame.attrs.items())
    figure.suptitle(
        f"Answers under attack, and the share of wrong ones\n{frame['trials'].iloc[0]} trials a cell; {settings}"
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def _draw_cell(panel: Any, column: int, row: int, figures: Any) -> None:
    left, top, width, height = column - 0.47, row - 0.43, 0.94, 0.86
    begin = left
    for share, (_, colour, hatch) in OUTCOMES.items():
        part = width * float(figures[share])
        if part > 0.0:
            panel.barh(row, part, height, begin, color=colour, hatch=hatch, edgecolor="0.45", linewidth=0.0)
            begin += part
    if figures["covered"] is False:
        panel.plot([left, left + width], [top + height, top], color="black", linewidth=1.0)
    box = {"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    text = f"{100.0 * figures['error_rate']:.3g}%"
    panel.text(column, row, text, ha="center", va="center", fontsize=8.5, bbox=box)
