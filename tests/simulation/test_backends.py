"""Whoever runs the trials, they are the same: threads, processes, and a Dask cluster whose workers die."""

from __future__ import annotations

import importlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import bestarm as ba
from bestarm.errors import InputError
from bestarm.simulation.backends import Packed, _packed, _run_packed
from bestarm.simulation.chunks import NO_CAP, Spec, run_chunk
from bestarm.simulation.pace import Pace
from bestarm.simulation.seeds import next_seeds

BANDIT = ba.Bandit([ba.Gaussian(2.5), ba.Gaussian(1.5), ba.Gaussian(0.6)], 0.1, ba.adversaries.Shift([-0.5, 0.5, 1.0]))
CLOSE = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.999)], 0.1, ba.adversaries.Point(0.0))  # trials end at the cap


def simulated(bandit: ba.Bandit = BANDIT, method: str = "random", **changes: Any) -> ba.Trials:
    options = {"alpha": 0.2, "exploration": "chernoff"} if method == "random" else {}
    return ba.simulate(
        bandit, method, **{"delta": 0.1, "trials": 60, "seed": 5, "max_pulls": 1500, **options, **changes}
    )


def assert_equal(one: ba.Trials, other: ba.Trials) -> None:
    for name in ("pulls", "answers", "correct", "arm_pulls", "statuses"):
        assert getattr(one, name).dtype == getattr(other, name).dtype
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.settings == other.settings


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two worker processes on the loopback device, and a client that is not the default one."""
    distributed: Any = importlib.import_module("distributed")
    where = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}  # any port: another cluster may have Dask's own
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **where) as cluster,
        distributed.Client(cluster, set_as_default=False) as connected,
    ):
        yield connected


def address(client: Any) -> str:
    return str(client.scheduler.address)


# ----------------------------------------------------------------------------------------------------------- bit by bit


@pytest.fixture(scope="module")
def expected() -> ba.Trials:
    return simulated()


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_threads_and_chunks_change_nothing(workers: int, chunk: int | None, expected: ba.Trials) -> None:
    assert len(set(expected.pulls.tolist())) > 10
    assert_equal(simulated(workers=workers, chunk=chunk), expected)


@pytest.mark.parametrize(("workers", "chunk"), [(1, 1000), (2, 1), (2, 7), (3, None)])
def test_processes_change_nothing(workers: int, chunk: int | None, expected: ba.Trials) -> None:
    # Processes of its own: once, where joblib was to make a pool of other tests smaller, it waited for ever.
    get_reusable_executor().shutdown(wait=True)
    assert_equal(simulated(backend="loky", workers=workers, chunk=chunk), expected)


@pytest.mark.parametrize("chunk", [None, 1, 7, 1000])
def test_a_cluster_changes_nothing(client: Any, chunk: int | None, expected: ba.Trials) -> None:
    assert_equal(simulated(backend="dask", address=address(client), chunk=chunk), expected)


@pytest.mark.parametrize("method", sorted(ba.METHODS))
def test_every_method_runs_in_other_processes(method: str) -> None:
    one = simulated(method=method, trials=12)
    assert_equal(simulated(method=method, trials=12, backend="loky", workers=2, chunk=5), one)


def test_the_active_client_is_used_and_left_open(client: Any, expected: ba.Trials) -> None:
    with client.as_current():
        assert_equal(simulated(backend="dask", chunk=9), expected)
    assert client.status == "running"


def test_large_tables_reach_every_worker(client: Any) -> None:
    rng = np.random.default_rng(3)
    bandit = ba.Bandit([ba.Empirical(rng.normal(mean, 1.0, 400_000)) for mean in (1.0, 0.0)])
    one = simulated(bandit, "mean-se", sigma=1.0)
    assert len(_packed(spec_of(bandit)).data) > 10_000_000  # where Dask starts to warn of large tasks
    assert_equal(simulated(bandit, "mean-se", sigma=1.0, backend="dask", address=address(client), chunk=10), one)
    assert_equal(simulated(bandit, "mean-se", sigma=1.0, backend="loky", workers=2, chunk=20), one)


def test_the_command_runs_on_a_cluster(client: Any) -> None:
    words = ["simulate", "--means", "1,0", "--method", "mean-se", "--trials", "30", "--seed", "4", "--format", "json"]
    command = [sys.executable, "-m", "bestarm", *words, "--dask", address(client), "--chunk", "4"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], 0.1, ba.paper_adversary([1.0, 0.0], 0.1, 4))
    trials = ba.simulate(bandit, "mean-se", delta=0.1, trials=30, seed=4)
    assert json.loads(done.stdout) == [{"method": "mean-se", **trials.summary()}]
    assert f"{trials.pulls.sum():,} pulls in " in done.stderr


# ------------------------------------------------------------------------------------------------------ what goes wrong


def test_a_worker_that_is_killed_loses_and_repeats_nothing(client: Any) -> None:
    settings: dict[str, Any] = {"method": "se-cbai", "trials": 120, "max_pulls": 200_000, "chunk": 4}
    finished: list[int] = []
    killed: list[int] = []

    def kill_one(trials: int) -> None:
        finished.append(trials)
        if len(finished) == 3:
            busy = {worker: len(tasks) for worker, tasks in client.processing().items()}
            pids = client.run(os.getpid)
            victim = max(busy, key=lambda worker: busy[worker])
            assert busy[victim] > 0
            os.kill(pids[victim], signal.SIGKILL)
            killed.append(pids[victim])

    trials = simulated(CLOSE, backend="dask", address=address(client), progress=kill_one, **settings)
    assert sum(finished) == 120
    assert len(finished) == 30
    assert len(killed) == 1
    wait_for_two_workers(client)
    assert killed[0] not in client.run(os.getpid).values()
    assert_equal(trials, simulated(CLOSE, workers=2, **settings))


def wait_for_two_workers(client: Any) -> None:
    client.wait_for_workers(2, timeout=30)
    deadline = time.monotonic() + 30
    while len(client.nthreads()) != 2 and time.monotonic() < deadline:
        time.sleep(0.05)


def test_an_error_of_a_trial_comes_back_from_everywhere(client: Any) -> None:
    bandit = ba.Bandit([ba.CustomArm(lambda rng: float("nan"), 1.0, 1.0), ba.Gaussian(0.0)])
    for where in (
        {},
        {"workers": 2},
        {"backend": "loky", "workers": 2},
        {"backend": "dask", "address": address(client)},
    ):
        with pytest.raises(InputError, match=r"^reward must be a finite number, got .*nan"):
            simulated(bandit, "mean-se", trials=4, **where)


def test_python_functions_run_in_other_processes(client: Any) -> None:
    shifts = [-0.5, 0.5, 1.0]
    bandit = ba.Bandit(BANDIT.arms, 0.1, lambda rng, arm, pulls, clean: clean + shifts[arm])
    one = simulated(method="mean-se", trials=8)
    assert_equal(simulated(bandit, "mean-se", trials=8), one)
    assert_equal(simulated(bandit, "mean-se", trials=8, backend="loky", workers=2, chunk=3), one)
    assert_equal(simulated(bandit, "mean-se", trials=8, backend="dask", address=address(client), chunk=3), one)


@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_functions_that_cannot_be_sent_are_refused(backend: str) -> None:
    lock = threading.Lock()

    def draw(rng: np.random.Generator) -> float:
        with lock:
            return float(rng.normal(1.0))

    bandit = ba.Bandit([ba.CustomArm(draw, 1.0, 1.0), ba.Gaussian(0.0)])
    assert simulated(bandit, "mean-se", trials=2, workers=2).decided == 2
    with pytest.raises(InputError, match=r"^bandit must be picklable .*use backend='threads'"):
        simulated(bandit, "mean-se", trials=2, backend=backend)


def test_without_a_cluster_the_three_ways_to_one_are_told() -> None:
    with pytest.raises(InputError, match=r"^address must be given .*tcp://.*LocalCluster.*distributed\.Client of your"):
        simulated(backend="dask")


def test_an_address_where_nobody_listens_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bestarm.simulation.backends._CONNECT", "1s")
    with pytest.raises(InputError, match=r"^address must lead to a running Dask scheduler, got 'tcp://127.0.0.1:9'"):
        simulated(backend="dask", address="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match=r"^address must lead to a running Dask scheduler, got 'nonsense://x'"):
        simulated(backend="dask", address="nonsense://x")


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"^backend must .*, got 'dask': .*pip install -e '\.\[cluster\]'"):
        simulated(backend="dask")


def test_a_worker_with_other_code_is_refused() -> None:
    packed = _packed(spec_of(BANDIT))
    assert _run_packed(packed, 3, 5).result.pulls.tolist() == run_chunk(spec_of(BANDIT), 3, 5).pulls.tolist()
    with pytest.raises(InputError, match=r"^workers must run bestarm 0\.0\.9/abc, as the caller does, got "):
        _run_packed(Packed("0.0.9/abc", packed.digest, packed.data), 3, 5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"backend": "mpi"}, r"^backend must be one of threads, loky, dask, got 'mpi'"),
        ({"backend": None}, r"^backend must be one of threads, loky, dask, got None"),
        ({"address": "tcp://127.0.0.1:8786"}, r"^address must .*, got 'tcp://.*pass backend='dask'"),
        ({"backend": "dask", "address": 8786}, r"^address must be the address of a Dask scheduler"),
        ({"chunk": 0}, r"^chunk must be a whole number >= 1, got 0"),
        ({"chunk": 1.5}, r"^chunk must be a whole number >= 1, got 1.5"),
        ({"progress": "yes"}, r"^progress must be True, False or a function"),
    ],
)
def test_bad_settings_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulated(**changes)


# ----------------------------------------------------------------------------------------------------- chunks, progress


def spec_of(bandit: ba.Bandit) -> Spec:
    from bestarm.methods import get_method
    from bestarm.problem import pose

    problem = pose(len(bandit.arms), delta=0.1, epsilon=0.1, sigma=1.0)
    entry = get_method("mean-se")
    rule = entry.rule(problem, entry.complete(problem, {}))
    return Spec(problem, rule, bandit.laws(), None, NO_CAP, next_seeds(5))


@pytest.mark.parametrize("where", [{"workers": 1}, {"workers": 2}, {"workers": 2, "backend": "loky"}])
@pytest.mark.parametrize("chunk", [None, 7])
def test_progress_counts_every_trial_in_the_thread_of_the_caller(where: dict[str, Any], chunk: int | None) -> None:
    told: list[tuple[int, int]] = []
    simulated(progress=lambda trials: told.append((trials, threading.get_ident())), chunk=chunk, **where)
    assert sum(trials for trials, _ in told) == 60
    assert {thread for _, thread in told} == {threading.get_ident()}
    if chunk is not None:
        assert sorted(trials for trials, _ in told) == [4, *[7] * 8]


def test_chunks_grow_to_the_time_wanted_and_shrink_towards_the_end() -> None:
    """Every trial takes a millisecond: chunks go up to 500 trials, and down when the end is near."""
    pace = Pace([(0, 3000), (5000, 10_000)], None, workers=2, seconds=0.5)
    sizes, trials = [], []
    for first, last in pace:
        sizes.append(last - first)
        trials += list(range(first, last))
        pace.learn(last - first, 0.001 * (last - first))
    assert trials == [*range(3000), *range(5000, 10_000)]
    assert sizes[:4] == [1, 8, 64, 500]
    assert max(sizes) == 500
    assert sizes[-6:] == sorted(sizes[-6:], reverse=True)
    assert 31 <= sizes[-2] < 50  # a sixteenth of half a second


def test_a_thousand_workers_get_longer_chunks() -> None:
    """At half a second each, the caller would have to serve two thousand chunks a second."""
    pace = Pace([(0, 10**9)], None, workers=1, seconds=0.5)
    pace.workers = 1000
    sizes = []
    for first, last in itertools.islice(pace, 8):
        sizes.append(last - first)
        pace.learn(last - first, 0.001 * (last - first))
    assert sizes == [1, 8, 64, 512, 4096, 5000, 5000, 5000]


def test_long_trials_stay_alone_in_their_chunk() -> None:
    pace = Pace([(0, 20)], None, workers=2, seconds=0.5)
    chunks = []
    for first, last in pace:
        chunks.append((first, last))
        pace.learn(last - first, 3.0 * (last - first))
    assert chunks == [(trial, trial + 1) for trial in range(20)]


def test_a_chunk_depends_on_its_trials_only() -> None:
    whole = run_chunk(spec_of(BANDIT), 0, 30)
    part = run_chunk(spec_of(BANDIT), 11, 17)
    assert part.arm_pulls.tolist() == whole.arm_pulls[11:17].tolist()
    assert part.answers.tolist() == whole.answers[11:17].tolist()
    assert part.done.tolist() == whole.done[11:17].tolist() == [1] * 6
