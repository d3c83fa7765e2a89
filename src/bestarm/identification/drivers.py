"""Loops that bestarm owns: `identify` calls a function, once at a time or in threads; `identify_async` a coroutine."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import math
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol

from bestarm.contamination import of_options
from bestarm.errors import DecidedError, InputError, LateError, WaitingError
from bestarm.identification.identifier import Identifier
from bestarm.identification.ledger import Pull
from bestarm.identification.result import Result
from bestarm.identification.wording import forecast as words
from bestarm.identification.wording.text import quoted
from bestarm.methods import DEFAULT
from bestarm.policies.policy import Factory
from bestarm.problem import LabelT, Problem, checked_reward, pose
from bestarm.progress import status
from bestarm.validation import checked, number, one_of

OnError = Literal["raise", "cancel", "retry"]
ON_ERROR: tuple[OnError, ...] = ("raise", "cancel", "retry")
TRIES = 4  # of a pull, the first included
SECONDS_PER_TRY = 0.5  # between two tries while all arms wait for pulls of others
FAILURES = 16  # in a row that are cancelled (or twice the workers, if that is more): then the judge is gone


class Finder(Protocol[LabelT]):
    """What a loop drives: an `Identifier`, or a study on a database."""

    @property
    def done(self) -> bool:
        """Whether the decision has been made."""

    @property
    def pulls(self) -> int:
        """Rewards used so far."""

    @property
    def result(self) -> Result[LabelT]:
        """The verdict so far."""

    def ask_pulls(self) -> Pull[LabelT]:
        """Return the next pull to make."""

    def tell(self, arm: Pull[LabelT], reward: float) -> None:
        """Take in its reward."""

    def cancel(self, pull: Pull[LabelT]) -> None:
        """Give it up."""

    def snapshot(self) -> Identifier[LabelT]:
        """Return a copy to read from."""


@dataclass
class Budget(Generic[LabelT]):
    """When to stop the loop, and what to do about a pull that fails."""

    finder: Finder[LabelT]
    problem: Problem
    max_pulls: float
    deadline: float
    on_error: OnError
    asked: int = 0
    stalled: bool = False
    failures: int = 0  # in a row
    most_failures: int = FAILURES

    @property
    def tries(self) -> int:
        """How often a pull is made if its calls fail."""
        return TRIES if self.on_error == "retry" else 1

    def next_pull(self, under_way: int = 0) -> Pull[LabelT] | None:
        """Return another pull to make, if one may be made; `stalled` says whether one may be made later.

        While all arms wait for missing pulls, that is so if some of those are under way here, or end by their leases.
        """
        self.stalled = False
        if self.finder.done or self.asked >= self.max_pulls or time.monotonic() >= self.deadline:
            return None
        try:
            pull = self.finder.ask_pulls()
        except DecidedError:  # by another process, meanwhile
            return None
        except WaitingError as error:
            if not under_way and not error.ends:
                raise
            self.stalled = True
            return None
        self.asked += 1
        return pull

    def checked(self, pull: Pull[LabelT], reward: object) -> float:
        """Return the result of a call if it is a reward; otherwise the call has failed."""
        try:
            return checked_reward(self.problem, reward)
        except InputError as error:
            where = f"the call for {quoted(pull.arm)} (pull {pull.number}) returned it"
            raise InputError(error.parameter, error.rule, reward, f"{where}; " + error.fix) from None

    def pause(self) -> float:
        """Seconds until a stalled loop tries again."""
        left = self.left()
        return SECONDS_PER_TRY if left is None else min(SECONDS_PER_TRY, left)

    def tell(self, pull: Pull[LabelT], reward: float) -> None:
        """Tell a reward; one that comes after its lease counts as cancelled, which `on_error` must allow."""
        self.failures = 0
        try:
            self.finder.tell(pull, reward)
        except LateError:
            if self.on_error != "cancel":
                raise

    def fail(self, pull: Pull[LabelT], error: BaseException) -> None:
        """Cancel a pull whose call has failed, or pass the error on, as after too many failures in a row."""
        self.failures += 1
        if self.on_error != "cancel" or not isinstance(error, Exception) or self.failures > self.most_failures:
            raise error
        self.finder.cancel(pull)

    def left(self) -> float | None:
        """Seconds until the deadline; None if there is none."""
        return None if math.isinf(self.deadline) else max(0.0, self.deadline - time.monotonic())

    def result(self) -> Result[LabelT]:
        """Return the verdict; an undecided one was stopped from outside."""
        found = self.finder.result
        return found if found.status != "undecided" else replace(found, limit="budget")

    def carry(self, error: BaseException) -> None:
        """Let an exception carry all that was told so far."""
        with contextlib.suppress(Exception):  # one of the user's that takes no attributes; a database that is away
            error.result = self.finder.result  # type: ignore[attr-defined]


def new_budget(
    finder: Finder[LabelT], problem: Problem, max_pulls: int | None, timeout: float | None, on_error: OnError
) -> Budget[LabelT]:
    """Return a budget, or refuse it; its time begins now."""
    if max_pulls is not None:
        checked(max_pulls=max_pulls)
    if timeout is not None and not 0.0 < number(timeout) < math.inf:
        raise InputError("timeout", "be a number of seconds > 0", timeout, "leave it out to go on until the decision")
    one_of("on_error", on_error, ON_ERROR)
    if on_error == "cancel" and problem.epsilon == 0.0:
        raise InputError("epsilon", "be above 0 to cancel pulls", 0.0, "what never comes counts as replaced")
    deadline = math.inf if timeout is None else time.monotonic() + timeout
    return Budget(finder, problem, math.inf if max_pulls is None else max_pulls, deadline, on_error)


def refuse_sources(options: Mapping[str, Any]) -> None:
    """Raise an error if every reward needs a source."""
    model = of_options(options)
    if model is not None and model.by_source:
        fix = "a function gives no source: ask in a loop of your own, and tell(pull, reward, source)"
        raise InputError("contamination", f"not be {model} here", model.name, fix)


def drive(pull: Callable[[LabelT], float], workers: int, budget: Budget[LabelT], progress: bool) -> Result[LabelT]:
    """Pull arms, several at a time, until the decision or the end of the budget."""
    if not callable(pull) or inspect.iscoroutinefunction(pull):
        fix = "such as lambda arm: measure(arm); for a coroutine function identify_async or run_async"
        raise InputError("pull", "be a function from a label to a reward", pull, fix)
    (hands,) = checked(workers=workers)
    budget.most_failures = max(FAILURES, 2 * int(hands))
    with _watched(budget.finder, progress):
        try:
            if hands == 1:
                _one_by_one(pull, budget)
            else:
                _in_threads(pull, budget, int(hands))
        except BaseException as error:
            budget.carry(error)
            raise
    return budget.result()


async def drive_async(
    pull: Callable[[LabelT], Awaitable[float]], workers: int, budget: Budget[LabelT], progress: bool
) -> Result[LabelT]:
    """Do the same with a coroutine function."""
    if not callable(pull) or (inspect.isfunction(pull) and not inspect.iscoroutinefunction(pull)):
        fix = "async def pull(arm): ...; for a plain function identify or run"
        raise InputError("pull", "be a coroutine function from a label to a reward", pull, fix)
    (hands,) = checked(workers=workers)
    budget.most_failures = max(FAILURES, 2 * int(hands))
    with _watched(budget.finder, progress):
        return await _in_tasks(pull, budget, int(hands))


def _watched(finder: Finder[Any], wanted: bool) -> contextlib.AbstractContextManager[None]:
    """Show the progress of an identification on stderr while the block runs, if wanted."""

    def described() -> str:
        try:
            return describe_progress(finder)
        except Exception as error:  # of a database that is away, say: the run goes on, or ends by itself
            return f"no look: {str(error)[:80]}"

    return status("identify", lambda: f"{finder.pulls:,} rewards", described, wanted)


def describe_progress(finder: Finder[Any]) -> str:
    """Return the leader, with the evidence if there is any, and about how many more rewards it takes.

    It reads a copy: reading a verdict may add up rewards in another order, and so change a last digit later.
    """
    seen = finder.snapshot()
    if seen.done:
        return "decided"
    try:
        foreseen = seen.forecast()
    except InputError:  # of sources, or of a method of the user's own
        foreseen = None
    return words.progress(seen.result, foreseen)


def identify(
    pull: Callable[[LabelT], float],
    arms: int | Iterable[LabelT],
    *,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    method: str | Factory = DEFAULT,
    workers: int = 1,
    max_pulls: int | None = None,
    timeout: float | None = None,
    on_error: OnError = "raise",
    progress: bool = False,
    **options: Any,
) -> Result[LabelT]:
    """Pull arms until the best one is known and return the verdict; bestarm owns the loop.

    For rewards that are still to be collected. If they are already in a file or a table, use `identify_log`, which the
    command `bestarm identify` calls.

    Parameters
    ----------
    pull : callable
        From a label to a reward. With several workers it is called in threads.
    workers : int >= 1
        Calls at a time. Rewards are used in the order of the pulls, whenever they come back.
    max_pulls : int >= 1, optional
        Stop after this many pulls even if undecided; the verdict then says so (limit "budget").
    timeout : float > 0, optional
        Stop likewise after this many seconds. With several workers it does not wait for unfinished calls, and does not
        use their rewards; Python ends only when they do, so give the calls a time limit of their own.
    on_error : {"raise", "cancel", "retry"}
        What to do if a call fails or returns something that is not a reward (NaN, text, a number outside the bounds).
        "raise" passes the exception on; its attribute `result` has the verdict so far. "cancel" counts the reward as
        replaced, which needs epsilon > 0; after 16 failures in a row, or twice the workers, it passes the exception on.
        "retry" calls again, up to four times in all, and then passes the exception on; this assumes that failures do
        not depend on the reward.
    progress : bool
        Show on stderr the number of rewards, the leader, the evidence (a p-value; certified method only) and about how
        many more rewards it takes (`Identifier.forecast`): updated in place on a terminal, elsewhere one line every ten
        seconds. A thread reads a copy, for at most a twentieth of the time, and changes nothing.
    arms, delta, epsilon, sigma, bounds, method, **options
        As for `Identifier`.

    Examples
    --------
    >>> identify(lambda arm: arm / 10, 3, delta=0.05, epsilon=0.0, sigma=0.01, method="mean-se").best
    2
    """
    terms: dict[str, Any] = {"delta": delta, "epsilon": epsilon, "sigma": sigma, "bounds": bounds}
    refuse_sources(options)
    finder = Identifier(arms, **terms, method=method, **options)
    budget = new_budget(finder, pose(finder.labels, **terms), max_pulls, timeout, on_error)
    return drive(pull, workers, budget, progress)


def _attempt(pull: Callable[[LabelT], float], asked: Pull[LabelT], budget: Budget[LabelT]) -> float:
    tries = budget.tries
    while True:
        tries -= 1
        try:
            return budget.checked(asked, pull(asked.arm))
        except Exception:
            if tries == 0:
                raise


def _one_by_one(pull: Callable[[LabelT], float], budget: Budget[LabelT]) -> None:
    while (asked := budget.next_pull()) is not None or budget.stalled:
        if asked is None:
            time.sleep(budget.pause())
            continue
        try:
            reward = _attempt(pull, asked, budget)
        except Exception as error:
            budget.fail(asked, error)
        else:
            budget.tell(asked, reward)


def _in_threads(pull: Callable[[LabelT], float], budget: Budget[LabelT], workers: int) -> None:
    pool = ThreadPoolExecutor(workers, thread_name_prefix="bestarm")
    under_way: dict[Future[float], Pull[LabelT]] = {}
    try:
        while True:
            while len(under_way) < workers and (asked := budget.next_pull(len(under_way))) is not None:
                under_way[pool.submit(_attempt, pull, asked, budget)] = asked
            if not under_way and budget.stalled:
                time.sleep(budget.pause())
                continue
            if not under_way or budget.finder.done:
                return
            done, _ = wait(under_way, timeout=budget.left(), return_when=FIRST_COMPLETED)
            if not done:  # out of time
                return
            _take(budget, [(under_way.pop(future), future) for future in done])
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _take(budget: Budget[LabelT], ended: list[tuple[Pull[LabelT], Any]]) -> None:
    """Tell the results of finished calls, rewards first, because a failure may end the run."""
    for asked, call in sorted(ended, key=lambda pair: pair[1].exception() is not None):
        error = call.exception()
        if error is None:
            budget.tell(asked, call.result())
        else:
            budget.fail(asked, error)


async def identify_async(
    pull: Callable[[LabelT], Awaitable[float]],
    arms: int | Iterable[LabelT],
    *,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    method: str | Factory = DEFAULT,
    workers: int = 8,
    max_pulls: int | None = None,
    timeout: float | None = None,
    on_error: OnError = "raise",
    progress: bool = False,
    **options: Any,
) -> Result[LabelT]:
    """Do the same with a coroutine function: up to `workers` calls are awaited at a time; parameters as for `identify`.

    Calls that are under way when it ends are cancelled, and their rewards not used.

    Examples
    --------
    >>> async def judge(arm):
    ...     return arm / 10
    >>> asyncio.run(identify_async(judge, 3, delta=0.05, epsilon=0.0, sigma=0.01, method="mean-se")).best
    2
    """
    terms: dict[str, Any] = {"delta": delta, "epsilon": epsilon, "sigma": sigma, "bounds": bounds}
    refuse_sources(options)
    finder = Identifier(arms, **terms, method=method, **options)
    budget = new_budget(finder, pose(finder.labels, **terms), max_pulls, timeout, on_error)
    return await drive_async(pull, workers, budget, progress)


async def _in_tasks(pull: Callable[[LabelT], Awaitable[float]], budget: Budget[LabelT], workers: int) -> Result[LabelT]:
    """Await calls; what they come to is told, and further ones are asked for, in a thread: the loop is never held up.

    It waits neither for a kernel to compile nor for a database. A thread of its own keeps all of it in order.
    """
    loop = asyncio.get_running_loop()
    thread = ThreadPoolExecutor(1, thread_name_prefix="bestarm-asks")
    under_way: dict[asyncio.Task[float], Pull[LabelT]] = {}
    ended: list[tuple[Pull[LabelT], Any]] = []
    try:
        while True:
            free = workers - len(under_way)
            fresh, is_done = await loop.run_in_executor(thread, _take_and_ask, budget, ended, free, len(under_way))
            ended = []
            for asked in fresh:
                under_way[asyncio.create_task(_attempt_async(pull, asked, budget))] = asked
            if not under_way and budget.stalled and not is_done:
                await asyncio.sleep(budget.pause())
                continue
            if not under_way or is_done:
                break
            done, _ = await asyncio.wait(under_way, timeout=budget.left(), return_when=asyncio.FIRST_COMPLETED)
            if not done:  # out of time
                break
            ended = [(under_way.pop(task), task) for task in done]
        return await loop.run_in_executor(thread, budget.result)
    except asyncio.CancelledError:  # nobody waits for a verdict
        raise
    except BaseException as error:
        await loop.run_in_executor(thread, budget.carry, error)
        raise
    finally:
        for task in under_way:
            task.cancel()
        thread.shutdown(wait=False)


def _take_and_ask(
    budget: Budget[LabelT], ended: list[tuple[Pull[LabelT], Any]], free: int, under_way: int
) -> tuple[list[Pull[LabelT]], bool]:
    """Tell the results of calls; return the next pulls to make, and whether the decision has been made."""
    _take(budget, ended)
    asked: list[Pull[LabelT]] = []
    while len(asked) < free and (one := budget.next_pull(under_way + len(asked))) is not None:
        asked.append(one)
    return asked, budget.finder.done


async def _attempt_async(
    pull: Callable[[LabelT], Awaitable[float]], asked: Pull[LabelT], budget: Budget[LabelT]
) -> float:
    tries = budget.tries
    while True:
        tries -= 1
        try:
            return budget.checked(asked, await pull(asked.arm))
        except Exception:
            if tries == 0:
                raise
