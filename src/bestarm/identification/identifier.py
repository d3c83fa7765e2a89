"""The live driver: ask for arms, tell rewards, read the verdict."""

from __future__ import annotations

import copy
import math
import threading
import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import DecidedError, InputError, WaitingError
from bestarm.identification.engines._base import Decision, EngineReading
from bestarm.identification.engines.choose import new_engine
from bestarm.identification.forecast import DECIDED, Forecast
from bestarm.identification.ledger import CANCELLED, TOLD, Pull
from bestarm.identification.locks import give_lock
from bestarm.identification.pictures import draw_result
from bestarm.identification.result import LIMITS, STATUSES, ArmRow, Result
from bestarm.identification.robustness import Sensitivity, history, sensitivity
from bestarm.identification.waiting import MissingPull, Waiting
from bestarm.methods import DEFAULT, get_method
from bestarm.policies.policy import Factory
from bestarm.problem import LabelT, Problem, checked_reward, checked_rewards, index_of, indices_of, pose
from bestarm.validation import Seed, callers_level, checked_seed, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Part = TypeVar("Part")


class Identifier(Generic[LabelT]):
    """Finds the arm with the highest mean; you own the loop.

    You may tell rewards of any arm, asked for or not. By label, tell them in the order of the pulls, which must not
    depend on their values; by pull, in any order. An arm that was asked for and not told yet counts as pulled, so a
    batch is spread over the arms as the method would spread it. A decision is final: later rewards are only recorded.

    An identifier can be pickled, copied and forked at any moment, and used by many threads: calls take effect one after
    the other. The first calls on a machine compile for up to half a minute; the logger `bestarm` says so (on stderr).

    Parameters
    ----------
    arms : int or iterable of hashable
        Labels of two to a million arms; a number K stands for 0, ..., K-1.
    delta : float in (0, 1)
        Accepted probability of a wrong answer.
    epsilon : float in [0, 0.5)
        How much may be replaced by an adversary. By default each reward is replaced with at most this probability, by
        an independent coin. The option `contamination` of the certified method makes it a share of the rewards of each
        arm, of all rewards, or of the sources; see the guide "Which contamination is mine?".
    sigma : float > 0, optional
        Sub-Gaussian scale of a clean reward.
    bounds : (float, float), optional
        Lowest and highest possible reward, in place of sigma.
    method : str, or class or function that makes a `Policy`
        One of `bestarm.methods.METHODS`, or a method of your own: the class, or its import path "module:Name".
    **options
        Options of the method. The error for an unknown one lists those it has.

    Examples
    --------
    >>> finder = Identifier(["A", "B"], delta=0.05, epsilon=0.0, sigma=0.1, method="mean-se")
    >>> while not finder.done:
    ...     arm = finder.ask()
    ...     finder.tell(arm, {"A": 0.2, "B": 0.7}[arm])
    >>> finder.result.best, finder.result.pulls
    ('B', 4)
    """

    def __init__(
        self,
        arms: int | Iterable[LabelT],
        *,
        delta: float,
        epsilon: float,
        sigma: float | None = None,
        bounds: tuple[float, float] | None = None,
        method: str | Factory = DEFAULT,
        **options: Any,
    ) -> None:
        self._problem: Problem[LabelT] = pose(arms, delta=delta, epsilon=epsilon, sigma=sigma, bounds=bounds)
        chosen = get_method(method)
        self._options = chosen.complete(self._problem, options)
        self._promise, self._proved = chosen.promised(self._options), chosen.certifies
        self._index = {label: index for index, label in enumerate(self._problem.labels)}
        self._engine = new_engine(chosen, self._problem, self._options)
        self._ledger = self._engine.ledger
        self._decision: Result[LabelT] | None = None
        self._complete = False  # whether the decision has what takes long to find
        warning = self._engine.warning()
        if warning is not None:
            warnings.warn(warning, stacklevel=callers_level())
        self._lock: threading.RLock
        give_lock(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy that no other thread changes while it is written, with a tag of its layout."""
        with self._lock:
            fields = {name: value for name, value in vars(self).items() if name != "_lock"}
            fields |= self._copied({name: fields[name] for name in _CHANGING})
            return {"tag": self._tag(), "fields": fields}

    def _copied(self, part: Part) -> Part:
        """Return a deep copy of a part, with the same labels: they may be equal to nothing but themselves."""
        return copy.deepcopy(part, {id(self._problem): self._problem})

    def __setstate__(self, stored: Any) -> None:
        if not isinstance(stored, dict) or "tag" not in stored:
            raise _foreign("none")
        if not str(stored["tag"]).startswith(_tag_of_version()):  # before a look at fields that may have other names
            raise _foreign(stored["tag"])
        vars(self).update(stored["fields"])
        if stored["tag"] != self._tag():
            raise _foreign(stored["tag"])
        give_lock(self)

    def _tag(self) -> str:
        """Return the version and the layout of all records: kernels would read another layout as garbage."""
        return f"{_tag_of_version()}{self._engine.tag()}"

    def __repr__(self) -> str:
        rewards = f"{self.pulls:,} rewards"
        waiting = 0 if self.done else self.waiting.rewards
        rewards += f" and {waiting:,} that wait" if waiting else ""
        state = "decided" if self.done else "undecided"
        return f"<Identifier of {self._problem.size} arms by {self._engine.name}: {rewards}, {state}>"

    @property
    def labels(self) -> tuple[LabelT, ...]:
        """The arms, in order."""
        return self._problem.labels

    @property
    def done(self) -> bool:
        """Whether the decision has been made."""
        return self._decision is not None

    @property
    def pulls(self) -> int:
        """Rewards used so far, including stand-ins for cancelled pulls, and rewards after the decision."""
        with self._lock:
            return self._engine.pulls

    @property
    def pending(self) -> int:
        """Pulls whose rewards are not used yet: they are still out, or wait for an earlier pull that is."""
        with self._lock:
            return self._engine.pending

    # --------------------------------------------------------------------------------------------------------- ask

    @overload
    def ask(self) -> LabelT: ...
    @overload
    def ask(self, n: int) -> list[LabelT]: ...
    def ask(self, n: int | None = None) -> LabelT | list[LabelT]:
        """Return the label of the arm to pull next, or a list of n of them to pull at once."""
        with self._lock:
            self._may_ask(n)
            labels = [self._problem.labels[index] for index in self._choose(1 if n is None else int(n))]
        return labels[0] if n is None else labels

    def _may_ask(self, n: int | None) -> None:
        if n is not None and not (number(n) >= 1 and number(n) % 1 == 0):
            raise InputError("n", "be a whole number >= 1", n, "leave it out to get one label")
        if self._decision is not None:
            raise DecidedError(self._decision.status, "finder")

    def _choose(self, n: int) -> NDArray[np.int64]:
        return self._engine.ask(n)

    @overload
    def ask_pulls(self, n: None = None, *, source: Hashable | None = None) -> Pull[LabelT]: ...
    @overload
    def ask_pulls(self, n: int, *, source: Hashable | None = None) -> list[Pull[LabelT]]: ...
    def ask_pulls(self, n: int | None = None, *, source: Hashable | None = None) -> Pull[LabelT] | list[Pull[LabelT]]:
        """Return the next pull to make, or a list of n of them: like `ask`, but each has a number.

        Tell each reward by `tell(pull, reward)`, in any order. Rewards of an arm are used in the order of its pulls:
        one that comes early waits for those before it (see `waiting`). Cancel a pull whose reward never comes. An arm
        that owes many rewards and hardly answers is skipped while others answer, and so is an arm with 2,000 rewards
        that wait for a missing pull. If that holds for every arm left, a `WaitingError` is raised.

        `source` names who will give these rewards, with contamination="sources" only. A reward then also waits for the
        earlier pulls of its source. A pull that names no source may be of any, so all later rewards wait for it.
        """
        with self._lock:
            if source is not None:
                self._engine.check_source(source)
            self._may_ask(n)
            if self._ledger.is_any_far_ahead() and all(map(self._ledger.is_far_ahead, self._engine.active())):
                raise WaitingError(self._waiting())
            pulls = [self._issue(index, source) for index in self._choose(1 if n is None else int(n)).tolist()]
        return pulls[0] if n is None else pulls

    def _issue(self, index: int, source: Hashable | None) -> Pull[LabelT]:
        """Issue a pull of an arm, or of another one if the arm owes too many rewards."""
        ledger = self._ledger
        if ledger.owes_too_much(index):
            other = self._other_than(index)
            if other is not None:
                self._engine.move(index, other)
                index = other
        return ledger.pull(ledger.issue(index, source), self._problem.labels[index])

    def _other_than(self, index: int) -> int | None:
        """Return the arm with the fewest pulls of those that answer, or None if there is none."""
        ledger, active = self._ledger, self._engine.active()
        others = [i for i in active if not ledger.owes_too_much(i)]
        if not others and ledger.is_far_ahead(index):
            others = [i for i in active if not ledger.is_far_ahead(i)]
        arms = self._engine.arms
        return min(others, key=lambda i: int(arms["told"][i] + arms["pending"][i]), default=None)

    # -------------------------------------------------------------------------------------------------------- tell

    def tell(self, arm: LabelT | Pull[LabelT], reward: float, source: Hashable | None = None) -> None:
        """Take in one reward, of a pull or of an arm. An invalid one is rejected and changes nothing.

        Told by the label of the arm, rewards are used in the order in which you tell them. That order must not depend
        on their values: tell the rewards of an arm in the order of its pulls. With sources, tell those of each source
        in the order in which it was asked: which of two arms it speaks of first must not depend on what it says of
        them. Told by the pull, rewards may come in any order.

        `source` is who or what gave the reward, with contamination="sources" only; leave it out if the pull names it. A
        source counts once per arm: its second reward of the same arm is not used.
        """
        if type(arm) is Pull:
            self._tell_pull(arm, reward, source)
            return
        index = index_of(arm, self._index, self._problem.labels)
        value = checked_reward(self._problem, reward)
        with self._lock:
            self._engine.observe(index, value, source)
            self._settle()

    def tell_many(
        self,
        arms: Sequence[LabelT],
        rewards: Sequence[float] | NDArray[np.float64],
        sources: Sequence[Hashable] | None = None,
    ) -> None:
        """Take in rewards of many arms, in order, as if told one by one. Reject all if any is invalid."""
        indices = indices_of(arms, self._index, self._problem.labels)
        values = checked_rewards(self._problem, rewards)
        if indices.size != values.size:
            raise InputError(
                "rewards", f"be as many as arms ({indices.size})", values.size, "give one reward for each arm"
            )
        given = self._engine.checked_sources(sources, indices.size)
        with self._lock:
            self._engine.observe_many(indices, values, given)
            self._settle()

    def _settle(self) -> None:
        """Take over the decision of the engine, if it has made one."""
        if self._decision is None and self._engine.decided is not None:
            self._decision = self._verdict(self._engine.decided)

    def _tell_pull(self, pull: Pull[LabelT], reward: float, source: Hashable | None) -> None:
        value = checked_reward(self._problem, reward)
        with self._lock:
            self._ledger.check(pull)
            source = self._ledger.checked_source(pull.number, source)
            if source is not None or self._engine.by_source:
                self._engine.check_source(source)
            self._end(pull.number, TOLD, value, source)

    def cancel(self, pull: Pull[LabelT]) -> None:
        """Give up a pull whose reward will never come: it counts as a replaced reward.

        So epsilon has to cover it, under the same assumption as for every replaced reward; `result.cancelled` counts
        such pulls, and more than epsilon allows raise an alarm. With epsilon = 0 no pull can be cancelled. With
        contamination="sources" the source of the pull counts as one that may be dishonest; if the pull names none, as
        one more source.
        """
        if not isinstance(pull, Pull):
            raise InputError("pull", "be what ask_pulls gave", pull, "finder.cancel(pull)")
        if self._problem.epsilon == 0.0:
            raise InputError("epsilon", "be above 0 to cancel pulls", 0.0, "what never comes counts as replaced")
        with self._lock:
            self._ledger.check(pull)
            self._end(pull.number, CANCELLED)

    def _end(self, number: int, fate: int, value: float = math.nan, source: Hashable | None = None) -> None:
        """Take in the end of a pull and the rewards that waited for it; none of them if a policy fails at one."""
        engine, ledger = self._engine, self._ledger
        index = ledger.arms[number]
        mark = engine.mark(index)
        by_label = 0 if fate == TOLD else engine.told_by_label(index)
        released = ledger.end(number, fate, value, source)
        try:
            engine.use(released, None if fate == TOLD else ledger.last_cancel(index), by_label)
        except BaseException:
            if mark is not None:
                ledger.undo(number, released)
                engine.rewind(mark)
            raise
        self._settle()

    @property
    def waiting(self) -> Waiting:
        """The rewards that have arrived and wait for pulls that are still out: how many, and for which pulls."""
        with self._lock:
            return self._waiting()

    def _waiting(self) -> Waiting:
        rewards, missing = self._ledger.missing()
        return Waiting(rewards, tuple(self._missing(number, behind) for number, behind in missing.items()))

    def _missing(self, number: int, behind: int) -> MissingPull:
        since, worker = self._ledger.holders.who(number)
        label = self._problem.labels[self._ledger.arms[number]]
        return MissingPull(self._ledger.pull(number, label), worker, since, behind)

    # -------------------------------------------------------------------------------------------------------- read

    @property
    def result(self) -> Result[LabelT]:
        """The verdict; before the decision, one with the status "undecided"."""
        with self._lock:
            return self._result()

    def _result(self) -> Result[LabelT]:
        if self._decision is None:
            reading = self._engine.read()
            if reading.leader is not None:
                reading = reading._replace(standing=self._engine.standing(reading.leader, reading.pulls))
            return self._verdict(reading)
        if not self._complete:
            self._decision = self._completed(self._decision)
            self._complete = True
        return replace(self._decision, options=dict(self._options))  # a caller may change its own copy

    def _verdict(self, reading: EngineReading) -> Result[LabelT]:
        """Return what an engine said at one moment as a result."""
        labels, best, standing = self._problem.labels, reading.best, reading.standing
        rows = tuple(ArmRow(label, *row) for label, row in zip(labels, reading.rows, strict=True))
        left = tuple(row.label for row in rows if row.active) or labels
        return Result(
            status=STATUSES[reading.status],
            best=labels[best] if best >= 0 else None,
            candidates=left if best < 0 or self._options.get("good_enough") else (labels[best],),
            pulls=reading.pulls,
            delta=self._problem.delta,
            epsilon=self._problem.epsilon,
            sigma=self._problem.sigma,
            bounds=self._problem.bounds,
            method=self._engine.name,
            options=dict(self._options),
            arms=rows,
            promise=self._promise,
            proved=self._proved,
            cancelled=reading.cancelled,
            leader=None if reading.leader is None else labels[reading.leader],
            limit=LIMITS[reading.limit],
            alarms=reading.alarms,
            waiting=Waiting() if reading.status else self._waiting(),
            **({} if standing is None else vars(standing)),
        )

    def _completed(self, decision: Result[LabelT]) -> Result[LabelT]:
        """Return a decision with the parts that take long to compute."""
        leader, best = (None if label is None else self._index[label] for label in (decision.leader, decision.best))
        left = [self._index[label] for label in decision.candidates]
        return replace(decision, **self._engine.readouts(Decision(decision.pulls, leader, best, left, decision.limit)))

    def sensitivity(self, epsilons: Sequence[float] | None = None) -> tuple[Sensitivity, ...]:
        """Return, for each epsilon of a grid, which arms may still be the best after the rewards told so far.

        The default grid is 0, 0.01, 0.02, 0.05, 0.1, ..., 0.45 and the problem's own epsilon. Certified method only.
        """
        with self._lock:
            told = self._engine.rewards()
        return sensitivity(self._problem, self._options, told, epsilons)

    def forecast(self, seed: Seed = 0) -> Forecast:
        """Return how many more rewards it takes to decide, if things go on like this. It changes nothing.

        A replay weighs the rewards of each arm at random (the Bayesian bootstrap), draws more rewards from them and
        continues from here until the method stops, or up to a horizon. Up to 60 replays, the same for the same seed,
        give a median and a range. The paper's methods keep no rewards: theirs are drawn from normal laws around the
        estimates, with standard deviation sigma. Rewards asked for and not told yet count as rewards still to come.

        Examples
        --------
        >>> finder = Identifier(["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
        >>> finder.tell_many(["A", "B"] * 20, [1, 0, 1, 1, 0, 0, 1, 0, 0, 1] * 4)
        >>> finder.forecast().outlook
        'winner'
        """
        self._engine.check_forecast()
        checked_seed(seed)
        with self._lock:
            if self._decision is not None:
                return DECIDED
            engine, waiting = self._copied(self._engine), self._waiting()
        return replace(engine.forecast(seed), waiting=waiting)

    @property
    def estimates(self) -> tuple[ArmRow[LabelT], ...]:
        """The present state of each arm: label, pulls, estimate, lower, upper, active."""
        with self._lock:
            rows = self._engine.rows()
        return tuple(ArmRow(label, *row) for label, row in zip(self._problem.labels, rows, strict=True))

    def snapshot(self) -> Identifier[LabelT]:
        """Return a copy, to read a verdict while others go on, or to try out what would follow."""
        return copy.deepcopy(self)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of the present state: `result.plot`, and below it the evidence over time (certified method).

        On given axes it draws the intervals only. With sources there is no evidence over time.
        """
        with self._lock:
            result = self._result()
            told = self._engine.past(result.pulls)
        past = []
        if axes is None and told is not None and result.leader is not None:
            past = history(self._problem, self._options, told, self._index[result.leader])
        return draw_result(result, past, axes)


_CHANGING = ("_engine", "_ledger", "_options")
_LAYOUT = 3  # of the fields; raise it when they change


def _tag_of_version() -> str:
    return f"{version('bestarm')}/{_LAYOUT}/"


def _foreign(tag: str) -> InputError:
    return InputError(
        "pickle",
        "be of this version of bestarm, with the same layout",
        tag,
        "open it with the version that wrote it, or tell its rewards, in order, to a new Identifier",
    )
