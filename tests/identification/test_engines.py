"""Engines under an `Identifier`: which one runs a method, and what all of them promise."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm.identification.engines._base import Engine
from bestarm.identification.engines.certified import CertifiedEngine
from bestarm.identification.engines.choose import new_engine
from bestarm.identification.engines.kernel import KernelEngine
from bestarm.identification.engines.policy import PolicyEngine
from bestarm.identification.engines.sources import SourcesEngine
from bestarm.identification.holders import Holders
from bestarm.identification.ledger import TOLD
from bestarm.methods import METHODS, get_method
from bestarm.problem import pose
from bestarm.reference import SECBAI


def engine_of(method: Any, **options: Any) -> Engine:
    problem = pose(3, delta=0.1, epsilon=0.05, bounds=(0, 1))
    chosen = get_method(method)
    return new_engine(chosen, problem, chosen.complete(problem, options))


ENGINES: dict[str, dict[str, Any]] = {
    **{name: {"method": name} for name in METHODS},
    "sources": {"method": "certified", "contamination": "sources"},
    "policy": {"method": SECBAI},
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [("certified", CertifiedEngine), ("g-cbai", KernelEngine), ("sources", SourcesEngine), ("policy", PolicyEngine)],
)
def test_a_method_runs_on_the_engine_of_its_kind(name: str, kind: type[Engine]) -> None:
    engine = engine_of(**ENGINES[name])
    assert type(engine) is kind
    assert engine.by_source == (name == "sources")


def tell(engine: Engine, arms: list[int], values: list[float]) -> None:
    sources = list(range(len(arms))) if engine.by_source else None
    engine.observe_many(np.array(arms), np.array(values), sources)


@pytest.mark.parametrize("name", ENGINES)
def test_asking_unchanged_gives_the_same_arms_and_assigns_them(name: str) -> None:
    """A process that replays the asks has the state of the one that chose: estimates to the last bit included."""
    rng = np.random.default_rng(7)
    asked, unchanged, replayed = (engine_of(**ENGINES[name]) for _ in range(3))
    arms, values = rng.integers(0, 3, 200).tolist(), rng.random(200).tolist()
    for engine in (asked, unchanged, replayed):
        tell(engine, arms, values)
    chosen = asked.ask(20).tolist()
    assert unchanged.ask_unchanged(20).tolist() == chosen
    replayed.assign(np.array(chosen))
    for engine in (asked, unchanged, replayed):
        assert engine.pending == 20
        assert engine.arms["pending"].tolist() == np.bincount(chosen, minlength=3).tolist()
        tell(engine, chosen, [0.5] * 20)
        assert engine.pending == 0
    assert repr(unchanged.rows()) == repr(replayed.rows())


@pytest.mark.parametrize("name", ENGINES)
def test_a_released_pull_is_pending_no_more_and_another_may_take_its_place(name: str) -> None:
    engine = engine_of(**ENGINES[name])
    first = int(engine.ask(1)[0])
    other = (first + 1) % 3
    engine.move(first, other)
    assert (engine.pending, engine.arms["pending"][[first, other]].tolist()) == (1, [0, 1])
    engine.release(other)
    engine.release(other)  # nothing is pending any more
    assert (engine.pending, engine.arms["pending"].tolist()) == (0, [0, 0, 0])


@pytest.mark.parametrize("name", [name for name in ENGINES if name != "sources"])
def test_the_use_that_leads_to_the_decision_is_found_and_what_was_read_then_stays(name: str) -> None:
    """Whether it is a reward or the stand-in of a cancelled pull, in a batch or alone."""
    rng = np.random.default_rng(8)
    size = 60_000
    arms = np.arange(size) % 3
    values = 0.1 * rng.random(size) + 0.9 * (arms == 1)
    values[::50] = np.nan
    settings = {"exploration": "none"} if name not in ("certified", "policy") else {}
    engine, twin = (engine_of(**ENGINES[name], **settings) for _ in range(2))
    for ledger in (engine.ledger, twin.ledger):
        ledger.arms.frombytes(arms.tobytes())
        ledger.values.frombytes(values.tobytes())
    deciding = engine.use(np.arange(size), None)
    assert deciding is not None
    assert engine.decided is not None
    assert (engine.decided.status, engine.decided.best, engine.decided.pulls) == (1, 1, deciding + 1)
    assert engine.pulls == size
    for slot in range(deciding + 1):
        assert twin.decided is None
        twin.use([slot], None)
    assert repr(twin.decided) == repr(engine.decided)


def test_sources_drop_arms_and_the_rounds_of_the_kernel_do_not() -> None:
    """One source that says everything is one opinion: the rewards alone would have dropped arms long before."""
    plain, by_source = engine_of("certified"), engine_of(**ENGINES["sources"])
    for step in range(900):
        value = float(step % 3 == 0)
        plain.observe(step % 3, value)
        by_source.observe(step % 3, value, "everything" if step >= 6 else step)
    assert plain.decided is not None
    assert by_source.decided is None
    assert by_source.active() == [0, 1, 2]
    for step in range(900, 1_800):
        by_source.observe(step % 3, float(step % 3 == 0), step)
    assert by_source.decided is not None
    assert by_source.decided.best == 0
    assert by_source.decided.standing is not None


class Thing:
    """A label that is equal to nothing but itself."""


@pytest.mark.parametrize("name", ENGINES)
def test_copies_keep_labels_that_equal_only_themselves(name: str) -> None:
    things = [Thing(), Thing()]
    finder = ba.Identifier(things, delta=0.1, epsilon=0.05, bounds=(0, 1), **ENGINES[name])
    finder.ask_pulls(4)
    twin = copy.copy(finder)
    assert list(twin.labels) == things
    twin.tell(things[1], 0.5, "s" if name == "sources" else None)
    assert (twin.pulls, finder.pulls) == (1, 0)
    assert [row.label for row in twin.result.arms] == things
    deep = copy.deepcopy(finder)
    deep.tell(deep.labels[0], 0.5, "s" if name == "sources" else None)
    assert deep.pulls == 1


def test_holders_know_who_holds_what_and_until_when() -> None:
    holders = Holders()
    assert not holders
    for number, worker in enumerate(["ann", "bob", None, "ann"]):
        holders.add(number, 10.0 + number, worker)
    assert list(holders)[2] == (2, 12.0, None)
    assert holders.of("ann") == [0, 3]
    holders.renew(0, 20.0)
    holders.renew(7, 20.0)  # which has ended
    assert holders.overdue(5.0, 17.0) == [1, 2]
    assert holders.lease_begin(0) == 20.0
    assert holders.who(1) == (11.0, "bob")
    assert holders.who(7) == (None, None)
    holders.drop(1)
    holders.drop(1)
    assert holders.of("bob") == []
    assert len(holders) == 3


def test_a_ledger_takes_nothing_that_is_not_its_own() -> None:
    finder, other = (ba.Identifier(2, delta=0.1, epsilon=0.05, bounds=(0, 1)) for _ in range(2))
    pull, foreign = finder.ask_pulls(), other.ask_pulls()
    finder.tell(pull, 0.5)
    assert finder._ledger.fates[0] == TOLD
    with pytest.raises(ba.InputError, match="pull must be of this identifier"):
        finder.tell(foreign, 0.5)
