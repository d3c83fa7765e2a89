"""The paper's experiments: what was run, what it claims, what we find."""

from bestarm.paper.experiments import EXPERIMENTS
from bestarm.paper.run import run_experiments

__all__ = ["EXPERIMENTS", "run_experiments"]
