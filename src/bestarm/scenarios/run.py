"""Simulate the points of experiments on all cores, and store each point as soon as it is finished.

A finished point is a checkpoint folder like those of `simulate`. It is marked with everything that its trials depend
on, the sources of the kernels included, so points of another version of a kernel are never reused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from bestarm.bandits import Bandit
from bestarm.errors import ConflictError, InputError
from bestarm.identification.result import STATUSES
from bestarm.methods import get_method
from bestarm.phrases import Phrase, Setting
from bestarm.problem import pose
from bestarm.scenarios.experiment import Curve, Experiment, Point
from bestarm.simulation import Trials, simulate
from bestarm.simulation.checkpoints import Checkpoint
from bestarm.simulation.chunks import ChunkResult
from bestarm.simulation.fingerprints import code_key, digest, laws_digest
from bestarm.simulation.folder_lock import LOCK, locked_folder
from bestarm.validation import checked, checked_seed

SETTINGS = "settings.json"
RESUME, OVERWRITE = Setting("resume", True), Setting("overwrite", True)
POINTS = "points"
TOGETHER = 0.05  # the probability that some statement about a grid is wrong


@dataclass(frozen=True)
class Run:
    """Finished experiments.

    Attributes
    ----------
    experiments : tuple of Experiment
        The experiments that were run.
    trials : int
        Requested trials per point; some curves have a share of them.
    seed : int
        Seed of the adversaries and of all trials.
    outcomes : mapping of Point to Trials
        The trials of each point.
    """

    experiments: tuple[Experiment, ...]
    trials: int
    seed: int
    outcomes: Mapping[Point, Trials]

    def outcome(self, experiment: Experiment, curve: Curve, delta: float, epsilon: float) -> Trials:
        """Return the trials of one point of one curve."""
        return self.outcomes[experiment.point(curve, delta, epsilon)]


def wanted_trials(
    experiments: Iterable[Experiment], trials: int, share: float = 1.0, strict: float = 1.0
) -> dict[Point, int]:
    """Return how many trials of each point the curves of experiments want; the most, where several want it.

    A share of less than 1 is at least what it takes to show that errors are rarer than `strict` times delta.
    """
    wanted: dict[Point, int] = {}
    for experiment in experiments:
        for curve in experiment.curves:
            for values in experiment.grid:
                point = experiment.point(curve, *values)
                least = telling_trials(strict * point.delta, len(experiment.grid)) if share < 1.0 else 0
                part = max(math.ceil(curve.share * share * trials), least)
                wanted[point] = max(wanted.get(point, 0), min(trials, part))
    return wanted


def telling_trials(delta: float, indices: int) -> int:
    """Return how many trials without an error show that errors are rarer than delta, at all points of a grid together.

    Fewer trials leave it open.

    >>> [telling_trials(delta, 5) for delta in (0.2, 0.1, 0.05, 0.02, 0.01)]
    [21, 44, 90, 228, 459]
    """
    return math.ceil(math.log(TOGETHER / indices) / math.log1p(-delta))


def run_points(
    wanted: Mapping[Point, int], folder: Folder, workers: int, advance: Callable[[int], object] = lambda done: None
) -> dict[Point, Trials]:
    """Simulate points, or read those that are finished; each is stored as soon as it is.

    A thread runs one point at a time: points are many and short, so that splitting them would cost more than it saves.
    The folder is locked meanwhile.
    """
    found: dict[Point, Trials] = {}
    tasks: list[tuple[Point, int]] = []
    with folder.locked():
        for point, asked in wanted.items():
            bandits = point.bandits(folder.seed)[:asked]  # several adversaries share the trials
            count = len(bandits) * -(-asked // len(bandits))  # evenly, rounded up
            stored = folder.read(point, bandits, count)
            if stored is None:
                tasks.append((point, count))
            else:
                found[point] = stored
                advance(len(stored))
        for point in {point.method: point for point, _ in tasks}.values():  # compile before the threads start
            _simulate(replace(point, max_pulls=1), 1, folder.seed)
        with ThreadPoolExecutor(workers) as pool:
            futures = {pool.submit(_simulate, point, count, folder.seed): point for point, count in tasks}
            try:
                for future in as_completed(futures):
                    point, trials = futures[future], future.result()
                    folder.write(point, point.bandits(folder.seed)[: len(trials)], trials)
                    found[point] = trials
                    advance(len(trials))
            finally:
                pool.shutdown(cancel_futures=True)  # what has not begun, if one failed or the run is interrupted
    return {point: found[point] for point in wanted}


def _simulate(point: Point, trials: int, seed: int) -> Trials:
    bandits = point.bandits(seed)[:trials]
    parts = [
        simulate(
            bandit,
            point.method,
            delta=point.delta,
            trials=trials // len(bandits),
            seed=seeds,
            sigma=point.sigma,
            bounds=point.bounds,
            max_pulls=point.max_pulls,
            **dict(point.options),
        )
        for bandit, seeds in zip(bandits, point.seeds(seed, len(bandits)), strict=True)
    ]
    return Trials.joined(parts)


def checked_run(trials: int, seed: int, workers: int) -> int:
    """Return the number of trials, if it, the seed and the number of workers are valid."""
    count, _ = (int(value) for value in checked(trials=trials, workers=workers))
    if not isinstance(checked_seed(seed), int):
        raise InputError(
            "seed", "be a whole number >= 0", seed, "the report names it, so that others can repeat the run"
        )
    return count


# ------------------------------------------------------------------------------------------------------------ folder


class Stored(Protocol):
    """A simulation to store: the settings that distinguish it from others, and what its method is told of rewards.

    The settings are plain values; among them are method, options, delta and epsilon.
    """

    @property
    def settings(self) -> dict[str, Any]: ...  # noqa: D102
    @property
    def told(self) -> dict[str, Any]: ...  # noqa: D102


class Folder:
    """The folder of a run: its settings, its finished points, and later its tables, figures and report.

    Parameters
    ----------
    out : path
        Made when the run begins.
    settings : mapping
        "made by", the command, by which a folder of its kind is known; and what all points have in common. With the
        version and the kernels of this package they are what a resumed run must repeat.
    seed : int
        Seed of the adversaries and of all trials.
    outputs : sequence of str
        Names of all files and folders that a run may leave there: what `overwrite` removes.
    """

    def __init__(self, out: str | Path, settings: Mapping[str, Any], seed: int, outputs: Sequence[str]) -> None:
        self.path = Path(out)
        self.seed = int(seed)
        self._resumed = False
        self._outputs = tuple(outputs)
        self._settings = {"seed": int(seed), **settings, **code_key()}

    def open(self, resume: bool = False, overwrite: bool = False) -> None:
        """Prepare the folder. It must be new or empty, unless it is resumed or overwritten."""
        try:
            self._open(resume, overwrite)
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError("out", "be a folder that can be written", str(self.path), reason) from None

    def _open(self, resume: bool, overwrite: bool) -> None:
        if resume and overwrite:
            raise InputError("overwrite", "not be given with resume", True, "choose one of the two")
        marked = self.path / SETTINGS
        if resume and not marked.exists():
            fix = Phrase("leave out {} to start one", RESUME)
            raise InputError("out", "hold a run to resume", str(self.path), fix)
        if self.path.exists() and not self.path.is_dir():
            raise InputError("out", "be a folder", str(self.path), "there is a file of that name")
        self.path.mkdir(parents=True, exist_ok=True)
        with self.locked():  # a run under way is neither cleared nor joined
            if resume:
                self._compare()
            else:
                self._clear(overwrite)
            (self.path / POINTS).mkdir(exist_ok=True)
            self._resumed = resume
            if not resume:
                marked.write_text(json.dumps(self._settings, indent=1), encoding="utf-8")

    def locked(self) -> contextlib.AbstractContextManager[None]:
        """Lock the folder, or reject it if another run has locked it."""
        return locked_folder("out", self.path)

    def _clear(self, overwrite: bool) -> None:
        if not any(path.name != LOCK for path in self.path.iterdir()):
            return
        if self._stored().get("made by") != self._settings["made by"]:
            rule = f"be new, empty, or a folder of {self._settings['made by']}"
            raise InputError("out", rule, str(self.path), "name another folder")
        if not overwrite:
            fix = Phrase("{} continues the run in it, {} removes that first; or name another folder", RESUME, OVERWRITE)
            raise InputError("out", "be new or empty", str(self.path), fix)
        self.remove(*self._outputs, POINTS, SETTINGS)  # the settings last: a folder marked by them can be cleared again

    def remove_outputs(self) -> None:
        """Remove the tables, figures and report of an earlier run."""
        self.remove(*self._outputs)

    def remove(self, *names: str) -> None:
        """Remove files and folders by name, if they are there."""
        for name in names:
            output = self.path / name
            if output.is_dir():
                shutil.rmtree(output)
            else:
                output.unlink(missing_ok=True)

    def _stored(self) -> dict[str, Any]:
        """Return the settings in the folder; empty if the file is missing or unreadable."""
        try:
            stored = json.loads((self.path / SETTINGS).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return stored if isinstance(stored, dict) else {}

    def _compare(self) -> None:
        stored = self._stored()
        if not stored:
            where = str(self.path / SETTINGS)
            raise InputError("out", f"hold a readable {SETTINGS}", where, "name another folder")
        differing = [name for name in self._settings if stored.get(name) != self._settings[name]]
        if differing:
            name = differing[0]
            raise ConflictError(
                name,
                f"be {stored.get(name)!r}, as in the run to resume",
                self._settings[name],
                Phrase("repeat its settings, or start again with {}", OVERWRITE),
            )

    def _checkpoint(self, point: Stored, bandits: Sequence[Bandit], count: int) -> Checkpoint:
        settings = {**point.settings, **_made_of(point, bandits), "trials": count, "seed": self.seed, **code_key()}
        name = "{method}-delta{delta:g}-epsilon{epsilon:g}-".format_map(settings) + digest(settings)
        return Checkpoint(self.path / POINTS / name, settings, resume=True, lock=False)

    def read(self, point: Stored, bandits: Sequence[Bandit], count: int) -> Trials | None:
        """Return the trials of a finished point; None if they are missing or unusable."""
        if not self._resumed:
            return None
        room = ChunkResult.empty(count, len(bandits[0].arms))
        if self._checkpoint(point, bandits, count).read(room):
            return None
        statuses = np.array(STATUSES)[room.done]
        correct = bandits[0].is_best(room.answers)
        return Trials(room.pulls, room.answers, correct, room.arm_pulls, statuses, point.settings)

    def write(self, point: Stored, bandits: Sequence[Bandit], trials: Trials) -> None:
        """Store a finished point."""
        done = np.array([STATUSES.index(status) for status in trials.statuses], np.int64)
        result = ChunkResult(trials.pulls, trials.answers, trials.arm_pulls, done)
        self._checkpoint(point, bandits, len(trials)).write(0, len(trials), result)


def _made_of(point: Stored, bandits: Sequence[Bandit]) -> dict[str, Any]:
    """Return digests of what follows from the settings: the laws that rewards are drawn from, and the kernel's rule."""
    settings = point.settings
    method = get_method(settings["method"])
    problem = pose(len(bandits[0].arms), delta=settings["delta"], epsilon=settings["epsilon"], **point.told)
    rule = method.rule(problem, method.complete(problem, settings["options"]))
    laws = "".join(laws_digest(bandit) for bandit in bandits)
    return {
        name: hashlib.sha256(data).hexdigest()[:32]
        for name, data in (("laws", laws.encode()), ("rule", rule.tobytes()))
    }
