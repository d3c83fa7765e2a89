"""The contamination models: names, prices, counts and words, and that no other room lists them."""

from __future__ import annotations

import ast
import itertools
import json
import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bestarm
from bestarm.bandits import ATTACKS, Gaussian
from bestarm.bandits import adversaries as moves
from bestarm.contamination import (
    CONTAMINATIONS,
    SIMULATED,
    Coin,
    Contamination,
    Share,
    checked,
    default,
    of_options,
    powers,
    resolve,
)
from bestarm.errors import InputError

NAMES = ("causal", "prescient", "malicious", "share-of-arm", "share-of-all", "sources")
PACKAGE = Path(bestarm.__file__).parent

every_model = pytest.mark.parametrize("name", NAMES)


def test_names_come_in_order_and_resolve() -> None:
    assert tuple(CONTAMINATIONS) == NAMES
    assert NAMES[:5] == SIMULATED
    assert [resolve(name).name for name in NAMES] == [*NAMES]
    assert (default("live"), default("log"), default("log with sources")) == ("prescient", "share-of-all", "sources")


@every_model
def test_a_model_is_its_name(name: str) -> None:
    model = resolve(name)
    assert model == name
    assert json.dumps({"contamination": model}) == f'{{"contamination": "{name}"}}'
    again = pickle.loads(pickle.dumps(model))
    assert (again, type(again)) == (model, type(model))
    assert resolve(model) is model
    assert type(checked(model)) is type(checked(name)) is str


@pytest.mark.parametrize("wrong", ["Prescient", "", None, 3, ["sources"], "clairvoyant"])
def test_other_names_are_rejected_with_those_that_exist(wrong: object) -> None:
    message = "contamination must be one of causal, prescient, malicious, share-of-arm, share-of-all, sources, got "
    with pytest.raises(InputError, match=message):
        resolve(wrong)
    assert of_options({"contamination": wrong}) is None
    assert of_options({}) is None


@pytest.mark.parametrize(
    ("name", "counted", "shared", "by_source"),
    [
        ("causal", False, False, False),
        ("prescient", False, False, False),
        ("malicious", False, False, False),
        ("share-of-arm", True, False, False),
        ("share-of-all", True, True, False),
        ("sources", True, True, True),
    ],
)
def test_how_fakes_are_paid_for(name: str, counted: bool, shared: bool, by_source: bool) -> None:
    model = resolve(name)
    assert (model.counted, model.shared, model.by_source) == (counted, shared, by_source)
    told = model.kernel_numbers(0.1, 20.0)
    assert told == ((0.1 if counted else 0.0), 20.0, 0.0, shared)


@every_model
def test_the_price_is_what_an_adversary_gets_at_most(name: str) -> None:
    """Two values of a bet, hit with probability epsilon: by a coin that is blind, or that hits the lower one first."""
    model = resolve(name)
    for epsilon, chance in itertools.product((0.0, 0.02, 0.3), (0.0, 0.1, 0.9)):
        least, most = 0.2, 3.0
        phi = (1.0 - chance) * least + chance * most
        priced = float(model.price(phi, most, least, epsilon))
        blind = (1.0 - epsilon) * phi + epsilon * most
        seeing = phi + min(epsilon, 1.0 - chance) * (most - least)
        if name in ("causal", "prescient"):
            assert priced == pytest.approx(blind)
        elif name == "malicious":
            assert priced >= seeing - 1e-12
        else:
            assert priced == phi


def test_a_power_that_causal_contamination_covers_is_covered_by_prescient() -> None:
    """Causal is the weaker assumption on the method's side: everybody it covers, the next two models cover."""
    covered = [[power for power in (*powers.COINS, powers.BURSTS) if resolve(name).covers(power)] for name in NAMES[:3]]
    assert covered == [["oblivious", "causal"], ["oblivious", "causal", "prescient"], [*powers.COINS]]


@pytest.mark.parametrize("scale", [{"sigma": 1.0}, {"bounds": (0.0, 5.0)}])
def test_certified_decides_under_causal_as_under_prescient(scale: dict[str, Any]) -> None:
    arms = [bestarm.Bernoulli(mean) for mean in (0.9, 0.4, 0.1)]
    bandit = bestarm.Bandit(arms, 0.05, moves.Point([0.0, 1.0, 1.0]))
    by_name = [
        bestarm.simulate(bandit, "certified", delta=0.1, trials=5, seed=3, contamination=name, **scale)
        for name in ("causal", "prescient")
    ]
    assert by_name[0].pulls.tolist() == by_name[1].pulls.tolist()
    assert by_name[0].answers.tolist() == by_name[1].answers.tolist() == [0] * 5


def test_a_coin_may_see_the_reward_unless_its_price_says_otherwise() -> None:
    class Plain(Coin):
        name, words = "plain", "each reward is replaced with probability at most epsilon"

    assert checked(Plain()) == "plain"
    assert Plain().price(1.1, 2.0, 0.5, 0.1) == resolve("malicious").price(1.1, 2.0, 0.5, 0.1) == pytest.approx(1.25)


def test_counts_of_a_share() -> None:
    of_arm, of_all, sources = (resolve(name) for name in NAMES[3:])
    assert of_arm.allowed(0.1, 5, 20.0, arms=4) == sources.allowed(0.1, 5, 20.0, arms=4) == 2
    assert of_all.allowed(0.1, 5, 20.0, arms=4) == 8
    assert [model.allowed(0.29, 100) for model in (of_arm, of_all, sources)] == [29] * 3
    assert [model.allowed(0.29, 0) for model in (of_arm, of_all, sources)] == [0] * 3


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_covered_by_the_models_that_it_lists(attack: str) -> None:
    power, build = ATTACKS[attack]
    adversary = build([Gaussian(1.0), Gaussian(0.0)], 0.1)
    assert adversary.power == power
    assert adversary.contaminations == tuple(name for name in NAMES if resolve(name).covers(power))


@pytest.mark.parametrize("name", SIMULATED)
def test_the_worst_case_of_a_plan_is_covered(name: str) -> None:
    model, fakes = resolve(name), moves.Point([-1.0, 2.0, 2.0])
    worst = model.worst(moves, fakes, best=0, second=2, arms=3)
    for adversary in (model.keep(moves, fakes), worst):
        assert model.covers(adversary.power)
        assert name in adversary.contaminations


def test_words_fill_in_from_when_a_share_holds() -> None:
    assert "once there are 500 of them" in resolve("share-of-arm").promise(499.9)
    assert "once there are 499.9 times as many as arms" in resolve("share-of-all").promise(499.9)
    assert "share_from" in resolve("share-of-arm").promise()
    assert all("share_from" not in resolve(name).log_help for name in NAMES)
    assert "fixed before its first reward" in resolve("sources").promise(20.0, paired=True)


# ----------------------------------------------------------------------------------------------------- one home only


def listed_names(tree: ast.AST) -> list[int]:
    """Return the lines on which a model's name is compared, or stands in a list, tuple, set or dict."""
    found = []
    for node in ast.walk(tree):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Compare):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.List | ast.Tuple | ast.Set):
            parts = [*node.elts]
        elif isinstance(node, ast.Dict):
            parts = [*node.keys, *node.values]
        elif isinstance(node, ast.MatchValue):
            parts = [node.value]
        found += [part.lineno for part in parts if isinstance(part, ast.Constant) and part.value in NAMES]
    return found


def test_names_are_compared_and_listed_in_one_room_only() -> None:
    """The specification has names of its own, as it is the oracle."""
    rooms = {PACKAGE / "contamination", PACKAGE / "reference"}
    files = [path for path in PACKAGE.rglob("*.py") if not rooms & set(path.parents)]
    assert len(files) > 100
    found = {
        str(path.relative_to(PACKAGE)): lines
        for path in files
        if (lines := listed_names(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == {}
    assert listed_names(ast.parse("kind == 'sources' or kind in ('prescient',) or {'malicious': 1}")) == [1, 1, 1]


def test_the_room_loads_no_compiler() -> None:
    look = "import sys, bestarm.contamination; print({'numba', 'scipy', 'pandas'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# ------------------------------------------------------------------------------------------- models that do not hold


class Cheap(Coin):
    name, words = "cheap", "fakes cost less than nothing"

    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi * (1.0 - epsilon)


class Endless(Cheap):
    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi if epsilon == 0.0 else math.inf


class Curved(Cheap):
    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi + epsilon * most * (most - phi**2 / most)


class Falling(Cheap):
    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi + epsilon * (0.5 - epsilon) * (most - least)


class AlwaysDear(Cheap):
    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi + 0.1


class Free(Cheap):
    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        return phi


class Taken(Cheap):
    name = "malicious"


class OneCount(Share):
    name, words = "one-count", "at most three fakes"

    def allowed(self, epsilon: float, number: float, share_from: float = 0.0, arms: int = 1) -> int:
        return 3


class OtherCount(OneCount):
    def allowed(self, epsilon: float, number: float, share_from: float = 0.0, arms: int = 1) -> int:
        return 3 if epsilon > 0.0 else 0


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        (Cheap, "have prices of at least phi"),
        (Endless, "have finite prices"),
        (Curved, "have prices on a straight line in phi that does not fall"),
        (Falling, "have prices that do not fall in epsilon"),
        (AlwaysDear, "have the price phi at epsilon = 0"),
        (Free, "have prices above phi, or count fakes"),
        (Taken, "have a name of its own"),
        (OneCount, "allow for no fakes at epsilon = 0, and for more at a larger one"),
        (OtherCount, "count in `allowed` as in `kernel_numbers`"),
    ],
)
def test_a_model_under_which_the_promise_would_not_hold_is_rejected(model: type[Contamination], rule: str) -> None:
    with pytest.raises(InputError, match=f"contamination must {rule}, got '{model.name}'"):
        bestarm.Identifier(2, delta=0.1, epsilon=0.1, sigma=1.0, contamination=model())


def test_a_model_has_to_have_a_name_and_words() -> None:
    class Nameless(Coin):
        name = "nameless"

    with pytest.raises(TypeError, match="Nameless has to set `name` and `words`"):
        Nameless()
