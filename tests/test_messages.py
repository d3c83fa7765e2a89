"""What a user is told who asks for something that cannot be, or who has to wait: one sentence that is true."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

import bestarm as ba
from bestarm.errors import InputError

ROOT = Path(__file__).parent.parent


def bestarm(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "bestarm", *words], capture_output=True, text=True, check=False)


def says(*words: str) -> str:
    """Return the one line that a command says which is refused."""
    done = bestarm(*words)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    (line,) = done.stderr.splitlines()
    return line


# ------------------------------------------------------------------------------------------------- numbers out of range


def test_a_number_that_is_too_high_is_not_called_too_low() -> None:
    assert says("simulate", "--means", "1,0", "--workers", "100000") == (
        "bestarm: workers must be at most 10,000, got 100000: "
        "a machine can hardly start more, and more than its cores compute no faster"
    )


@pytest.mark.parametrize("epsilon", ["nan", "-0.1"])
def test_an_epsilon_that_is_no_share_is_not_called_half_of_the_rewards(epsilon: str) -> None:
    assert says("plan", "--means", "1,0", "--sigma", "1", f"--epsilon={epsilon}") == (
        f"bestarm: epsilon must be in [0, 0.5), got {epsilon}: "
        "it is how much may be corrupted, such as 0.05; 0 is nothing"
    )


def test_more_arms_than_memory_holds_are_refused_at_once() -> None:
    """10^7 arms of the certified method would take 240 GB; labels may even go on for ever."""
    message = r"^arms must be at most 1,000,000, got {}: an arm takes up to 24 kB of memory"
    with pytest.raises(InputError, match=message.format("10000000")):
        ba.Identifier(10**7, delta=0.1, epsilon=0.1, sigma=1.0)
    with pytest.raises(InputError, match=message.format("'1,000,001 or more'")):
        ba.Identifier(itertools.count(), delta=0.1, epsilon=0.1, sigma=1.0)


def test_many_arms_are_looked_through_once_for_a_verdict() -> None:
    """The leader of 100,000 arms was sought in a set made for each of them, which took minutes."""
    arms = 100_000
    finder = ba.Identifier(arms, delta=0.1, epsilon=0.0, bounds=(0, 1), method="mean-se")
    finder.tell_many([7, 8, arms - 1], [0.2, 0.9, 0.5])
    assert finder.result.leader == 8
    assert finder.result.candidates == tuple(range(arms))
