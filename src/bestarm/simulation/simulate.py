"""The many-trials driver: seeds, chunks, threads, progress."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from bestarm.bandits import Bandit
from bestarm.checks import Seed, checked, checked_seed
from bestarm.errors import InputError
from bestarm.kernels.methods import ask, tell
from bestarm.kernels.state import Rule, State, make_room, new_state
from bestarm.kernels.trial import run_trial
from bestarm.methods import get_method
from bestarm.problem import LARGEST_REWARD, Problem, checked_reward, pose
from bestarm.result import STATUSES
from bestarm.simulation.trials import Trials

_NO_CAP = 2**62
_CHUNK = 25  # trials handed to a thread at a time


def simulate(
    bandit: Bandit,
    method: str,
    *,
    delta: float,
    trials: int = 1000,
    seed: Seed = 0,
    epsilon: float | None = None,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    max_pulls: int | None = None,
    workers: int = 1,
    progress: bool = False,
    **options: Any,
) -> Trials:
    """Run many identifications on simulated rewards, in compiled code.

    Trial i uses the i-th child of the seed, so the trials are the same for any number of workers.

    Parameters
    ----------
    bandit : Bandit
        What to pull. One with Python functions among its parts is simulated in Python, about a hundred times slower.
    method, delta, **options
        As for `Identifier`.
    trials : int >= 1
        How many.
    seed : int, SeedSequence or Generator
        Where all randomness comes from; the children are spawned from it.
    epsilon, sigma : float, optional
        What the method is told; by default the bandit's own.
    bounds : (float, float), optional
        Lowest and highest reward, told to the method in place of sigma.
    max_pulls : int >= 1, optional
        Cap on the pulls of a trial. A trial that reaches it is undecided: neither right nor wrong.
    workers : int >= 1
        Threads.
    progress : bool
        Show a bar on stderr, if that is a terminal.

    Examples
    --------
    >>> from bestarm.bandits import Bandit, Gaussian
    >>> trials = simulate(Bandit([Gaussian(1.0), Gaussian(0.0)]), "mean-se", delta=0.1, trials=20, seed=7)
    >>> trials.error_rate
    0.0
    """
    if not isinstance(bandit, Bandit):
        raise InputError("bandit", "be a Bandit", bandit, "such as Bandit([Gaussian(1.0), Gaussian(0.0)])")
    count, threads = (int(value) for value in checked(trials=trials, workers=workers))
    cap = _NO_CAP if max_pulls is None else int(checked(max_pulls=max_pulls)[0])
    problem = _problem(bandit, delta, epsilon, sigma, bounds)
    entry = get_method(method)
    complete = entry.complete(problem, options)
    seeds = _root(seed).spawn(count)
    run = _compiled_trial(bandit) if bandit.compiled else _python_trial(bandit, problem)

    own_seed = entry.random and "seed" not in options  # then every trial draws arms by a seed of its own
    shared = entry.rule(problem, complete)

    pulls = np.empty(count, np.int64)
    answers = np.empty(count, np.int64)
    arm_pulls = np.empty((count, problem.size), np.int64)
    done = np.empty(count, np.int64)

    def chunk(first: int) -> int:
        last = min(first + _CHUNK, count)
        for place in range(first, last):
            child = seeds[place]
            rule = entry.rule(problem, {**complete, "seed": method_seed(child)}) if own_seed else shared
            state = run(rule, np.random.default_rng(child), cap)
            pulls[place] = state.control["t"][0]
            answers[place] = state.control["best"][0]
            arm_pulls[place] = state.samples.arms["told"]
            done[place] = state.control["done"][0]
        return last - first

    chunk(0)  # in this thread: whatever has to be compiled is compiled before others need it
    finished = Parallel(n_jobs=threads, prefer="threads", return_as="generator_unordered")(
        delayed(chunk)(first) for first in range(_CHUNK, count, _CHUNK)
    )
    with progress_bar(method, count, progress) as advance:
        advance(min(_CHUNK, count))
        for number in finished:
            advance(number)
    settings = {
        "method": entry.name,
        "options": complete,
        "delta": problem.delta,
        "epsilon": problem.epsilon,
        "sigma": problem.sigma,
        "arms": problem.size,
        "max_pulls": None if max_pulls is None else cap,
        "seed": int(seed) if isinstance(seed, int | np.integer) else None,
    }
    return Trials(pulls, answers, bandit.is_best(answers), arm_pulls, np.array(STATUSES)[done], settings)


def trial_seeds(seed: Seed, trials: int) -> list[np.random.SeedSequence]:
    """Return the seeds of the trials of `simulate`: `Bandit.stream(seeds[i])` gives the rewards of trial i."""
    return _root(seed).spawn(trials)


def _root(seed: Seed) -> np.random.SeedSequence:
    source = checked_seed(seed)
    if isinstance(source, np.random.Generator):
        root = source.bit_generator.seed_seq
        if not isinstance(root, np.random.SeedSequence):
            raise InputError("seed", "be a generator that can spawn", seed, "make it with numpy.random.default_rng")
        return root
    return source if isinstance(source, np.random.SeedSequence) else np.random.SeedSequence(source)


def _problem(
    bandit: Bandit, delta: float, epsilon: float | None, sigma: float | None, bounds: tuple[float, float] | None
) -> Problem:
    rate = bandit.epsilon if epsilon is None else epsilon
    scale = bandit.sigma if sigma is None and bounds is None else sigma
    if scale is None and bounds is None:
        reason = "an arm of this bandit is not sub-Gaussian, so it has no scale of its own to go by"
        raise InputError("sigma", "be given", None, reason)
    problem = pose(len(bandit.arms), delta=delta, epsilon=rate, sigma=scale, bounds=bounds)
    if problem.bounds is not None and bandit.compiled:
        low, high = bandit.reach()
        if low < problem.bounds[0] or high > problem.bounds[1]:
            reason = f"rewards of this bandit reach from {low:g} to {high:g}, contaminated ones included"
            raise InputError("bounds", "contain all rewards", bounds, reason)
    return problem


def method_seed(child: np.random.SeedSequence) -> int:
    """Return the seed of a trial's random choices: the word after those that seed its generator of rewards."""
    return int(child.generate_state(5, np.uint64)[4])


def _compiled_trial(bandit: Bandit) -> Callable[[Rule, np.random.Generator, int], State]:
    laws = bandit.laws()
    arms = len(bandit.arms)

    def run(rule: Rule, rng: np.random.Generator, cap: int) -> State:
        own = laws._replace(memory=laws.memory.copy()) if laws.memory.size else laws
        return run_trial(new_state(arms, rule), rule, own, rng, cap)

    return run


def _python_trial(bandit: Bandit, problem: Problem) -> Callable[[Rule, np.random.Generator, int], State]:
    arms = len(bandit.arms)

    def run(rule: Rule, rng: np.random.Generator, cap: int) -> State:
        state = new_state(arms, rule)
        stream = bandit.stream(rng)
        index, reward = np.empty(1, np.int64), np.empty(1)
        while state.control["done"][0] == 0 and state.control["t"][0] < cap:
            ask(state, rule, 1, index)
            reward[0] = stream.pull(int(index[0]))
            if not abs(reward[0]) <= LARGEST_REWARD:
                raise InputError("reward", "be a finite number", reward[0], "an arm or adversary of the bandit gave it")
            checked_reward(problem, float(reward[0]))
            while tell(state, rule, index, reward, 0)[0] == 0:
                state = make_room(state, rule, index[0])
        return state

    return run


@contextlib.contextmanager
def progress_bar(title: str, total: int, wanted: bool) -> Iterator[Callable[[int], None]]:
    """Show a bar on stderr while the block runs, if wanted and stderr is a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda done: bar.advance(task, done)
