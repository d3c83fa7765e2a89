"""The live driver: ask for arms, tell rewards, read the verdict."""

from __future__ import annotations

import copy
import hashlib
import math
import threading
import warnings
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import DecidedError, InputError
from bestarm.identification import policy_state
from bestarm.identification.by_pull import ByPull
from bestarm.identification.cancelled import CancelAlarm
from bestarm.identification.forecast import DECIDED, Forecast, foretell
from bestarm.identification.live_alarms import live_alarms
from bestarm.identification.locks import give_lock
from bestarm.identification.pictures import draw_progress
from bestarm.identification.policy_state import PolicyState
from bestarm.identification.result import LIMITS, STATUSES, ArmRow, Result
from bestarm.identification.robustness import (
    ALL,
    Sensitivity,
    ToldRewards,
    history,
    read_off,
    sensitivity,
    standing,
)
from bestarm.identification.sources import BY_LABEL, Sources
from bestarm.identification.tickets import Pull
from bestarm.identification.waiting import Waiting
from bestarm.kernels.state.state import new_state
from bestarm.kernels.trials import verbs as kernels
from bestarm.kernels.trials.drive import tell_on
from bestarm.kernels.trials.readouts import interval_of, stop, withdraw
from bestarm.methods import DEFAULT, Method, OwnMethod, forced_pulls, get_method, too_long
from bestarm.policies.policy import Factory
from bestarm.problem import LabelT, Problem, checked_reward, checked_rewards, place_of, places_of, pose
from bestarm.validation import Seed, callers_level, checked_seed, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Identifier(ByPull[LabelT]):
    """Finds the arm with the highest mean; you own the loop.

    Rewards may be told for any arm, asked for or not: by label in the order of the pulls, which must not depend on
    their values, by pull in any order. Arms asked for and not yet told count as pulled, so that a batch spreads as the
    method would. A decision, once made, is final: later rewards are recorded only.
    Can be pickled, copied and forked at any moment, and used by many threads at once: calls take effect one after the
    other. Its first calls on a machine compile for up to half a minute, which the logger `bestarm` says (on stderr).

    Parameters
    ----------
    arms : int or iterable of hashable
        Labels of two to a million arms; a number K stands for 0, ..., K-1.
    delta : float in (0, 1)
        Accepted probability of a wrong answer.
    epsilon : float in [0, 0.5)
        How much was replaced by an adversary: by default a bound on the probability of each reward, by an independent
        coin. The option `contamination` of the certified method says what else it may be (a share of the rewards of
        each arm, of all rewards, of the sources); see the guide "Which contamination is mine?".
    sigma : float > 0, optional
        Sub-Gaussian scale of a clean reward.
    bounds : (float, float), optional
        Lowest and highest possible reward, in place of sigma.
    method : str, or class or function that makes a `Policy`
        One of `bestarm.methods.METHODS`, or a method of your own, itself or by its import path, "module:Name".
    **options
        Options of the method; one it does not have is refused with those it has.

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
        self._method_name = chosen.name
        self._own = chosen.factory if isinstance(chosen, OwnMethod) else None
        self._options = chosen.complete(self._problem, options)
        self._index = {label: index for index, label in enumerate(self._problem.labels)}
        self._rule: Any
        if isinstance(chosen, OwnMethod):
            self._rule = chosen.settings(self._problem, self._options)
        else:
            self._rule = chosen.rule(self._problem, self._options)
            self._warn_of_a_long_exploration()
        self._sources: Sources | None = None
        if self._method.certifies:
            self._rule["kept"] = ALL
            if self._options["contamination"] == "sources":
                self._sources = Sources(self._problem, self._options)
                self._rule["endless"] = 1
                self._rule["log_threshold"] = np.inf  # arms are dropped by what the sources say, and by nothing else
        self._state: Any = PolicyState(self._rule) if self._own else new_state(self._problem.size, self._rule)
        self._decision: Result[LabelT] | None = None
        self._log = ToldRewards() if self._method.certifies else None
        self._tickets = self._new_tickets()
        self._cancel_alarm = CancelAlarm(self._problem, self._options)
        self._prepare()

    def _prepare(self) -> None:
        """Make what belongs to this object alone, and to no copy of it (`_NOT_COPIED`)."""
        # One index and one reward on their way to or from the kernels: a new array costs more than the pull.
        self._place, self._reward = np.zeros(1, np.int64), np.zeros(1)
        self._verbs: Any = policy_state if self._own else kernels
        self._lock: threading.RLock
        give_lock(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy that no other thread changes while it is written, with a tag of what it looks like inside."""
        with self._lock:
            fields = {name: value for name, value in vars(self).items() if name not in _NOT_COPIED}
            fields |= {name: copy.deepcopy(fields[name]) for name in _CHANGING}  # labels stay the objects that they are
            return {"tag": self._tag(), "fields": fields}

    def __setstate__(self, stored: Any) -> None:
        if not isinstance(stored, dict) or "tag" not in stored:
            raise _foreign("none")
        vars(self).update(stored["fields"])
        if stored["tag"] != self._tag():
            raise _foreign(stored["tag"])
        self._prepare()

    def _tag(self) -> str:
        """Return a word for the version and the layout of all records: kernels would take another one for garbage."""
        if self._own:
            return f"{version('bestarm')}/{_LAYOUT}/{self._method_name}"
        arrays = [*self._state, *(self._state.evidence or ()), self._rule]
        layout = repr([str(getattr(array, "dtype", type(array).__name__)) for array in arrays])
        return f"{version('bestarm')}/{_LAYOUT}/{hashlib.sha256(layout.encode()).hexdigest()[:12]}"

    def _warn_of_a_long_exploration(self) -> None:
        problem, options = self._problem, self._options
        warning = too_long(
            forced_pulls(self._rule, problem.size),
            options.get("exploration", "none"),
            problem.epsilon,
            options.get("alpha", problem.epsilon / 2.0),
            problem.delta,
        )
        if warning is not None:
            warnings.warn(warning, stacklevel=callers_level())

    def __repr__(self) -> str:
        rewards = f"{self.pulls:,} rewards"
        waiting = 0 if self.done else self.waiting.rewards
        rewards += f" and {waiting:,} that wait" if waiting else ""
        state = "decided" if self.done else "undecided"
        return f"<Identifier of {self._problem.size} arms by {self._method_name}: {rewards}, {state}>"

    @property
    def _method(self) -> Method:
        return get_method(self._own or self._method_name)

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
        """Rewards used so far, stand-ins of cancelled ones and those after the decision included."""
        with self._lock:
            return int(self._state.control["t"][0])

    @property
    def pending(self) -> int:
        """Pulls asked for whose rewards are not used yet: they are still out, or wait for one that is."""
        with self._lock:
            return int(self._state.control["pending"][0])

    @overload
    def ask(self) -> LabelT: ...
    @overload
    def ask(self, n: int) -> list[LabelT]: ...
    def ask(self, n: int | None = None) -> LabelT | list[LabelT]:
        """Return the label of the arm to pull next, or a list of n of them to pull at once."""
        with self._lock:
            self._may_ask(n)
            labels = [self._problem.labels[index] for index in self._choose(n)]
        return labels[0] if n is None else labels

    def _may_ask(self, n: int | None) -> None:
        if n is not None and not (number(n) >= 1 and number(n) % 1 == 0):
            raise InputError("n", "be a whole number >= 1", n, "leave it out to get one label")
        if self._decision is not None:
            raise DecidedError(self._decision.status, "finder")

    def _choose(self, n: int | None) -> NDArray[np.int64]:
        indices = self._place if n is None else np.empty(int(n), np.int64)
        self._verbs.ask(self._state, self._rule, indices.size, indices)
        return indices

    def tell(self, arm: LabelT | Pull[LabelT], reward: float, source: Hashable | None = None) -> None:
        """Take in one reward, of a pull that was asked for or of an arm. A bad one is refused and changes nothing.

        Told by the label of the arm, rewards are used in the order in which they are told, which must not depend on
        their values; so tell those of an arm in the order of its pulls, and, with sources, those of each source in the
        order in which it was asked: which of two arms it speaks of first must not depend on what it says of them. By
        the pull, they may be told in any order.

        `source` is who or what gave it, for contamination="sources" and only there; a pull that named it beforehand
        needs none. What a source says of an arm counts once: a second reward of the same source on the same arm is not
        used.
        """
        if type(arm) is Pull:
            self._tell_pull(arm, reward, source)
            return
        index = place_of(arm, self._index, self._problem.labels)
        value = checked_reward(self._problem, reward)
        with self._lock:
            self._tell(index, value, source)

    def _tell(self, index: int, value: float, source: Hashable | None, number: int = BY_LABEL) -> None:
        if self._sources is not None or source is not None:
            self._tell_source(index, value, source, number)
            return
        if self._log is not None:
            self._log.append(index, value)
        self._place[0] = index
        self._reward[0] = value
        self._take(self._place, self._reward)

    def tell_many(
        self,
        arms: Sequence[LabelT],
        rewards: Sequence[float] | NDArray[np.float64],
        sources: Sequence[Hashable] | None = None,
    ) -> None:
        """Take in rewards of many arms, in order, as if told one by one. One bad one, and none is taken."""
        indices = places_of(arms, self._index, self._problem.labels)
        values = checked_rewards(self._problem, rewards)
        if indices.size != values.size:
            raise InputError(
                "rewards", f"be as many as arms ({indices.size})", values.size, "give one reward for each arm"
            )
        if self._sources is not None or sources is not None:
            given = [None] * indices.size if sources is None else list(sources)
            if len(given) != indices.size:
                raise InputError(
                    "sources", f"be as many as arms ({indices.size})", len(given), "give one source for each reward"
                )
            for source in given:
                self._check_source(source)
            with self._lock:
                for index, value, source in zip(indices, values, given, strict=True):
                    self._tell_source(int(index), float(value), source)
            return
        with self._lock:
            if self._log is not None:
                self._log.extend(indices, values)
            self._take(indices, values)

    def _tell_source(self, index: int, value: float, source: Hashable | None, number: int = BY_LABEL) -> None:
        self._check_source(source)
        assert self._sources is not None
        assert self._log is not None
        if not self._sources.tell(index, value, source, number):
            self._forgo(index)
            return
        was_done = self.done
        self._log.append(index, value)
        self._place[0], self._reward[0] = index, value
        self._take(self._place, self._reward)
        if was_done or not self._sources.is_due():
            return
        arms = self._state.samples.arms
        for worse in self._sources.worse(np.flatnonzero(arms["active"]), self._horizon):
            withdraw(self._state, self._rule, worse, True)
        left = np.flatnonzero(arms["active"])
        if left.size == 1:
            stop(self._state, int(left[0]))
            self._decision = self._with_standing(self._verdict(), 0)  # at once: what sources say later is no part of it

    @property
    def result(self) -> Result[LabelT]:
        """The verdict; before the decision, one with the status "undecided"."""
        with self._lock:
            return self._result()

    def _result(self) -> Result[LabelT]:
        if self._decision is None:
            return self._with_standing(self._verdict(), len(self._log.indices) if self._log is not None else 0)
        if self._log is not None and self._decision.p_value is None:
            decision = self._with_standing(self._decision, self._decision.pulls)
            if self._sources is None:
                used, left = self._log.first(decision.pulls), [self._index[label] for label in decision.candidates]
                best = None if decision.best is None else self._index[decision.best]
                decision = replace(decision, **read_off(self._problem, self._options, used, best, left, decision.limit))
            self._decision = decision
        return replace(self._decision, options=dict(self._options))  # a caller may change its own copy

    def _with_standing(self, result: Result[LabelT], used: int) -> Result[LabelT]:
        """Return a result with how its winner, or leader, stands against the others (certified method)."""
        if self._log is None or result.leader is None or result.pulls == 0:
            return result
        leader = self._index[result.leader]
        dropped = self._state.samples.arms["dropped"] > 0
        if self._sources is None:
            stands = standing(self._problem, self._options, self._log.first(used), leader, dropped)
        else:
            stands = self._sources.standing(leader, dropped, self._horizon)
        return replace(result, leads=stands.leads, p_value=stands.p_value)

    def sensitivity(self, epsilons: Sequence[float] | None = None) -> tuple[Sensitivity, ...]:
        """Return, for each epsilon of a grid, which arms the rewards told so far leave in question.

        By default the grid is 0, 0.01, 0.02, 0.05, 0.1, ..., 0.45 and the problem's own epsilon. Certified method only.
        """
        if self._log is None:
            raise InputError(
                "method", "be certified", self._method_name, "only its evidence can be weighed at another epsilon"
            )
        if self._sources is not None:
            raise InputError(
                "contamination",
                "not be sources",
                "sources",
                "ask again with another epsilon: sources are few, and counted",
            )
        with self._lock:
            log = copy.deepcopy(self._log)
        return sensitivity(self._problem, self._options, log, epsilons)

    def forecast(self, seed: Seed = 0) -> Forecast:
        """Return how many more rewards it takes to decide, if things go on like this; nothing is changed by it.

        A replay weighs the rewards of each arm at random (the Bayesian bootstrap), draws further rewards from them and
        goes on from here until the method stops, or up to a horizon; up to 60 replays, the same ones for the same seed,
        give a median and a range. The paper's methods keep no list of rewards: theirs are drawn from normal laws around
        the estimates, as wide as sigma. Rewards asked for and not yet told count as further ones.

        Examples
        --------
        >>> finder = Identifier(["A", "B"], delta=0.05, epsilon=0.0, bounds=(0, 1))
        >>> finder.tell_many(["A", "B"] * 20, [1, 0, 1, 1, 0, 0, 1, 0, 0, 1] * 4)
        >>> finder.forecast().outlook
        'winner'
        """
        if self._sources is not None:
            fix = "no forecast is made: who will speak next, and of which arm, is not known"
            raise InputError("contamination", "not be sources", "sources", fix)
        if self._own:
            fix = "simulate it on a Bandit like your arms instead"
            raise InputError("method", "be of the catalogue for a forecast", self._method_name, fix)
        checked_seed(seed)
        with self._lock:
            if self._decision is not None:
                return DECIDED
            state = copy.deepcopy(self._state)
            log = None if self._log is None else copy.deepcopy(self._log)
            waiting = self._waiting()
        tapes = None if log is None else log.tapes(self._problem.size)
        return replace(foretell(self._problem, self._rule.copy(), state, tapes, seed), waiting=waiting)

    @property
    def estimates(self) -> tuple[ArmRow[LabelT], ...]:
        """What is known of each arm now: label, pulls, estimate, lower, upper, active."""
        with self._lock:
            return self._estimates()

    def _estimate_of(self, index: int) -> float:
        """Return the middle of an arm's interval, or its estimate where there is none; nan before its first reward."""
        if self._log is None:
            return self._estimates()[index].estimate
        estimate, lower, upper = interval_of(self._state, self._rule, index)
        middle = 0.5 * (lower + upper) if lower <= upper else math.nan
        return middle if math.isfinite(middle) else float(estimate)

    def _estimates(self) -> tuple[ArmRow[LabelT], ...]:
        size = self._problem.size
        estimates, lower, upper = np.empty(size), np.empty(size), np.empty(size)
        self._verbs.describe(self._state, self._rule, estimates, lower, upper)
        arms = self._state.samples.arms
        return tuple(
            ArmRow(label, int(told), float(estimate), float(low), float(high), bool(active))
            for label, told, active, estimate, low, high in zip(
                self._problem.labels, arms["told"], arms["active"], estimates, lower, upper, strict=True
            )
        )

    def snapshot(self) -> Identifier[LabelT]:
        """Return a copy, which is yours: to read a verdict while others go on, or to try out what would follow."""
        return copy.deepcopy(self)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a figure of how things stand: `result.plot`, and below it the evidence over time (certified method).

        On axes that are given, the intervals alone are drawn; of sources there is no evidence over time.
        """
        with self._lock:
            result = self._result()
            log = None if self._log is None or self._sources is not None else self._log.first(result.pulls)
        past = []
        if axes is None and log is not None and result.leader is not None:
            past = history(self._problem, self._options, log, self._index[result.leader])
        return draw_progress(result, past, axes)

    def _take(self, indices: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        index = 0
        while index < indices.size:
            if self._own:
                index, decided = policy_state.tell(self._state, self._rule, indices, values, index)
            else:
                self._state, index, decided = tell_on(self._state, self._rule, indices, values, index)
            if decided:
                self._decision = self._verdict()

    def _guess(self, rows: tuple[ArmRow[LabelT], ...]) -> ArmRow[LabelT]:
        """Return the arm that leads: of those left the highest estimate, of equal ones the highest mean."""
        active = [row for row in rows if row.active] or list(rows)
        highest = max(map(_estimate, active))
        first = [row for row in active if _estimate(row) == highest]
        if len(first) == 1 or self._log is None or not self._log.indices:
            return first[0]
        tapes = self._log.tapes(self._problem.size)
        means = [tapes[self._index[row.label]] for row in first]
        return max(zip(first, means, strict=True), key=lambda pair: pair[1].mean() if pair[1].size else -math.inf)[0]

    def _alarms(self) -> tuple[str, ...]:
        found: tuple[str, ...] = ()
        if self._log is not None:
            found = live_alarms(self._problem, self._options, self._state, self._rule, self._log, self._sources)
        return (*found, *self._cancel_alarm.sentences())

    def _verdict(self) -> Result[LabelT]:
        rows = self._estimates()
        control = self._state.control[0]
        best = int(control["best"])
        left = tuple(row.label for row in rows if row.active) or tuple(row.label for row in rows)
        done = int(control["done"])
        guess = self._guess(rows)
        return Result(
            status=STATUSES[done],
            best=self._problem.labels[best] if best >= 0 else None,
            candidates=left if best < 0 or self._options.get("good_enough") else (self._problem.labels[best],),
            pulls=self.pulls,
            delta=self._problem.delta,
            epsilon=self._problem.epsilon,
            sigma=self._problem.sigma,
            bounds=self._problem.bounds,
            method=self._method_name,
            options=dict(self._options),
            arms=rows,
            promise=self._method.promised(self._options),
            proved=self._method.certifies,
            cancelled=self._tickets.cancelled,
            leader=self._problem.labels[best] if best >= 0 else guess.label if self.pulls > 0 else None,
            limit=LIMITS[int(control["limit"])],
            alarms=self._alarms(),
            waiting=Waiting() if done else self._waiting(),
        )


_NOT_COPIED = ("_lock", "_place", "_reward", "_verbs")
_CHANGING = ("_state", "_log", "_sources", "_options", "_tickets", "_cancel_alarm")
_LAYOUT = 2  # of the fields; to be raised when they change


def _foreign(tag: str) -> InputError:
    return InputError(
        "pickle",
        "be of this version of bestarm, with the same layout",
        tag,
        "open it with the version that wrote it, or tell its rewards, in order, to a new Identifier",
    )


def _estimate(row: ArmRow) -> float:
    return -math.inf if math.isnan(row.estimate) else row.estimate
