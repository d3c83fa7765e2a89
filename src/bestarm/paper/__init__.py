"""The paper's experiments: what was run, what it claims, what we find."""

from bestarm.paper.claims import CLAIMS, Claim, Verdict, judge
from bestarm.paper.experiments import EXPERIMENTS, Curve, Experiment
from bestarm.paper.reproduce import reproduce
from bestarm.paper.run import Run, run_experiments

__all__ = [
    "CLAIMS",
    "EXPERIMENTS",
    "Claim",
    "Curve",
    "Experiment",
    "Run",
    "Verdict",
    "judge",
    "reproduce",
    "run_experiments",
]
