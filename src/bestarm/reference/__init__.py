"""The algorithms as an executable specification: plain Python policies, literal and slow.

Each reads like the pseudocode, with its line numbers, and imports no kernel. Tests compare the compiled methods with
these, pull by pull. They can be used wherever a method's name can: `simulate(bandit, reference.SECBAI, ...)`.
`bestarm.reference.peers` has methods of other authors for clean rewards, which no kernel repeats.
"""

from bestarm.reference.certified import Certified
from bestarm.reference.champions import Champions
from bestarm.reference.g_cbai import GCBAI
from bestarm.reference.mean_gap import MeanGap
from bestarm.reference.mean_se import MeanSE
from bestarm.reference.median_se import MedianSE
from bestarm.reference.random_sampling import Random
from bestarm.reference.se_cbai import SECBAI

__all__ = ["GCBAI", "SECBAI", "Certified", "Champions", "MeanGap", "MeanSE", "MedianSE", "Random"]
