"""The paper's experiments: what was run, what it claims, what we find."""

from bestarm.paper.claims import CLAIMS, Claim, Verdict, judge
from bestarm.paper.experiments import EXPERIMENTS, Curve, Experiment
from bestarm.paper.full_size import FULL_SIZE, FullSize, full_size_experiments
from bestarm.paper.full_size_run import run_full_size
from bestarm.paper.reproduce import Reproduction, reproduce
from bestarm.paper.run import Run, run_experiments

__all__ = [
    "CLAIMS",
    "EXPERIMENTS",
    "FULL_SIZE",
    "Claim",
    "Curve",
    "Experiment",
    "FullSize",
    "Reproduction",
    "Run",
    "Verdict",
    "full_size_experiments",
    "judge",
    "reproduce",
    "run_experiments",
    "run_full_size",
]
