"""The compiled champions of the benchmark are those of the literal policy."""

from __future__ import annotations

import pytest
from benchmarks.champions import Compiled

import bestarm as ba
from bestarm.reference import Champions


@pytest.mark.parametrize("means", [(0.5, 0.0), (0.5, 0.3, 0.0), (2.5, 1.5, 1.0, 0.6), (2.0, 1.4, *[0.0] * 8)], ids=len)
def test_compiled_champions_follow_the_literal_ones(means: tuple[float, ...]) -> None:
    bandit = ba.Bandit([ba.Gaussian(mean, 2.0) for mean in means])
    runs = [
        ba.simulate(bandit, method, delta=0.2, trials=8, seed=11, max_pulls=3000) for method in (Compiled, Champions)
    ]
    assert runs[0].pulls.tolist() == runs[1].pulls.tolist()
    assert runs[0].answers.tolist() == runs[1].answers.tolist()
