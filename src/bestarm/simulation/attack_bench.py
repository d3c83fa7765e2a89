"""The attack bench: every method against every ready-made attack, and a picture of who was fooled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from bestarm.bandits import ATTACKS, Adversary, Arm, Bandit, Gaussian
from bestarm.bandits.adversaries import CustomAdversary, Draw, as_adversary
from bestarm.bandits.arms import as_arm
from bestarm.contamination import SIMULATED, default, resolve
from bestarm.errors import InputError
from bestarm.identification.pictures import LOOKS
from bestarm.methods import METHODS, get_method
from bestarm.policies.import_paths import is_import_path
from bestarm.policies.policy import Factory
from bestarm.progress import progress_bar
from bestarm.simulation import Trials, simulate
from bestarm.validation import checked, number, one_of

# Means of Gaussian arms with sigma = 1. At epsilon = 0.1 a worst-case adversary can hide gaps up to 0.28 sigma, so
# that the first instance can be solved and the second cannot.
INSTANCES: dict[str, Sequence[Any]] = {
    "2.5 1.5 1.0 0.6": (2.5, 1.5, 1.0, 0.6),
    "2.5 2.3 2.0 0.6": (2.5, 2.3, 2.0, 0.6),
}

Rows = Mapping[str, tuple[str | Factory, dict[str, Any]]]
Builder = Callable[[Sequence[Arm], float], Adversary | CustomAdversary]
Own = Mapping[str, Adversary | CustomAdversary | Draw]  # attacks of a user's own, by name


def attack_methods(contamination: str | None = None) -> Rows:
    """Return the rows of the bench: each method with its defaults, the certified one for each kind of contamination.

    With `contamination`, the certified method has only the row of that kind.
    """
    if contamination is not None:
        one_of("contamination", contamination, SIMULATED)
    rows: dict[str, tuple[str | Factory, dict[str, Any]]] = {}
    for name, method in METHODS.items():
        if not method.certifies:
            rows[name] = (name, {})
            continue
        for kind in SIMULATED if contamination is None else (contamination,):
            rows[name if kind == default("live") else f"{name} ({kind})"] = (name, {"contamination": kind})
    return rows


def attack_table(
    methods: Sequence[str | Factory] | Rows | None = None,
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
    """Simulate methods x attacks x instances; return one row for each.

    Parameters
    ----------
    methods : sequence of str or policies, or mapping of names to (method, options), optional
        Names from `attack_methods()`, by default all of them, a `Policy` of your own, or rows of your own.
    attacks : sequence of str, or mapping of names to adversaries, optional
        Names from `bestarm.bandits.ATTACKS`, by default all; or attacks of your own under names of your own: an
        adversary of `bestarm.adversaries` or a function as for `Bandit`. A sequence may hold both: ["hidden", {"mine":
        adversary}].
    instances : mapping of names to arms, optional
        A number among the arms is the mean of a Gaussian with sigma = 1. By default `INSTANCES`.
    epsilon, delta : float
        Share of contaminated rewards, in (0, 0.5), which the methods are told, and accepted probability of an error.
    trials : int >= 1
        Trials per row.
    seed, workers, max_pulls
        As for `simulate`. Every row uses the same seed, so all methods meet the same adversary.
    progress : bool
        Show progress on stderr: a bar on a terminal, elsewhere a line every ten seconds.

    Returns
    -------
    pandas.DataFrame
        instance, attack, power ("custom" for a function), method; covered, whether the attack keeps to the
        contamination that the certified method was told of, so that its promise applies (None for other methods, whose
        promises are of another kind); trials; the shares of them that named the right arm (right), that named a wrong
        one (error_rate, with its exact 95 % interval error_low, error_high), that stopped without a winner (no_winner)
        and that reached max_pulls (undecided), which sum to 1; mean_pulls, whether it is a lower bound because some
        trials reached max_pulls (mean_is_lower_bound), and its standard_error. epsilon and delta are in its `attrs`.

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
    problems = {
        name: [Gaussian(arm) if math.isfinite(number(arm)) else as_arm(arm) for arm in arms]
        for name, arms in (INSTANCES if instances is None else instances).items()
    }
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
                covered = None if told is None else resolve(told).covers(adversary.power)
                cell = {"instance": instance, "attack": attack, "power": power, "method": label, "covered": covered}
                found.append({**cell, **_figures(outcome)})
                advance(1)
    table = pd.DataFrame(found)
    table["covered"] = table["covered"].astype(object)
    table.attrs = {"epsilon": epsilon, "delta": delta}
    return table


def _figures(outcome: Trials) -> dict[str, Any]:
    summary = outcome.summary()
    return {
        "trials": len(outcome),
        "right": (outcome.decided - outcome.wrong) / len(outcome),
        **{name: summary[name] for name in ("error_rate", "error_low", "error_high")},
        "no_winner": summary["indistinguishable"],
        **{name: summary[name] for name in ("undecided", "mean_pulls", "mean_is_lower_bound", "standard_error")},
    }


def _chosen_attacks(attacks: Sequence[str | Own] | Own | None) -> dict[str, Builder]:
    """Return a builder of each attack for given arms; an attack of the user's own is the same for all."""
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


def rows_named(names: Sequence[str | Factory], known: Rows) -> Rows:
    """Return the rows of these names, or reject the first unknown one; a policy has a row of its own."""
    if isinstance(names, str) or callable(names):
        raise InputError("methods", "be a list of names", names, f"put it in brackets: [{names!r}]")
    rows: dict[str, tuple[str | Factory, dict[str, Any]]] = {}
    for name in names:
        if callable(name) or is_import_path(name):
            rows[get_method(name).name] = (name, {})
        else:
            one_of("methods", name, tuple(known))
            rows[name] = known[name]
    return rows


# ----------------------------------------------------------------------------------------------------------- picture

# share of the trials: its name, colour and hatch, and what the legend adds to the name
OUTCOMES: dict[str, tuple[str, str, str, str]] = {
    "error_rate": ("wrong", *LOOKS["wrong"], ": named a wrong arm"),
    "no_winner": ("no winner", *LOOKS["no winner"], " (none): stopped and named none"),
    "undecided": ("at the cap", *LOOKS["at the cap"], ": reached max_pulls undecided"),
    "right": ("right", *LOOKS["right"], ": named the best arm"),
}


def draw_attack_table(frame: pd.DataFrame, path: str | Path) -> None:
    """Draw the table as a map to an image file: one panel per instance, one row per attack, one column per method.

    A cell is a bar of all its trials: how many named a wrong arm, none, and the right one. Its words name the first of
    these outcomes that occurred, so that "right" means every trial. In a crossed-out cell the certified method was told
    of contamination that the attack does not keep to: nothing is promised there. A cell without a row in the table says
    "not run".
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    instances, attacks, methods = (list(dict.fromkeys(frame[name])) for name in ("instance", "attack", "method"))
    width, height = 1.7 + 0.84 * len(methods), 1.4 + len(instances) * (0.8 + 0.29 * len(attacks))
    figure = Figure(figsize=(max(width, 8.0), max(height, 3.0)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(instances), 1, squeeze=False)[:, 0]
    powers = frame.drop_duplicates("attack").set_index("attack")["power"]
    cells = {(row["instance"], row["attack"], row["method"]): row for row in frame.to_dict("records")}
    for panel, instance in zip(panels, instances, strict=True):
        for row, attack in enumerate(attacks):
            for column, method in enumerate(methods):
                _draw_cell(panel, column, row, cells.get((instance, attack, method)))
        panel.set(xlim=(-0.5, len(methods) - 0.5), ylim=(len(attacks) - 0.5, -0.5))
        panel.set_xticks(range(len(methods)), [method.replace(" (", "\n(") for method in methods], fontsize=7.5)
        panel.set_yticks(range(len(attacks)), [f"{attack} ({powers[attack]})" for attack in attacks], fontsize=7.5)
        panel.tick_params(which="both", length=0, labeltop=True, labelbottom=False)
        panel.spines[:].set_visible(False)
        panel.set_title(f"Arms with means {instance}", loc="left", fontsize=10, fontweight="bold")
    handles: list[Any] = [
        Patch(facecolor=colour, hatch=hatch, edgecolor="0.6", linewidth=0.5, label=name + more)
        for share, (name, colour, hatch, more) in OUTCOMES.items()
        if share != "undecided" or frame["undecided"].any()
    ]
    if (frame["covered"] == False).any():  # noqa: E712 - None is neither
        handles.append(Line2D([], [], color="black", label="crossed out: no promise, told of other contamination"))
    if len(cells) < len(instances) * len(attacks) * len(methods):
        handles.append(Patch(facecolor="white", edgecolor="0.5", linestyle=":", label="not run"))
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=8.5)
    settings = ", ".join(f"{name} = {value:g}" for name, value in frame.attrs.items())
    figure.suptitle(
        "Answers of each method (column) under each attack (row)\n"
        f"{frame['trials'].iloc[0]} trials per cell; {settings}",
        fontsize=11,
    )
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _draw_cell(panel: Any, column: int, row: int, figures: Mapping[Any, Any] | None) -> None:
    left, top, width, height = column - 0.48, row - 0.42, 0.96, 0.84
    edge = {"color": "none", "edgecolor": "0.5", "linewidth": 0.5}
    if figures is None:
        panel.barh(row, width, height, left, **{**edge, "linestyle": ":"})
        panel.text(column, row, "not run", ha="center", va="center", fontsize=7.5, color="0.4", style="italic")
        return
    begin = left
    for share, (_, colour, hatch, _) in OUTCOMES.items():
        part = width * float(figures[share])
        if part > 0.0:
            panel.barh(row, part, height, begin, color=colour, hatch=hatch, edgecolor="0.6", linewidth=0.0)
            begin += part
    if figures["covered"] is False:
        panel.plot([left, left + width], [top, top + height], color="black", linewidth=1.1)
    panel.barh(row, width, height, left, **edge)
    box = {"boxstyle": "round,pad=0.12", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
    panel.text(column, row, _words(figures), ha="center", va="center", fontsize=7.5, bbox=box)


def _words(figures: Mapping[Any, Any]) -> str:
    """Return the words of a cell: the first outcome that occurred, with its share unless that is 100 %."""
    outcome = next(share for share in OUTCOMES if figures[share] > 0.0)
    name, share = OUTCOMES[outcome][0], 100.0 * float(figures[outcome])
    short = "none" if outcome == "no_winner" else name  # a cell has little room
    return name if share == 100.0 else f"{share:.3g}% {short}"
