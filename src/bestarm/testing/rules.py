"""The rules that every method must keep: each runs the method, and raises an example if the rule is broken.

The first line of a rule's docstring appears in the report.
"""

from __future__ import annotations

import copy
import math
import pickle
import random
from collections.abc import Callable
from typing import Any

import cloudpickle
import numpy as np

from bestarm.bandits import Bandit, Bernoulli, Gaussian
from bestarm.errors import BestarmError
from bestarm.identification.identifier import Identifier
from bestarm.simulation import simulate
from bestarm.testing.bench import ARMS, CHANCES, MEANS, Bench, asked, seen


class BrokenRuleError(BestarmError, AssertionError):
    """A method, or a store, breaks a rule of its conformance suite.

    Attributes
    ----------
    rule : str
        The name of the rule, as in a report.
    example : str
        What was done, what came out, and what should have.
    """

    code = "broken-rule"

    def __init__(self, method: str, rule: str, says: str, example: str) -> None:
        self.rule = rule
        self.example = example
        super().__init__(f"{method} breaks the rule {rule!r} ({says}): {example}")


class _Found(Exception):  # noqa: N818 - a finding; it becomes a BrokenRuleError with the rule's name
    """An example that breaks a rule."""


class NotTried(Exception):  # noqa: N818
    """A rule could not be tried; the message says why."""


Rule = Callable[[Bench], None]
RULES: dict[str, Rule] = {}


def _rule(function: Rule) -> Rule:
    RULES[function.__name__.replace("_", " ")] = function
    return function


def says(rule: Rule) -> str:
    """Return what a rule requires of a method, as the end of a sentence."""
    line = (rule.__doc__ or "").split("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:]


def _same(what: str, one: object, other: object) -> None:
    if one != other:
        raise _Found(f"{what}: {_differing(one, other)}")


def _differing(one: object, other: object) -> str:
    if isinstance(one, list) and isinstance(other, list):
        for index, (a, b) in enumerate(zip(one, other, strict=False)):
            if a != b:
                return f"first different at index {index}: {a!r} and {b!r}"
        return f"{len(one)} and {len(other)} long"
    texts = [text if len(text) <= 200 else text[:197] + "..." for text in (str(one), str(other))]
    return " and ".join(texts)


def _moments(length: int) -> list[int]:
    return sorted({0, 1, ARMS, length // 3, max(0, length - 1), length})


# ----------------------------------------------------------------------------------------------------------- one run


@_rule
def runs(bench: Bench) -> None:
    """Asks for arms and takes rewards until it decides, with intervals around its estimates."""
    finder, tape = bench.finder(), bench.rewards()
    while not finder.done and finder.pulls < bench.max_pulls:
        arm = asked(finder)
        finder.tell(arm, tape.pull(arm))
        if finder.pulls % 16 == 0 or finder.done:
            for row in finder.estimates:
                if not (row.lower <= row.estimate <= row.upper or math.isnan(row.estimate)):
                    raise _Found(f"after {finder.pulls} rewards arm {row.label} has {row}")
                if math.isnan(row.estimate) and row.pulls > 0 and finder.done:
                    raise _Found(f"arm {row.label} has {row.pulls} rewards at the decision, and no estimate")


@_rule
def repeats(bench: Bench) -> None:
    """Gives the same run for the same question and rewards, and leaves the global generators alone."""
    states = random.getstate(), repr(np.random.get_state())  # noqa: NPY002 - to see that it is left alone
    first = bench.drive(bench.finder(), bench.rewards())
    if states != (random.getstate(), repr(np.random.get_state())):  # noqa: NPY002
        raise _Found("it draws from the generator of `random` or `numpy.random`: use question.generator(t)")
    _same("two runs pull different arms", first, bench.drive(bench.finder(), bench.rewards()))


@_rule
def copies(bench: Bench) -> None:
    """Continues from a pickle or a copy as from the original, and shares nothing with it."""
    whole = bench.drive(bench.finder(), bench.rewards())
    ways: dict[str, Callable[[Identifier], Identifier]] = {
        "pickle": lambda finder: pickle.loads(cloudpickle.dumps(finder)),  # as to other processes
        "deepcopy": copy.deepcopy,
    }
    for way, make in ways.items():
        for moment in _moments(len(whole)):
            finder, tape = bench.finder(), bench.rewards()
            bench.drive(finder, tape, moment)
            before = seen(finder)
            twin, twin_tape = make(finder), copy.deepcopy(tape)
            _same(f"a {way} after {moment} rewards looks different", before, seen(twin))
            for arm in range(ARMS):
                twin.tell(arm, tape.rows.max())
            _same(f"a {way} after {moment} rewards changes the original", before, seen(finder))
            rest = bench.drive(make(finder), twin_tape, bench.max_pulls - moment)
            _same(f"a {way} after {moment} rewards goes on with other arms", whole[moment:], rest)


@_rule
def looks(bench: Bench) -> None:
    """Is not changed by reading its state, and shows the same when read again."""
    watched, tape = bench.finder(), bench.rewards()
    pulled: list[int] = []
    while not watched.done and len(pulled) < bench.max_pulls:
        if len(pulled) % 7 == 0:
            _same(f"two looks after {len(pulled)} rewards", seen(watched), seen(watched))
        pulled.append(asked(watched))
        watched.tell(pulled[-1], tape.pull(pulled[-1]))
    quiet = bench.finder()
    _same("looks change which arms are pulled", bench.drive(quiet, bench.rewards()), pulled)


@_rule
def asking(bench: Bench) -> None:
    """Is not changed by being asked for arms: only rewards change its state."""
    silent, curious, tape = bench.finder(), bench.finder(), bench.rewards()
    while not curious.done and curious.pulls < bench.max_pulls:
        arm = asked(curious)
        reward = tape.pull(arm)
        curious.tell(arm, reward)
        silent.tell(arm, reward)
        if curious.pulls % 20 == 1 and not curious.done:
            asks = [copy.deepcopy(finder).ask(12) for finder in (silent, curious)]
            _same(f"told the same {curious.pulls} rewards, unasked and asked, it asks for other arms", *asks)
    _same("told the same rewards, unasked and asked", seen(silent), seen(curious))


@_rule
def decides_once(bench: Bench) -> None:
    """Does not change its decision, whatever it is told or asked afterwards."""
    finder, tape = bench.finder(), bench.rewards()
    bench.drive(finder, tape)
    if not finder.done:
        raise NotTried(f"no decision within {bench.max_pulls:,} rewards")
    policy = getattr(finder._engine, "policy", None)
    if policy is not None:
        _same("decision(), asked again without a new reward", finder._engine.control["best"][0], policy.decision())
    before = finder.result
    for reward in (tape.rows.max(), tape.rows.min()):
        finder.tell_many(list(range(ARMS)) * 50, [reward] * (50 * ARMS))
        _same("the result after more rewards", repr(before), repr(finder.result))


# --------------------------------------------------------------------------------------------- batches, late rewards


@_rule
def batches(bench: Bench) -> None:
    """Asks for n arms at once as it does one by one, and takes many rewards at once as it does one by one."""
    log = bench.drive(bench.finder(), bench.rewards())
    for moment in _moments(len(log))[:-1]:
        finder, tape = bench.finder(), bench.rewards()
        bench.drive(finder, tape, moment)
        twin, third = copy.deepcopy(finder), copy.deepcopy(finder)
        batch = finder.ask(20)
        _same(f"20 arms at once after {moment} rewards", batch, [twin.ask() for _ in range(20)])
        _same(f"13 and 7 arms after {moment} rewards", batch, third.ask(13) + third.ask(7))
        _same(f"the first of 20 arms after {moment} rewards", batch[:1], log[moment : moment + 1])
    together, tape = bench.finder(), bench.rewards()
    together.tell_many(log, [tape.pull(arm) for arm in log])
    one_by_one, tape = bench.finder(), bench.rewards()
    bench.drive(one_by_one, tape)
    _same("all rewards told at once", seen(one_by_one), seen(together))


@_rule
def late_rewards(bench: Bench) -> None:
    """Can be asked again while rewards are outstanding, takes them in any order, and asks for no dropped arm."""
    rng = np.random.default_rng(bench.seed)
    finder, tape = bench.finder(), bench.rewards()
    under_way: list[int] = []
    while not finder.done and finder.pulls < bench.max_pulls // 2:
        batch: list[Any] = finder.ask(int(rng.integers(1, 12)))
        out = {row.label for row in finder.estimates if not row.active} & set(batch)
        if out:
            raise _Found(f"after {finder.pulls} rewards it asks for arm {out.pop()}, which it says is dropped")
        under_way += batch
        rng.shuffle(under_way)
        while len(under_way) > 15 and not finder.done:
            arm = under_way.pop()
            finder.tell(arm, tape.pull(arm))
    order = np.random.default_rng(bench.seed).integers(ARMS, size=8 * ARMS)
    unasked, tape = bench.finder(), bench.rewards()
    for arm in order.tolist():
        unasked.tell(arm, tape.pull(arm))
    if not unasked.done:
        unasked.ask(5)


# ---------------------------------------------------------------------------------------------- changes of the question


@_rule
def order_of_arms(bench: Bench) -> None:
    """Names the same arm in any order of the arms."""
    plain = bench.finder()
    bench.drive(plain, bench.rewards())
    if not plain.done:
        raise NotTried(f"no decision within {bench.max_pulls:,} rewards")
    named = plain.result.best
    for order in ((3, 2, 1, 0), (1, 2, 3, 0)):
        other = bench.finder()
        bench.drive(other, bench.rewards(order))
        best = other.result.best
        index = order[best] if isinstance(best, int) else None
        _same(f"with the arms in the order {order} it names another one", named, index)


@_rule
def shift(bench: Bench) -> None:
    """Pulls the same arms if a constant is added to all rewards, and its estimates move with them."""
    plain, by = bench.finder(), 64.0 * bench.sigma
    pulled = bench.drive(plain, bench.rewards())
    moved = bench.finder(shift=by)
    again = bench.drive(moved, bench.rewards(shift=by))
    _same(f"rewards moved by {by:g} give another run", pulled, again)
    for row, other in zip(plain.estimates, moved.estimates, strict=True):
        if not (math.isnan(row.estimate) or abs(other.estimate - by - row.estimate) <= 1e-6 * bench.sigma):
            raise _Found(f"rewards moved by {by:g}: the estimate {row.estimate} becomes {other.estimate}")


@_rule
def unit(bench: Bench) -> None:
    """Pulls the same arms if rewards and sigma, or bounds, are in another unit."""
    pulled = bench.drive(bench.finder(), bench.rewards())
    for factor in (2.0**-10, 1024.0):
        again = bench.drive(bench.finder(factor=factor), bench.rewards(factor=factor))
        _same(f"rewards and sigma times {factor:g} give another run", pulled, again)


# --------------------------------------------------------------------------------------------------------- simulations


def clear_bandit(bench: Bench) -> Bandit:
    """Return arms like those of the tape, without contamination."""
    if bench.bounds is None:
        return Bandit([Gaussian(bench.sigma * mean, bench.sigma) for mean in MEANS])
    if bench.bounds != (0.0, 1.0):
        raise NotTried(f"simulated for bounds (0, 1) only, not {bench.bounds}")
    return Bandit([Bernoulli(chance) for chance in CHANCES])


@_rule
def trials(bench: Bench) -> None:
    """Starts every simulated trial afresh: chunks, threads and earlier trials change nothing."""
    asks: dict[str, Any] = {
        "delta": bench.delta,
        "epsilon": bench.epsilon,
        **({"sigma": bench.sigma} if bench.bounds is None else {"bounds": bench.bounds}),
        **{name: value for name, value in bench.options.items() if name != "seed"},
    }
    bandit, cap = clear_bandit(bench), min(bench.max_pulls, 2000)
    runs = [
        simulate(bandit, bench.method, trials=6, seed=bench.seed, max_pulls=cap, chunk=chunk, workers=workers, **asks)
        for chunk, workers in ((6, 1), (1, 1), (2, 2))
    ]
    for other in runs[1:]:
        for what in ("pulls", "answers", "arm_pulls"):
            one, two = getattr(runs[0], what).tolist(), getattr(other, what).tolist()
            _same(f"{what} of six trials in one chunk and in several", one, two)
