"""Run chunks in threads or processes of this machine (joblib), or on the workers of a cluster (Dask).

Every backend is a generator of finished chunks, in the order in which they finish.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import pickle
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from bestarm.errors import InputError
from bestarm.phrases import Phrase, Setting
from bestarm.policies.policy import PolicyRule
from bestarm.simulation.chunks import ChunkResult, Spec, run_chunk
from bestarm.simulation.fingerprints import code_key
from bestarm.simulation.pace import Pace

BACKENDS = ("threads", "loky", "dask")

_TRY_TRIALS, _TRY_PULLS = 8, 10_000
_RETRIES = 3  # of a chunk that failed on a Dask worker; if the worker died, the scheduler runs it again anyway
_CONNECT = "15s"
_COUNT_EVERY = 2.0  # seconds between two counts of the workers


@dataclass(frozen=True)
class Finished:
    """A finished chunk: its trials first, ..., last - 1, their outcome, and the seconds that they took."""

    first: int
    last: int
    result: ChunkResult
    seconds: float


@dataclass(frozen=True)
class Packed:
    """A spec on its way to other processes: pickled once, and unpickled once by each process that gets it."""

    code: str  # version and kernels of the sender
    digest: str
    data: bytes


def finished_chunks(
    spec: Spec, chunks: Pace, backend: str, workers: int, address: str | None
) -> Generator[Finished, None, None]:
    """Run all chunks and yield each when it is finished; the pace learns from them."""
    if backend == "threads" and workers == 1:
        for first, last in chunks:
            yield _paced(spec, chunks, first, last)
        return
    _try_out(spec, chunks)
    if backend == "threads":
        yield from _joblib("threading", functools.partial(_paced, spec, chunks), chunks, workers)
        return
    packed = _packed(spec)
    if backend == "loky":
        done = _joblib("loky", functools.partial(_run_packed, packed), chunks, workers)
    else:
        done = _dask(packed, chunks, address)
    for chunk in done:
        chunks.learn(chunk.last - chunk.first, chunk.seconds)
        yield chunk


def _timed(spec: Spec, first: int, last: int) -> Finished:
    begin = time.perf_counter()
    result = run_chunk(spec, first, last)
    return Finished(first, last, result, time.perf_counter() - begin)


def _paced(spec: Spec, chunks: Pace, first: int, last: int) -> Finished:
    chunk = _timed(spec, first, last)
    chunks.learn(last - first, chunk.seconds)
    return chunk


def _try_out(spec: Spec, chunks: Pace) -> None:
    """Compile here what several processes would otherwise compile at the same time, and measure the pace.

    One pull compiles everything. A few trials then give the pace; if they are too long for that, chunks are single
    trials until the first of them are finished.
    """
    if spec.laws is not None:
        run_chunk(dataclasses.replace(spec, max_pulls=1), 0, 1)
        cap = min(spec.max_pulls, _TRY_PULLS)
        tried = _timed(dataclasses.replace(spec, max_pulls=cap), 0, _TRY_TRIALS)
        if cap == spec.max_pulls or tried.result.done.all():
            chunks.learn(_TRY_TRIALS, tried.seconds)


def _joblib(
    name: str, run: Callable[[int, int], Finished], chunks: Iterable[tuple[int, int]], workers: int
) -> Iterator[Finished]:
    from joblib import Parallel, delayed  # costs a tenth of a second that one worker need not pay

    # max_nbytes: memory-mapped tables would be read-only, another type for the compiler.
    parallel = Parallel(n_jobs=workers, backend=name, return_as="generator_unordered", batch_size=1, max_nbytes=None)
    finished = parallel(delayed(run)(first, last) for first, last in chunks)
    try:
        for chunk in finished:  # noqa: UP028 - `yield from` would close it with the warning on
            yield chunk
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about unused tasks: the caller stopped on purpose
            finished.close()


# ------------------------------------------------------------------------------------------------------ other processes


def _code() -> str:
    return "/".join(code_key().values())


def _packed(spec: Spec) -> Packed:
    import cloudpickle

    try:
        data = cloudpickle.dumps(spec)
    except Exception as error:  # any exception of the user's arm, adversary or policy
        use = Phrase("use {}, or functions without such things", Setting("backend", "threads"))
        reason = f"{type(error).__name__}: {error}; " + use
        whose: tuple[str, Any] = ("bandit", spec.bandit)
        if isinstance(spec.rule, PolicyRule) and not _can_be_sent(spec.rule):
            whose = ("method", spec.rule.factory)
        raise InputError(whose[0], "be picklable to be sent to other processes", whose[1], reason) from error
    return Packed(_code(), hashlib.sha256(data).hexdigest(), data)


def _can_be_sent(part: Any) -> bool:
    import cloudpickle

    try:
        cloudpickle.dumps(part)
    except Exception:
        return False
    return True


_unpacked: dict[str, Spec] = {}


def _run_packed(packed: Packed, first: int, last: int) -> Finished:
    """Run a chunk in another process, which must have the same code: other kernels might give other trials."""
    if packed.code != _code():
        reason = f"a worker has {_code()}; install the same version there"
        raise InputError("workers", f"run bestarm {packed.code}, as the caller does", _code(), reason)
    spec = _unpacked.get(packed.digest)
    if spec is None:
        _unpacked.clear()  # keep one: specs can be large, and workers outlive simulations
        spec = _unpacked[packed.digest] = pickle.loads(packed.data)
    return _timed(spec, first, last)


# ----------------------------------------------------------------------------------------------------------------- Dask


def _dask(packed: Packed, chunks: Pace, address: str | None) -> Iterator[Finished]:
    distributed = load_dask()
    with _client(distributed, address) as client:
        # A task and not `scatter`: scattered data dies with the worker that holds it, a task is run again elsewhere.
        spec = _submit(client, _same, packed)
        waiting = distributed.as_completed([], loop=client.loop)
        threads, counted = 0, -_COUNT_EVERY
        try:
            while True:
                if time.monotonic() - counted > _COUNT_EVERY:  # clusters grow and shrink
                    threads, counted = sum(client.nthreads().values()), time.monotonic()
                    chunks.workers = max(1, threads)
                while waiting.count() < max(4, 2 * threads) and (chunk := next(chunks, None)) is not None:
                    waiting.add(_submit(client, _run_packed, spec, *chunk))
                if waiting.is_empty():
                    return
                yield from client.gather(waiting.next_batch(block=True))
        finally:
            client.cancel(list(waiting.futures))  # none are left, unless the caller stops early


def load_dask() -> Any:
    """Return the module distributed, or say how to install it."""
    try:
        import distributed
    except ImportError as error:
        fix = "in the clone of bestarm: pip install -e '.[cluster]'"
        raise InputError("backend", "be threads or loky where Dask is missing", "dask", fix) from error
    return distributed


def _submit(client: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    import dask

    # Large tables make a large first task. It is sent once, so Dask's warning does not apply.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "100 GB"}):
        return client.submit(function, *arguments, pure=False, retries=_RETRIES)


def _same(packed: Packed) -> Packed:
    return packed


@contextlib.contextmanager
def _client(distributed: Any, address: str | None) -> Iterator[Any]:
    """Yield a client of the scheduler at the address, closed afterwards, or the active one."""
    if address is not None:
        try:
            client = distributed.Client(address, timeout=_CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            fix = f"{error}; start one by: dask scheduler"
            raise InputError("address", "lead to a running Dask scheduler", address, fix) from error
        with client:
            yield client
        return
    try:
        current = distributed.default_client()
    except ValueError as error:
        raise InputError(
            "address",
            "be given where no Dask client is active",
            None,
            Phrase(
                "pass {} of a scheduler; or start workers here by "
                "client = distributed.Client(distributed.LocalCluster()); or create a distributed.Client of your "
                "cluster first, which is then used",
                Setting("address", "tcp://host:8786"),
            ),
        ) from error
    yield current
