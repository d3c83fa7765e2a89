"""A compiled policy that goes past its arrays is refused, and ends no process."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numba
import numpy as np
import pytest

import bestarm as ba
from bestarm.policies.bounds_checks import with_bounds_checks

BANDIT = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)])
ROOM = 5


@numba.njit
def choose(state: Any, pending: Any) -> Any:
    _, counts = state
    return (counts + pending).argmin()


@numba.njit
def keep(rewards: Any, place: int, reward: float) -> None:
    rewards[place] = reward


@numba.njit
def observe(state: Any, arm: int, reward: float) -> None:
    """Keep the reward, by a function that the verb calls; beyond the room, far outside of what the process has."""
    rewards, counts = state
    place = counts[arm]
    keep(rewards[arm], place if place < ROOM else place << 40, reward)
    counts[arm] += 1


@numba.njit
def decision(state: Any) -> Any:
    return 0 if state[1].min() == 50 else -2


class Overflowing(ba.JittedPolicy):
    verbs = (choose, observe, decision)

    def __init__(self, question: ba.Question) -> None:
        self.state = np.zeros((question.arms, ROOM)), np.zeros(question.arms, np.int64)

    def estimates(self) -> Any:
        return [0.0, 0.0]


CRASH = """
import bestarm as ba
from test_bounds_checks import BANDIT, Overflowing
try:
    ba.simulate(BANDIT, Overflowing, delta=0.1, trials=3)
except ba.InputError as error:
    print(error)
"""


def test_a_write_past_the_buffer_is_refused_in_a_process_that_lives_on() -> None:
    words = [sys.executable, "-c", CRASH]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "method must stay within the arrays of its state (Overflowing is your own), got IndexError"
    )
    assert "after 10 rewards; make them larger in __init__, or let the state grow" in done.stdout


def test_a_write_past_the_buffer_is_refused_by_the_live_verbs_too() -> None:
    finder: ba.Identifier = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.0, sigma=1.0, method=Overflowing)
    with pytest.raises(ba.InputError, match=r"Overflowing is your own.*IndexError.*Overflowing.observe.* 10 rewards"):
        finder.tell_many(["A", "B"] * 6, [1.0, 0.0] * 6)


@numba.njit(error_model="numpy")
def ratio(x: float, y: float) -> float:
    return x / y


def summed(start: int) -> Any:
    @numba.njit
    def total(values: Any, place: int) -> Any:
        """Sum from a place on, by calls of itself."""
        return 0.0 if place == values.size + start else values[place] + total(values, place + 1)

    return total


def test_checked_functions_compute_the_same_and_keep_their_options() -> None:
    divided, inside, past = with_bounds_checks((ratio, summed(0), summed(1)))
    assert divided(1.0, 0.0) == np.inf  # with the default options it would raise ZeroDivisionError
    assert inside(np.arange(5.0), 0) == 10.0
    with pytest.raises(IndexError):
        past(np.arange(5.0), 0)
    assert with_bounds_checks([len]) == (len,)
