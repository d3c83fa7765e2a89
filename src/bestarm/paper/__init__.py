"""The paper's experiments: what was run, what it claims, what we find."""

from bestarm.paper.claims import CLAIMS, Claim, Verdict, judge
from bestarm.paper.experiments import EXPERIMENTS, experiment
from bestarm.paper.full_size import FULL_SIZE, FullSize, full_size_experiments
from bestarm.paper.full_size_run import run_full_size
from bestarm.paper.readings import READINGS, Reading
from bestarm.paper.reproduce import Reproduction, reproduce, run_experiments
from bestarm.scenarios import Curve, Experiment, Run

__all__ = [
    "CLAIMS",
    "EXPERIMENTS",
    "FULL_SIZE",
    "READINGS",
    "Claim",
    "Curve",
    "Experiment",
    "FullSize",
    "Reading",
    "Reproduction",
    "Run",
    "Verdict",
    "experiment",
    "full_size_experiments",
    "judge",
    "reproduce",
    "run_experiments",
    "run_full_size",
]
