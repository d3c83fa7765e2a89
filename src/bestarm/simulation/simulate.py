"""The many-trials driver: `simulate`."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from bestarm.bandits import Bandit
from bestarm.contamination import of_options
from bestarm.errors import InputError
from bestarm.identification.result import STATUSES
from bestarm.methods import Method, OwnMethod, get_method
from bestarm.phrases import Phrase, Setting
from bestarm.policies.policy import Factory
from bestarm.problem import Problem, pose
from bestarm.progress import Progress, progress_bar
from bestarm.simulation.backends import BACKENDS, finished_chunks, load_dask
from bestarm.simulation.checkpoints import Checkpoint
from bestarm.simulation.chunks import NO_CAP, ChunkResult, Spec
from bestarm.simulation.fingerprints import fingerprint
from bestarm.simulation.pace import SECONDS, SECONDS_IN_FILES, Pace
from bestarm.simulation.seeds import next_seeds, take_seeds
from bestarm.simulation.trials import Trials
from bestarm.validation import Seed, checked, one_of


def simulate(
    bandit: Bandit,
    method: str | Factory,
    *,
    delta: float,
    trials: int = 1000,
    seed: Seed = 0,
    epsilon: float | None = None,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    max_pulls: int | None = None,
    workers: int = 1,
    backend: str = "threads",
    address: str | None = None,
    chunk: int | None = None,
    checkpoint: str | Path | None = None,
    resume: bool = False,
    progress: Progress = False,
    **options: Any,
) -> Trials:
    """Run many identifications on simulated rewards, in compiled code.

    Trial i uses the i-th child of the seed and depends on nothing else: the trials are the same, bit for bit, for any
    backend, number of workers and size of chunks, and an interrupted run can be resumed.

    Parameters
    ----------
    bandit : Bandit
        What to pull. A bandit with Python functions in it is simulated in Python, about a hundred times slower.
    method, delta, **options
        As for `Identifier`. A policy of your own runs in Python, on the same rewards as a method of the catalogue;
        `Question.seed` differs in every trial.
    trials : int >= 1
        Number of trials.
    seed : int, SeedSequence or Generator
        Source of all randomness; each trial gets a child that is spawned from it.
    epsilon, sigma : float, optional
        What the method is told; by default the bandit's own.
    bounds : (float, float), optional
        Lowest and highest reward, told to the method instead of sigma.
    max_pulls : int >= 1, optional
        Cap on the pulls per trial. A trial that reaches it is undecided: neither right nor wrong, and the mean of the
        pulls is then a lower bound.
    workers : int >= 1
        Threads or processes. A Dask cluster has its own number of workers, and this one is not used.
    backend : {"threads", "loky", "dask"}
        Where trials run: threads; processes, faster for a bandit with Python functions; or a Dask cluster.
    address : str, optional
        Address of the scheduler of the Dask cluster, such as "tcp://host:8786". Without it the active client is used.
    chunk : int >= 1, optional
        Trials per task. By default as many as take half a second, or two seconds with a checkpoint.
    checkpoint : path, optional
        Folder in which each finished chunk is kept as a Parquet file. One run at a time may use it.
    resume : bool
        Continue from the trials in the checkpoint folder. They must have the same settings; more or fewer trials are
        fine. An empty folder is fine too, so the same call can start a run and resume it.
    progress : bool or callable
        Show a bar on stderr; where that is not a terminal, a line every 10 seconds. A function is called with the
        number of trials just finished.

    Examples
    --------
    >>> from bestarm.bandits import Bandit, Gaussian
    >>> trials = simulate(Bandit([Gaussian(1.0), Gaussian(0.0)]), "mean-se", delta=0.1, trials=20, seed=7)
    >>> trials.error_rate
    0.0
    """
    if not isinstance(bandit, Bandit):
        raise InputError("bandit", "be a Bandit", bandit, "such as Bandit([Gaussian(1.0), Gaussian(0.0)])")
    if not callable(progress) and not isinstance(progress, bool):
        raise InputError("progress", "be True, False or a function of the number of trials finished", progress, "True")
    _check_engine(backend, address, checkpoint, resume)
    count, hands = (int(value) for value in checked(trials=trials, workers=workers))
    cap = NO_CAP if max_pulls is None else int(checked(max_pulls=max_pulls)[0])
    size = None if chunk is None else int(checked(chunk=chunk)[0])
    problem = _problem(bandit, delta, epsilon, sigma, bounds)
    entry = get_method(method)
    complete = entry.complete(problem, options)
    spec = _spec(bandit, problem, entry, complete, cap, seed)
    result = ChunkResult.empty(count, problem.size)
    with contextlib.ExitStack() as held:
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(checkpoint, fingerprint(spec, bandit, entry.name, complete), resume)
            held.callback(kept.close)
        take_seeds(seed, count)  # now that nothing but an address can still be rejected
        missing = [(0, count)] if kept is None else kept.read(result)
        pace = Pace(missing, size, hands, SECONDS if kept is None else SECONDS_IN_FILES)
        advance = held.enter_context(progress_bar(entry.name, count, progress))
        finished = held.enter_context(contextlib.closing(finished_chunks(spec, pace, backend, hands, address)))
        restored = count - sum(last - first for first, last in missing)
        if restored:
            advance(restored)
        for part in finished if missing else ():
            result.put(part.first, part.result)
            if kept is not None:
                kept.write(part.first, part.last, part.result)
            advance(part.last - part.first)
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
    statuses = np.array(STATUSES)[result.done]
    return Trials(result.pulls, result.answers, bandit.is_best(result.answers), result.arm_pulls, statuses, settings)


def _check_engine(backend: str, address: str | None, checkpoint: str | Path | None, resume: bool) -> None:
    one_of("backend", backend, BACKENDS)
    if backend == "dask":
        load_dask()  # rejects before anything is compiled or written
    if address is not None and (backend != "dask" or not isinstance(address, str)):
        dask = Setting("backend", "dask")
        fix = f"backend is {backend!r}; " + Phrase("pass {}, {}", dask, Setting("address", "tcp://host:8786"))
        raise InputError("address", Phrase("be the address of a Dask scheduler, with {}", dask), address, fix)
    if checkpoint is not None and not isinstance(checkpoint, str | os.PathLike):
        raise InputError("checkpoint", "be the path of a folder", checkpoint, "such as 'runs/first'")
    if checkpoint is None and resume:
        raise InputError("checkpoint", "be given to resume", None, "name the folder of the interrupted run")


def _spec(bandit: Bandit, problem: Problem, entry: Method, options: dict[str, Any], cap: int, seed: Seed) -> Spec:
    model = of_options(options)
    if model is not None and not model.simulated:
        raise InputError("contamination", f"not be {model}", model.name, "simulated rewards have no sources")
    compiled = bandit.compiled and not isinstance(entry, OwnMethod)
    return Spec(
        problem=problem,
        rule=entry.rule(problem, options),
        laws=bandit.laws() if compiled else None,
        bandit=None if compiled else bandit,
        max_pulls=cap,
        seeds=next_seeds(seed),
    )


def _problem(
    bandit: Bandit, delta: float, epsilon: float | None, sigma: float | None, bounds: tuple[float, float] | None
) -> Problem:
    rate = bandit.epsilon if epsilon is None else epsilon
    scale = bandit.sigma if sigma is None and bounds is None else sigma
    if scale is None and bounds is None:
        reason = "an arm of this bandit is not sub-Gaussian, so it has no scale of its own"
        raise InputError("sigma", "be given", None, reason)
    problem = pose(len(bandit.arms), delta=delta, epsilon=rate, sigma=scale, bounds=bounds)
    if problem.bounds is not None and bandit.compiled:
        low, high = bandit.reach()
        if low < problem.bounds[0] or high > problem.bounds[1]:
            reason = f"rewards of this bandit reach from {low:g} to {high:g}, contaminated ones included"
            raise InputError("bounds", "contain all rewards", bounds, reason)
    return problem
