"""Draw the figure of docs/explanation/certified.md: `python -m docs.evidence_figure` writes docs/images/evidence.svg.

Two normal arms, the first one better. A curve is the median over runs of the evidence W that it is better. With K = 2
the p-value of the leader is 1 / W, so W is its inverse (1 while the other arm leads). A curve ends where half of the
runs have decided.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import bestarm as ba

FIGURE = Path(__file__).parent / "images" / "evidence.svg"
DELTA = 0.05
RUNS = 41
STEPS = 60  # points of a curve
COLOURS = ("#0072b2", "#009e73", "#e69f00", "#cc3311")  # the colour-blind can tell them apart


def evidence(bandit: ba.Bandit, epsilon: float, rounds: int, seed: int) -> list[float]:
    """Return W of one run after every `rounds` / STEPS rounds."""
    stream = bandit.stream(seed=seed)
    finder = ba.Identifier(2, delta=DELTA, epsilon=epsilon, sigma=1.0)
    found = [1.0]
    for _ in range(STEPS):
        for arm in (0, 1) * (rounds // STEPS):
            finder.tell(arm, stream.pull(arm))
        result = finder.result
        found.append(1.0 / result.p_value if result.leader == 0 and result.p_value else 1.0)
    return found


def curve(bandit: ba.Bandit, epsilon: float, rounds: int) -> tuple[list[int], list[float]]:
    """Return rounds and the median of W, up to the first that is enough to decide."""
    runs = [evidence(bandit, epsilon, rounds, seed) for seed in range(RUNS)]
    median = [float(value) for value in np.median(runs, axis=0)]
    end = next((index + 1 for index, value in enumerate(median) if value >= 1.0 / DELTA), len(median))
    return [index * (rounds // STEPS) for index in range(end)], median[:end]


def draw() -> None:
    """Draw both panels and save them."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams.update({"svg.hashsalt": "bestarm", "font.size": 9})
    import matplotlib.pyplot as plt

    wide, narrow = [ba.Gaussian(1.0), ba.Gaussian(0.0)], [ba.Gaussian(0.5), ba.Gaussian(0.0)]
    clean, small = ba.Bandit(wide), ba.Bandit(narrow)
    fakes = ba.Bandit(wide, epsilon=0.1, adversary=ba.adversaries.Uniform([-3.0, 4.0]))
    left = (("clean, ε = 0", clean, 0.0), ("clean, ε = 0.1", clean, 0.1), ("10 % fakes, ε = 0.1", fakes, 0.1))
    right = tuple((f"clean, ε = {epsilon:g}", small, epsilon) for epsilon in (0.0, 0.02, 0.05, 0.2))
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2), sharey=True, layout="constrained")
    for axis, title, rounds, curves in (
        (axes[0], "A lead of 1: fakes delay the answer", 120, left),
        (axes[1], "A lead of 0.5: a larger ε hides it", 600, right),
    ):
        for colour, (label, bandit, epsilon) in zip(COLOURS, curves, strict=False):
            counts, values = curve(bandit, epsilon, rounds)
            axis.plot(counts, values, color=colour, label=label, linewidth=1.5)
        axis.axhline(1.0 / DELTA, color="0.4", linestyle="--", linewidth=1.0)
        axis.set(title=title, xlabel="rewards of each arm", yscale="log", xlim=(0, rounds))
        axis.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"], minor=False)
        axis.minorticks_off()
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(frameon=False, fontsize=8, loc="center right")
    axes[0].set_ylabel("evidence W (median of runs)")
    figure.savefig(FIGURE, metadata={"Date": None})


if __name__ == "__main__":
    draw()
