"""Methods of the user's own by their import path: found, or refused with what is wrong."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bestarm as ba
from bestarm import reference
from bestarm.policies.import_paths import import_path, policy_at
from bestarm.theory.planning import plan
from own_policies import TURNS

ASKED: dict[str, Any] = {"delta": 0.1, "epsilon": 0.1, "sigma": 1.0}

HEAD = """
from functools import partial

import bestarm as ba
from bestarm.reference import MeanSE as Borrowed

LEVEL = 3.0
"""
OWN = """
class Rooms:
    class Inner(Turns):
        name = "rounds of each"

        def __init__(self, question, *, rounds=5):
            super().__init__(question, rounds=rounds)


Rounds = Rooms.Inner
Three = partial(Rounds, rounds=3)
made = Rounds(ba.Question(2, 0.1, 0.1, 1.0))


def function(question):
    return Rounds(question)
"""
FILE = HEAD + TURNS + OWN


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module of the user's."""
    (tmp_path / "own_rounds.py").write_text(FILE)
    (tmp_path / "own_broken.py").write_text("1 / 0")
    (tmp_path / "own_needy.py").write_text("import a_module_that_nobody_has")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield "own_rounds"
    for name in ("own_rounds", "own_broken", "own_needy"):
        sys.modules.pop(name, None)


def test_a_path_goes_wherever_the_name_of_a_method_goes(module: str) -> None:
    path, pair = f"{module}:Rounds", ba.Bandit([ba.Gaussian(3.0), ba.Gaussian(0.0)])
    finder = ba.Identifier(["A", "B"], method=path, **ASKED, rounds=2)
    finder.tell_many(["A", "B"] * 2, [1.0, 0.0] * 2)
    assert (finder.result.best, finder.result.method, finder.result.pulls) == ("A", "rounds of each", 4)
    assert repr(finder.snapshot().result) == repr(finder.result)
    trials = ba.simulate(pair, path, delta=0.1, trials=3)
    assert (trials.settings["method"], trials.pulls.tolist()) == ("rounds of each", [10] * 3)
    assert ba.simulate(pair, f"{module}:Three", delta=0.1, trials=2).pulls.tolist() == [6] * 2
    assert ba.simulate(pair, f"{module}:function", delta=0.1, trials=2).pulls.tolist() == [10] * 2
    table = ba.attack_table(["mean-se", path], ["benign"], {"pair": [3.0, 0.0]}, trials=5)
    assert table["method"].tolist() == ["mean-se", "rounds of each"]
    found = plan([3.0, 0.0], sigma=1.0, epsilon=0.0, delta=0.1, methods=[path], trials=5)
    assert [(row["method"], row["mean_pulls"]) for row in found.forecasts] == [("rounds of each", 10.0)]


def test_a_class_has_one_path_by_whatever_name_it_was_found(module: str) -> None:
    assert policy_at(f"{module}:Rounds") is policy_at(f"{module}:Rooms.Inner")
    assert import_path(policy_at(f"{module}:Rounds")) == f"{module}:Rooms.Inner"
    assert import_path(policy_at(f"{module}:Borrowed")) == "bestarm.reference.mean_se:MeanSE"
    assert import_path(reference.MeanSE) == "bestarm.reference.mean_se:MeanSE"


SHAPE = "method must be an import path, module:Name, got {!r}: "
IMPORTED = "method must be of a module that can be imported, got {!r}: "


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (":", SHAPE + "such as my_method:TopTwo, of the class TopTwo in my_method.py"),
        ("own_rounds:", SHAPE + "such as my"),
        (":Rounds", SHAPE + "such as my"),
        ("own rounds:Rounds", SHAPE + "such as my"),
        ("own_rounds:Rounds:Inner", SHAPE + "such as my"),
        ("../own_rounds:Rounds", SHAPE + "such as my"),
        ("own_rounds.py:Rounds", SHAPE + "leave out .py: own_rounds:Rounds"),
        ("own_round:Rounds", IMPORTED + "there is no own_round in the current folder (of a command), on PYTHONPATH"),
        ("own_rounds.further:Rounds", IMPORTED + "there is no own_rounds.further in"),
        ("own_needy:Rounds", IMPORTED + "own_needy imports a_module_that_nobody_has, which is not installed"),
        ("own_broken:Rounds", IMPORTED + "own_broken raised ZeroDivisionError: division by zero"),
        ("own_rounds:Round", "method must be a name in the module own_rounds, got {!r}: "),
        ("own_rounds:LEVEL", "method must lead to a class or function that makes a Policy, got {!r}: LEVEL is of the"),
        ("own_rounds:LEVEL.real", "method must lead to a class or function that makes a Policy, got {!r}: LEVEL.real"),
        ("own_rounds:made", "method must lead to a class or function that makes a Policy, got {!r}: made is of the ty"),
        ("own_rounds:Rooms", "method must take a Question, got <class 'own_rounds.Rooms'>: its first argument"),
        ("certifed", "method must be one of certified, g-cbai, se-cbai, random, median-se, mean-se, mean-gap, or mod"),
    ],
)
def test_what_is_wrong_with_a_path_is_said(module: str, path: str, message: str) -> None:
    with pytest.raises(ba.InputError) as refused:
        ba.Identifier(2, method=path, **ASKED)
    assert str(refused.value).startswith(message.format(path))


@pytest.mark.parametrize(("name", "near"), [("Round", "Rounds"), ("Roms.Inner", "Rooms"), ("xyz", "Borrowed")])
def test_a_name_that_is_not_there_is_met_with_one_that_is(module: str, name: str, near: str) -> None:
    said = rf"own_rounds\.py has no {name}; did you mean {near}\?$"
    with pytest.raises(ba.InputError, match=said):
        policy_at(f"{module}:{name}")


@pytest.mark.parametrize("name", ["function", "Three", "made", "Rooms"])
def test_what_is_no_class_with_the_verbs_has_no_path(module: str, name: str) -> None:
    rule = r"^method must be a class with the verbs choose, observe, decision, estimates here, or a name of the catal"
    with pytest.raises(ba.InputError, match=rule):
        import_path(getattr(sys.modules[policy_at(f"{module}:Rounds").__module__], name))


def test_a_class_that_only_this_process_has_has_no_path(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Local(reference.MeanSE):
        pass

    mine = policy_at(f"{module}:Rounds")
    rule = r"^method must be a class that other processes can import, got .* put \w+ into a file of its own, and import"
    with pytest.raises(ba.InputError, match=rule):
        import_path(Local)
    monkeypatch.setattr(mine, "__module__", "__main__")
    with pytest.raises(ba.InputError, match=rule):
        import_path(mine)
