"""Numbers of an experiment that the paper defines: exploration times, complexity, bounds, and the adversary's gap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bestarm import theory
from bestarm.kernels.rewards.draws import ANY, UNIFORM_AROUND
from bestarm.scenarios.experiment import Experiment

POWER = 2.0  # exponent of t in the theorem's threshold, the catalogue's default


def instance_numbers(experiment: Experiment) -> dict[str, float]:
    """Return what depends on the arms alone: gap, complexity H, characteristic time T*, and what contamination hides.

    H is that of the paper with U = 0, as it gives U up to a constant only. With the smallest U that the worst adversary
    forces on Gaussian arms, `hidden_gap`/2, it is `H_worst_case`: infinite where the two best arms can't be told apart.

    >>> from bestarm.paper.experiments import EXPERIMENTS
    >>> {name: round(value, 3) for name, value in instance_numbers(EXPERIMENTS["exp1"]).items()}
    {'gap': 0.2, 'H': 108.554, 'T_star': 209.252, 'sum_inverse_gaps': 29.277, 'hidden_gap': 0.279, 'H_worst_case': inf}
    """
    means, sigma = experiment.means, experiment.scale
    ordered = sorted(means, reverse=True)
    bias = theory.minimal_bias(max(experiment.epsilons), sigma)
    return {
        "gap": ordered[0] - ordered[1],
        "H": theory.complexity(means, sigma),
        "T_star": theory.characteristic_time(means, sigma),
        "sum_inverse_gaps": sum(1.0 / (ordered[0] - mean) ** 2 for mean in ordered[1:]),
        "hidden_gap": 2.0 * bias,
        "H_worst_case": theory.complexity(means, sigma, bias),
    }


def grid_numbers(experiment: Experiment, delta: float, epsilon: float) -> dict[str, Any]:
    """Return what depends on delta and epsilon too: T, K T (rounded up) for both explorations, and the bounds.

    >>> from bestarm.paper.experiments import EXPERIMENTS
    >>> row = grid_numbers(EXPERIMENTS["exp1"], 0.1, 0.1)
    >>> round(row["T"], 1), row["K_T"], row["K_T_chernoff"], round(row["lower_bound"])
    (1842.1, 7372, 924, 250)
    """
    means, sigma, arms = experiment.means, experiment.scale, len(experiment.arms)
    if epsilon == 0.0:  # nothing is trimmed, and one reward per arm is enough (reading #10)
        explored = shorter = 1.0
    else:
        explored = theory.exploration_pulls(epsilon / 2.0, delta)
        shorter = theory.exploration_pulls(epsilon / 2.0, delta, "chernoff")
    rounded = arms * math.ceil(explored)
    power = next((dict(c.options)["power"] for c in experiment.curves if "power" in dict(c.options)), POWER)
    bounds = {
        f"upper_bound_{name.replace('-', '_')}": (
            max(rounded, theory.upper_bound(means, delta, epsilon=epsilon, sigma=sigma, method=name, power=power))
            if epsilon > 0.0
            else math.nan  # the theorems are for epsilon > 0
        )
        for name in ("g-cbai", "se-cbai")
    }
    return {
        "delta": delta,
        "epsilon": epsilon,
        "T": explored,
        "K_T": rounded,
        "K_T_chernoff": arms * math.ceil(shorter),
        "lower_bound": theory.lower_bound(means, delta, sigma=sigma),
        "lower_bound_exact": theory.lower_bound(means, delta, sigma=sigma, kind="characteristic"),
        **bounds,
    }


def gap_ratios(experiment: Experiment, seed: int, epsilon: float) -> list[float]:
    """Return, of each adversary, the smallest lead of the best arm among contaminated means over that among true ones.

    Above 1 the adversary makes the best arm easier to find by averaging. Empty if an adversary is not uniform
    around centres.
    """
    means = np.array(experiment.means)
    best = int(means.argmax())
    ratios = []
    for adversary in experiment.adversaries(seed):
        if adversary is None or adversary.hits.rule != ANY or [p.kind for p in adversary.pieces] != [UNIFORM_AROUND]:
            return []
        mixed = (1.0 - epsilon) * means + epsilon * np.array(adversary.pieces[0].a)
        leads, true = (np.delete(values[best] - values, best) for values in (mixed, means))
        ratios.append(float(leads.min() / true.min()))
    return ratios
