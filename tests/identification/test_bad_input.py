"""Bad input is refused with the parameter, the rule, the value received and the fix, and nothing is changed by it."""

from __future__ import annotations

import math
import pickle
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import bestarm as ba
from bestarm import adversaries
from bestarm.errors import InputError
from bestarm.methods import METHODS
from bestarm.validation import HUGE, RANGES, TOO_HIGH, WHOLE

INF, NAN = math.inf, math.nan

FINITE, POSITIVE = "be a finite number", "be a finite number > 0"
ARMS_FIX = RANGES["arms"][4]
MEMORY_FIX = "an arm takes up to 24 kB of memory; make a choice of them first"
BOUNDS_RULE = "be two finite numbers (low, high) with low < high"
BOUNDS_FIX = "such as bounds=(0, 1) for clicks"
LABELS_RULE = "be a list of labels or a number of arms"
LABELS_FIX = 'such as ["A", "B", "C"] or 3'
NOTHING = "nothing was recorded"
REWARD_RULE = "be a finite number of size at most 1e+290"
ONE_OF_METHODS = f"be one of {', '.join(METHODS)}, or module:Name of your own"
Case = tuple[Callable[[], object], str, str, str, str]


def cases(make: Callable[..., object], parameter: str, rule: str, fix: str, *values: Any, **others: Any) -> list[Case]:
    """One refusal for each value of a parameter."""
    return [(partial(make, **{**others, parameter: value}), parameter, rule, repr(value), fix) for value in values]


def wrong(make: Callable[..., object], parameter: str, *values: Any, **others: Any) -> list[Case]:
    """The same with the rule and the fix of the table of ranges, for what is too low, no number or not whole."""
    return cases(make, parameter, *RANGES[parameter][3:], *values, **others)


def too_high(make: Callable[..., object], parameter: str, *values: Any, **others: Any) -> list[Case]:
    """The same for what is too high."""
    return cases(make, parameter, *TOO_HIGH[parameter], *values, **others)


def name(case: Any) -> str:
    return f"{case[1]}-{case[3]}"[:40] if isinstance(case, tuple) and len(case) == 5 else repr(case)[:40]


def refused(call: Callable[[], object], parameter: str, rule: str, received: str, fix: str) -> InputError:
    """Make a call that must be refused, with exactly this message; return the error."""
    shown = received if len(received) <= 120 else received[:117] + "..."
    with pytest.raises(InputError) as caught:
        call()
    error = caught.value
    assert str(error) == f"{parameter} must {rule}, got {shown}: {fix}"
    assert (error.parameter, error.rule, error.fix) == (parameter, rule, fix)
    assert repr(error.received) == received
    return error


# --------------------------------------------------------------------------------------------------- the error itself


def test_an_input_error_is_a_value_error_that_survives_pickling() -> None:
    error = refused(*too_high(question, "epsilon", 0.6)[0])
    assert isinstance(error, ValueError)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(error, protocol))
        assert type(again) is InputError
        assert str(again) == str(error)
        assert (again.parameter, again.rule, again.fix) == ("epsilon", *TOO_HIGH["epsilon"])
        assert again.received == 0.6


def test_an_input_error_survives_pickling_when_what_was_received_does_not() -> None:
    """Errors of a worker process come back pickled, and bad input is often a function."""
    finder = question()
    with pytest.raises(InputError) as caught:
        finder.tell("A", lambda: 1.0)  # type: ignore[arg-type]
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is InputError
    assert str(again) == str(caught.value)


def test_a_long_value_is_shown_shortened() -> None:
    error = refused(*wrong(question, "sigma", "x" * 500)[0])
    assert ", got '" + "x" * 116 + "...: " in str(error)


# ------------------------------------------------------------------------------------------------- the table of rules


NUMBER = r"[\d.,^]+"


def limit(text: str) -> float:
    base, _, power = text.replace(",", "").partition("^")
    return math.pow(float(base), float(power or 1))


@pytest.mark.parametrize("parameter", sorted(RANGES))
def test_the_rule_of_a_parameter_is_what_is_enforced(parameter: str) -> None:
    """The other tests take their words from the table; here they must be those of the numbers beside them."""
    lowest, closed, highest, rule, fix = RANGES[parameter]
    assert ("whole number" in rule) == (parameter in WHOLE)
    between = re.search(rf"in ([\[(])({NUMBER}), ({NUMBER})\)$", rule)
    above = re.search(rf"(>=?) ({NUMBER})$", rule)
    if between is not None:
        assert (between[1] == "[", limit(between[2]), limit(between[3])) == (closed, lowest, highest)
    elif above is None:
        assert (rule, lowest, closed, highest) == ("be a finite number", -HUGE, False, HUGE)
    else:
        assert (above[1] == ">=", limit(above[2])) == (closed, lowest)
        assert highest == HUGE or parameter in TOO_HIGH  # what no limit is said of has none
    assert fix
    if parameter in TOO_HIGH:
        rule, fix = TOO_HIGH[parameter]
        said = re.search(rf"(, |below |at most )({NUMBER})\)?$", rule)
        assert said is not None
        assert limit(said[2]) + (said[1] == "at most ") == highest
        assert fix


def test_the_fixes_of_the_table_tell_the_parameters_apart() -> None:
    """Who takes another parameter's words is found out: no two have the same rule and fix."""
    words = [row[3:] for row in RANGES.values()]
    assert len(set(words)) == len(words)
    assert set(TOO_HIGH) <= set(RANGES)


# ----------------------------------------------------------------------------------------------------- the question


QUESTION: dict[str, Any] = {"arms": ["A", "B", "C"], "delta": 0.05, "epsilon": 0.1, "sigma": 1.0, "method": "g-cbai"}


def question(**changes: Any) -> ba.Identifier:
    return ba.Identifier(**{**QUESTION, **changes})


TWICE = "the same label stands there twice; rename one of the two"
LOOKED_UP = "be labels that can be looked up (hashable)"
ONE_SCALE = "be given, or bounds, and not both"
ONE_SCALE_FIX = "say sigma=1.0, or bounds=(low, high) if rewards have a range"
BAD_BOUNDS: list[Any] = [(1, 0), (1.0, 1.0), (0.0, INF), (-INF, 0.0), (NAN, 1.0), (0.0, NAN), (-1e300, 1e300)]
NO_BOUNDS: list[Any] = [(0, 1, 2), (0,), (), ("0", "1"), (False, True), 1.0, "01", {0, 1}]

QUESTIONS: list[Case] = [
    *too_high(question, "epsilon", 0.5, 0.6, INF, 10**400),
    *cases(question, "epsilon", RANGES["epsilon"][3], "it is a share: 8 % is 0.08", 8.0),
    *wrong(question, "epsilon", -1e-9, -0.1, NAN, -INF, -(10**400)),
    *wrong(question, "epsilon", None, "0.1", True, [0.1]),
    *wrong(question, "delta", 0, 0.0, -0.0, 1, 1.0, -0.1, 2.0, NAN, INF, np.float64(0.0)),
    *wrong(question, "delta", None, "0.1", True),
    *wrong(question, "sigma", 0, 0.0, -1.0, NAN, INF, -INF, 1e300, "1", True, 1j, np.ones(1)),
    *wrong(question, "arms", 1, 0, -3, np.int64(1)),
    *cases(question, "arms", "be at most 1,000,000", MEMORY_FIX, 1_000_001, 10**7, np.int64(10**7), 10**400),
    *cases(question, "arms", LABELS_RULE, LABELS_FIX, None, True, 2.0, "AB", b"AB", NAN),
    *cases(question, "arms", "be at least two", ARMS_FIX, (), ("A",)),
    (partial(question, arms=["A"]), "arms", "be at least two", "('A',)", ARMS_FIX),
    (partial(question, arms=["A", "B", "A"]), "arms", "be all different", "'A'", TWICE),
    (partial(question, arms=[1, 2, 1.0]), "arms", "be all different", "1.0", TWICE),
    (partial(question, arms=[(1, 2), (1, 2)]), "arms", "be all different", "(1, 2)", TWICE),
    (partial(question, arms=np.array([7, 7])), "arms", "be all different", "7", TWICE),
    (partial(question, arms=[["A"], "B"]), "arms", LOOKED_UP, "['A']", "use strings or numbers"),
    (partial(question, arms=[{"A": 1}, "B"]), "arms", LOOKED_UP, "{'A': 1}", "use strings or numbers"),
    (partial(question, arms=[("A", ["B"]), "B"]), "arms", LOOKED_UP, "('A', ['B'])", "use strings or numbers"),
    (partial(question, sigma=None), "sigma", ONE_SCALE, "'neither'", ONE_SCALE_FIX),
    (partial(question, bounds=(0, 1)), "sigma", ONE_SCALE, "'sigma=1.0 and bounds=(0, 1)'", ONE_SCALE_FIX),
    *cases(question, "bounds", BOUNDS_RULE, BOUNDS_FIX, *BAD_BOUNDS, *NO_BOUNDS, sigma=None),
    *cases(question, "method", ONE_OF_METHODS, "check the spelling", "gcbai", "G-CBAI", "", None, 1, ["g-cbai"]),
]


@pytest.mark.parametrize("case", QUESTIONS, ids=name)
def test_a_bad_question_is_refused(case: Case) -> None:
    ask, *message = case
    refused(ask, *message)
    assert isinstance(ask, partial)
    pulled: list[Any] = []
    pull: Any = pulled.append
    refused(lambda: ba.identify(pull, **{**QUESTION, **ask.keywords}), *message)
    assert pulled == []


def test_a_label_that_is_not_equal_to_itself_is_refused() -> None:
    """A copy of nan is another key: after pickling no reward could be told for that arm."""
    with pytest.raises(InputError, match=r"^arms must .*, got nan: "):
        question(arms=[NAN, "B"])


# ------------------------------------------------------------------------------------------------------- options


OPTION_VALUES: dict[str, tuple[str, str, list[Any]]] = {
    "alpha": (*RANGES["alpha"][3:], [-0.1, NAN, "0.1", True]),
    "power": (*RANGES["power"][3:], [1, 1.0, 0.0, -2.0, NAN, INF, "2", True]),
    "threshold": ("be one of theory, empirical", "check the spelling", ["Theory", "", 1, True]),
    "exploration": ("be one of hoeffding, half, chernoff, none", "check the spelling", ["None", "", 0, ["chernoff"]]),
    "parameters": ("be one of clean, same", "check the spelling", ["Clean", "", 0, ["same"]]),
    "radius": ("be one of rounds, all-pulls", "check the spelling", ["Rounds", "", 0, ["rounds"]]),
    "radius_arms": (*RANGES["radius_arms"][3:], [0, 0.99, -1.0, NAN, INF, "4", True]),
    "floor": ("be one of arm, total", "check the spelling", ["arms", "", 0, ["total"]]),
    "resolution": (*RANGES["resolution"][3:], [0, 0.0, -1.0, NAN, INF, "1", True]),
    "contamination": (
        "be one of causal, prescient, malicious, share-of-arm, share-of-all, sources",
        "check the spelling",
        ["oblivious", "", 1, ["sources"]],
    ),
    "good_enough": (*RANGES["good_enough"][3:], [0, 0.0, -1.0, NAN, INF, "1", True]),
    "share_from": (*RANGES["share_from"][3:], [0, 0.99, -1.0, NAN, INF, "1", True]),
    "paired": ("be True or False", "True if the arms of a source are fixed beforehand", [0, 1, "yes", NAN]),
    "seed": (*RANGES["seed"][3:], [-1, 1.5, 2**64, NAN, INF, "1", True]),
}


@pytest.mark.parametrize("method", sorted(METHODS))
def test_wrong_option_values_are_refused_by_each_method_that_has_the_option(method: str) -> None:
    for option in METHODS[method].options:
        assert option.name in OPTION_VALUES, "a new option: add its bad values to the table"
        rule, fix, values = OPTION_VALUES[option.name]
        for case in cases(question, option.name, rule, fix, *values, method=method):
            refused(*case)
        if option.name == "alpha":
            for case in too_high(question, "alpha", 0.5, INF, method=method):
                refused(*case)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_an_option_that_a_method_does_not_have_is_refused_with_those_it_has(method: str) -> None:
    own = [option.name for option in METHODS[method].options]
    every = {option.name for entry in METHODS.values() for option in entry.options}
    has = f"{method} has {', '.join(own) if own else 'no options'}"
    for option in sorted((every | {"alpah", "bounds_"}) - set(own)):
        refused(*cases(question, option, f"be an option of {method}", has, 0.1, method=method)[0])


def test_what_each_method_has() -> None:
    """The message that a user of the wrong option reads, in full, for each method."""
    lists = {
        "certified": "contamination, resolution, good_enough, share_from, paired",
        "g-cbai": "alpha, threshold, power, exploration",
        "se-cbai": "alpha, exploration, radius, radius_arms",
        "random": "alpha, threshold, power, exploration, floor, seed",
        "median-se": "alpha, exploration, radius, radius_arms",
        "mean-se": "parameters, exploration",
        "mean-gap": "threshold, power, parameters, exploration",
    }
    for method, listed in lists.items():
        message = ("depth", f"be an option of {method}", "3", f"{method} has {listed}")
        refused(partial(question, method=method, depth=3), *message)


@pytest.mark.parametrize("seed", [np.int64(2**62 + 1), np.uint64(2**63 + 1)])
def test_a_large_seed_is_not_rounded(seed: Any) -> None:
    assert question(method="random", seed=seed).result.options["seed"] == int(seed)


# ------------------------------------------------------------------------------------------------- asking and telling


def begun(method: str = "g-cbai", **changes: Any) -> ba.Identifier:
    """An identifier with 200 rewards told and three asked for."""
    finder = question(method=method, **changes)
    rng = np.random.default_rng(1)
    low, high = changes.get("bounds", (0.0, 1.0))
    for _ in range(200):
        finder.tell(finder.ask(), float(rng.uniform(low, high)))
    finder.ask(3)
    assert not finder.done
    return finder


def refused_unchanged(finder: ba.Identifier, call: Callable[[], object], *message: str) -> None:
    before = pickle.dumps(finder)
    refused(call, *message)
    assert pickle.dumps(finder) == before


NO_NUMBERS: list[Any] = [None, "1.0", "", b"1", 1j, [1.0], (), {}, np.array([1.0])]
TOO_LARGE: list[Any] = [NAN, INF, -INF, np.float64("nan"), np.float32("inf"), 1.1e290, -1e308, 10**400]


@pytest.mark.parametrize("reward", [*NO_NUMBERS, *TOO_LARGE, np.array(1.0), np.longdouble("1e4000")], ids=name)
@pytest.mark.parametrize("method", sorted(METHODS))
def test_a_bad_reward_is_refused(method: str, reward: Any) -> None:
    finder = begun(method)
    refused_unchanged(finder, partial(finder.tell, "A", reward), "reward", REWARD_RULE, repr(reward), NOTHING)


@pytest.mark.parametrize("reward", [*NO_NUMBERS, [1.0, 2.0], NAN, INF, -INF, 1.1e290, -1e308, 10**400], ids=name)
def test_one_bad_reward_among_many_refuses_them_all(reward: Any) -> None:
    finder = begun("se-cbai")
    message = ("reward", REWARD_RULE, repr(reward), NOTHING)
    for place in (0, 3, 5):
        rewards: list[Any] = [0.25, 0.5, 1.0, 0.0, 2.0, -1.0]
        rewards[place] = reward
        refused_unchanged(finder, partial(finder.tell_many, ["A", "B", "C"] * 2, rewards), *message)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_one_bad_reward_among_very_many_refuses_them_all(method: str) -> None:
    """At the far end of a batch that would have brought the decision."""
    finder = question(method=method, sigma=0.001, epsilon=0.4)
    finder.ask(3)
    arms = ["A", "B", "C"] * 2000
    rewards = np.tile([0.0, 1e6, 0.0], 2000)
    rewards[-1] = NAN
    refused_unchanged(finder, partial(finder.tell_many, arms, rewards), "reward", REWARD_RULE, "nan", NOTHING)
    finder.tell_many(arms[:-1], rewards[:-1])
    assert finder.done


@pytest.mark.parametrize("rewards", [[[0.5], [0.5]], 0.5, np.array([[0.5, 0.5]])], ids=repr)
def test_rewards_that_are_not_a_flat_list_are_refused(rewards: Any) -> None:
    finder = begun()
    before = pickle.dumps(finder)
    with pytest.raises(InputError):
        finder.tell_many(["A", "B"][: np.size(rewards)], rewards)
    assert pickle.dumps(finder) == before


@pytest.mark.parametrize("reward", [-0.001, 5.0000001, -1e280, 1e280])
def test_a_reward_outside_the_declared_bounds_is_refused(reward: float) -> None:
    finder = begun(sigma=None, bounds=(0, 5))
    fix = f"{NOTHING}; widen bounds if such rewards are real"
    message = ("reward", "lie in the declared bounds (0.0, 5.0)", repr(reward), fix)
    refused_unchanged(finder, lambda: finder.tell("A", reward), *message)
    refused_unchanged(finder, lambda: finder.tell_many(["A", "B", "C"], [1.0, reward, 2.0]), *message)
    refused_unchanged(finder, lambda: finder.tell_many(["A", "B"], np.array([5.0, reward])), *message)
    before = finder.pulls
    finder.tell_many(["A", "B"], [0, 5])  # the bounds themselves are fine
    assert finder.pulls == before + 2


UNKNOWN_ARMS: list[Any] = ["D", "a", "", 0, None, NAN, ("A",), ["A"], {"A"}, np.array(["A", "B"])]


@pytest.mark.parametrize("arm", UNKNOWN_ARMS, ids=repr)
def test_an_unknown_arm_is_refused(arm: Any) -> None:
    finder = begun()
    message = ("arm", "be one of the labels", repr(arm), "the arms are 'A', 'B', 'C'")
    refused_unchanged(finder, lambda: finder.tell(arm, 0.5), *message)
    refused_unchanged(finder, lambda: finder.tell_many(["A", arm, "B"], [0.5, 0.5, 0.5]), *message)


def test_of_many_arms_eight_are_listed() -> None:
    tell = partial(question(arms=100).tell, 100, 0.5)
    refused(tell, "arm", "be one of the labels", "100", "the arms are 0, 1, 2, 3, 4, 5, 6, 7, ...")


IN_ARRAYS: list[tuple[list[Any], str]] = [
    ([0, 3], "np.int64(3)"),
    ([-1, 0], "np.int64(-1)"),
    ([0.0, 1.5], "np.float64(1.5)"),
    ([[0, 1]], "array([0, 1])"),
]


@pytest.mark.parametrize(("arms", "shown"), IN_ARRAYS, ids=str)
def test_unknown_arms_in_an_array_are_refused(arms: list[Any], shown: str) -> None:
    finder = begun(arms=3)
    array: Any = np.array(arms)
    call = partial(finder.tell_many, array, [0.5, 0.5])
    refused_unchanged(finder, call, "arm", "be one of the labels", shown, "the arms are 0, 1, 2")


@pytest.mark.parametrize("arms", ["A", "ABC", 1, None, 0.5], ids=repr)
def test_arms_that_are_no_list_are_refused(arms: Any) -> None:
    finder = begun()
    message = ("arms", "be a list of labels", repr(arms), "use tell for a single reward")
    refused_unchanged(finder, partial(finder.tell_many, arms, [0.5]), *message)


def test_a_set_of_arms_is_refused() -> None:
    """It has no order, so nobody can say which reward belongs to which arm."""
    finder = begun()
    before = pickle.dumps(finder)
    arms: Any = {"A", "B"}
    with pytest.raises(InputError, match=r"^arms must .*, got .*: "):
        finder.tell_many(arms, [0.0, 1.0])
    assert pickle.dumps(finder) == before


def test_a_number_beyond_doubles_in_an_array_is_refused() -> None:
    finder = begun()
    rewards: Any = np.array([1.0, np.longdouble("1e4000")])
    refused_unchanged(finder, partial(finder.tell_many, ["A", "B"], rewards), "reward", REWARD_RULE, "inf", NOTHING)


@pytest.mark.parametrize(("arms", "rewards"), [(2, 1), (2, 3), (0, 1), (1, 0), (500, 499)])
def test_lists_of_different_length_are_refused(arms: int, rewards: int) -> None:
    finder = begun()
    message = ("rewards", f"be as many as arms ({arms})", str(rewards), "give one reward for each arm")
    refused_unchanged(finder, partial(finder.tell_many, ["A"] * arms, [0.5] * rewards), *message)


@pytest.mark.parametrize("n", [0, -1, 1.5, NAN, INF, -INF, True, "2", [1], 10**400], ids=name)
def test_a_bad_number_of_arms_to_ask_for_is_refused(n: Any) -> None:
    finder = begun()
    message = ("n", "be a whole number >= 1", repr(n), "leave it out to get one label")
    refused_unchanged(finder, partial(finder.ask, n), *message)


def test_asking_after_the_decision_is_refused() -> None:
    finder = question(method="mean-se", arms=["A", "B"], sigma=0.01)
    finder.tell_many(["A", "B"], [0.0, 1.0])
    assert finder.done
    before = pickle.dumps(finder)
    for call in (finder.ask, partial(finder.ask, 3)):
        with pytest.raises(ba.DecidedError) as caught:
            call()
        error = caught.value
        assert str(error) == (
            "this identification is already decided (identified): look at finder.done and finder.result"
        )
        assert (error.parameter, error.rule, error.received) == ("ask", "come before the decision", "identified")
        assert error.fix == "look at finder.done and finder.result"
    assert pickle.dumps(finder) == before
    message = ("reward", REWARD_RULE, "nan", NOTHING)
    refused_unchanged(finder, lambda: finder.tell("A", NAN), *message)  # rewards are checked even then
    refused_unchanged(finder, lambda: finder.tell_many(["A", "B"], [1.0, NAN]), *message)


def judged(**changes: Any) -> ba.Identifier:
    """An identifier by sources, with some rewards told."""
    finder = question(sigma=None, bounds=(0, 1), method="certified", contamination="sources", **changes)
    finder.tell_many(["A", "B"], [0.5, 0.25], ["ann", "bob"])
    return finder


SOURCE_RULE, SOURCE_FIX = "be given, as a label that can be looked up", "such as a voter's id"


@pytest.mark.parametrize("source", [None, NAN, ["ann"], {"ann": 1}], ids=repr)
def test_a_bad_source_is_refused(source: Any) -> None:
    finder = judged()
    message = ("source", SOURCE_RULE, repr(source), SOURCE_FIX)
    refused_unchanged(finder, lambda: finder.tell("A", 0.5, source), *message)
    refused_unchanged(finder, lambda: finder.tell_many(["A", "B"], [0.5, 0.5], ["ann", source]), *message)


def test_sources_are_one_for_each_reward() -> None:
    finder = judged()
    refused_unchanged(
        finder, lambda: finder.tell_many(["A", "B"], [0.5, 0.5]), "source", SOURCE_RULE, "None", SOURCE_FIX
    )
    message = ("sources", "be as many as arms (2)", "1", "give one source for each reward")
    refused_unchanged(finder, lambda: finder.tell_many(["A", "B"], [0.5, 0.5], ["ann"]), *message)


def test_a_source_is_refused_where_sources_do_not_count() -> None:
    fix = "leave it out, or say that sources may be dishonest"
    for method in ("certified", "g-cbai"):
        finder = begun(method)
        message = ("source", "come with contamination='sources'", "'ann'", fix)
        refused_unchanged(finder, lambda finder=finder: finder.tell("A", 0.5, "ann"), *message)  # type: ignore[misc]
        refused_unchanged(finder, lambda finder=finder: finder.tell_many(["A"], [0.5], ["ann"]), *message)  # type: ignore[misc]


def test_pairs_of_rewards_need_bounds() -> None:
    fix = "bets on a difference need a lowest and a highest reward"
    ask = partial(question, method="certified", contamination="sources", paired=True)
    refused(ask, "paired", "come with bounds", "True", fix)


# -------------------------------------------------------------------------------------------------------- identify


def test_a_bad_cap_is_refused_before_the_first_pull() -> None:
    pulled: list[Any] = []
    pull: Any = pulled.append
    identify = partial(ba.identify, pull, **QUESTION)
    for case in wrong(identify, "max_pulls", 0, -1, 1.5, NAN, INF, True, "10"):
        refused(*case)
    assert pulled == []


def test_a_pull_that_gives_no_rewards_is_refused() -> None:
    rule, fix = (
        "be a function from a label to a reward",
        "such as lambda arm: measure(arm); for a coroutine function identify_async or run_async",
    )
    for case in cases(ba.identify, "pull", rule, fix, 3.0, None, **QUESTION):
        refused(*case)
    fix = f"the call for 'A' (pull 0) returned it; {NOTHING}"
    refused(lambda: ba.identify(lambda arm: NAN, **QUESTION), "reward", REWARD_RULE, "nan", fix)


# ------------------------------------------------------------------------------------------------------- simulation

BANDIT = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], epsilon=0.1, adversary=adversaries.Point(0.0))


def simulation(**changes: Any) -> ba.Trials:
    return ba.simulate(**{"bandit": BANDIT, "method": "mean-se", "delta": 0.1, "trials": 3, **changes})


SEEDS_RULE = "be a whole number >= 0, a SeedSequence or a Generator"

SIMULATIONS: list[Case] = [
    *wrong(simulation, "trials", 0, -1, 1.5, NAN, INF, True, "10", None),
    *wrong(simulation, "workers", 0, -1, 1.5, NAN, True, None),
    *too_high(simulation, "workers", 10_001, 100_000, 10**400),
    *too_high(simulation, "trials", 2**53, 1e300),
    *too_high(simulation, "max_pulls", 2**62, 10**400),
    *wrong(simulation, "max_pulls", 0, -1, 1.5, True),
    *cases(simulation, "seed", SEEDS_RULE, "any number will do", -1, 1.5, NAN, None, "7", True, [1, 2]),
    *wrong(simulation, "delta", 0.0, 1.0, None),
    *too_high(simulation, "epsilon", 0.5),
    *wrong(simulation, "epsilon", -0.1, NAN),
    *wrong(simulation, "sigma", 0.0, -1.0, NAN),
    *cases(simulation, "method", ONE_OF_METHODS, "check the spelling", "ucb", None),
    *cases(simulation, "alpha", "be an option of mean-se", "mean-se has parameters, exploration", 0.1),
    *cases(
        *(simulation, "contamination", "not be sources", "simulated rewards have no sources", "sources"),
        method="certified",
    ),
    *cases(simulation, "bandit", "be a Bandit", "such as Bandit([Gaussian(1.0), Gaussian(0.0)])", None, [1.0, 0.0]),
]


@pytest.mark.parametrize("case", SIMULATIONS, ids=name)
def test_a_bad_simulation_is_refused(case: Case) -> None:
    refused(*case)


def test_arms_without_a_scale_need_a_sigma() -> None:
    fix = "an arm of this bandit is not sub-Gaussian, so it has no scale of its own"
    for heavy in (ba.Exponential(1.0), ba.LogNormal(0.0, 1.0), ba.StudentT(3.0), lambda rng: rng.random()):
        bandit = ba.Bandit([ba.Gaussian(1.0), heavy])
        assert bandit.sigma is None
        refused(partial(simulation, bandit=bandit), "sigma", "be given", "None", fix)


def test_arms_of_unknown_mean_have_no_best_one() -> None:
    bandit = ba.Bandit([lambda rng: 1.0 + rng.random(), ba.Gaussian(0.0)])
    message = ("arms", "have known means to tell which is best", "[nan, 0.0]", "CustomArm(draw, mean=...)")
    refused(lambda: bandit.best, *message)
    refused(lambda: ba.simulate(bandit, "mean-se", delta=0.1, sigma=1.0, trials=2, max_pulls=50), *message)


@pytest.mark.parametrize("value", [NAN, INF, -INF, 1e300])
def test_a_function_that_gives_no_number_stops_the_simulation(value: float) -> None:
    bandit = ba.Bandit([ba.CustomArm(lambda rng: value, mean=1.0, sigma=1.0), ba.Gaussian(0.0)])
    message = ("reward", FINITE, repr(value), "an arm or adversary of the bandit gave it")
    refused(partial(simulation, bandit=bandit), *message)


# ------------------------------------------------------------------------------------------------ arms and adversaries

SIZE_FIX = "of size at most 1e290"
NOT_FINITE = (NAN, INF, -INF, None, "1", True, 1e300)
NOT_POSITIVE = (0, 0.0, -1.0, NAN, INF, None, "1", True)
NOT_SPREAD = (-1.0, NAN, INF, None, "1", True)
SPREAD_RULE = "be a finite number >= 0"
VALUES_RULE = "be a finite number, or one for each arm, of size at most 1e290"


def bandits(parameter: str, rule: str, fix: str, *values: Any) -> list[Case]:
    return cases(partial(ba.Bandit, [ba.Gaussian(0.0)] * 2), parameter, rule, fix, *values)


def schedules(received: list[Any], rule: str, fix: str, *pieces: list[tuple[Any, Any]]) -> list[Case]:
    return [
        (partial(adversaries.Schedule, each), "pieces", rule, repr(shown), fix)
        for each, shown in zip(pieces, received, strict=True)
    ]


POINT = adversaries.Point(1.0)
TWO = [1.0, 2.0]
NESTED = adversaries.Schedule([(0, POINT), (9, POINT)])
BAD_VALUES: list[Any] = [NAN, INF, None, "1", True, [], [1.0, NAN], [TWO], [1.0, [2.0]], 1e295, -1e295]
BAD_BEGINS: list[list[Any]] = [[], [1], [0, 0], [0, 5, 3], [5, 0], [0, -1], [0, NAN]]
NO_BEST: list[Any] = [[1.0, 1.0], [1.0], [], [1.0, NAN], [1.0, INF], 1.0, None, [TWO], [True, False]]
NO_BEST_FIX = "a tie has no best arm to keep"
FLAT_RULE = "be a flat list of finite numbers, at least one"
LOG_NORMAL = (ba.LogNormal, "sigma", "be small enough that rewards stay below 1e290", "use a smaller sigma or mu")

ARMS: list[Case] = [
    *cases(ba.Gaussian, "mean", FINITE, SIZE_FIX, *NOT_FINITE),
    *cases(ba.Bernoulli, "p", FINITE, SIZE_FIX, *NOT_FINITE),
    *cases(ba.Uniform, "low", FINITE, SIZE_FIX, *NOT_FINITE, high=1.0),
    *cases(ba.Uniform, "high", FINITE, SIZE_FIX, *NOT_FINITE, low=1.0),
    *cases(ba.LogNormal, "mu", FINITE, SIZE_FIX, *NOT_FINITE, sigma=1.0),
    *cases(ba.StudentT, "mean", FINITE, SIZE_FIX, *NOT_FINITE, df=3.0),
    *cases(ba.Gaussian, "sigma", POSITIVE, SIZE_FIX, *NOT_POSITIVE, mean=0.0),
    *cases(ba.Exponential, "mean", POSITIVE, SIZE_FIX, *NOT_POSITIVE),
    *cases(ba.LogNormal, "sigma", POSITIVE, SIZE_FIX, *NOT_POSITIVE, mu=0.0),
    *cases(ba.Beta, "a", POSITIVE, SIZE_FIX, *NOT_POSITIVE, b=1.0),
    *cases(ba.Beta, "b", POSITIVE, SIZE_FIX, *NOT_POSITIVE, a=1.0),
    *cases(ba.StudentT, "df", POSITIVE, SIZE_FIX, *NOT_POSITIVE),
    *cases(ba.StudentT, "scale", POSITIVE, SIZE_FIX, *NOT_POSITIVE, df=3.0),
    *cases(ba.Bernoulli, "p", "be in [0, 1]", "it is the probability of a reward 1", -0.1, 1.1, 2),
    *cases(ba.Uniform, "high", "be above low", "low is 1.0", 1.0, 0.5, low=1.0),
    *cases(ba.StudentT, "df", "be above 1", "with one degree of freedom or less there is no mean", 1.0, 0.5),
    *cases(*LOG_NORMAL, 17.0, mu=0.0),
    *cases(*LOG_NORMAL, 1.0, mu=660.0),
    *cases(*LOG_NORMAL, 200.0, mu=-10_000.0),  # rewards are small, but their mean is exp(10,000)
    *cases(
        *(ba.Empirical, "values", FLAT_RULE, "clean the data first"),
        *([], [1.0, NAN], [1.0, INF], [[1.0]], [True, False], ["1"], [None], 1.0, [1.0, [2.0]]),
    ),
    *cases(
        *(ba.Discrete, "values", FLAT_RULE, "one for each probability", [], [NAN], [[1.0]], ["1"]), probabilities=[1.0]
    ),
    *cases(
        *(ba.Discrete, "probabilities", "be one for each value, none negative, with sum 1", "divide by the sum"),
        *([1.0], [0.5, 0.4], [1.5, -0.5], [0.5, NAN], [0.3, 0.3, 0.4], [], ["0.5", "0.5"], [1, 2]),
        values=TWO,
    ),
    *cases(
        *(ba.CustomArm, "draw", "be a function of a numpy.random.Generator", "such as lambda rng: rng.normal(2, 1)"),
        *(1.0, None, "draw"),
    ),
    *(
        (
            *(partial(ba.Bandit, [ba.Gaussian(0.0), arm]), "arms"),
            *("be arms such as Gaussian(2.5), or functions of a generator", repr(arm), "wrap numbers: Gaussian(mean)"),
        )
        for arm in (2.5, None, "Gaussian", [1.0])
    ),
    (partial(ba.Bandit, []), "arms", "be at least two", "()", ARMS_FIX),
    (partial(ba.Bandit, [ba.Gaussian(0.0)]), "arms", "be at least two", repr((ba.Gaussian(0.0),)), ARMS_FIX),
    *bandits("epsilon", *TOO_HIGH["epsilon"], 0.5, 0.6),
    *bandits("epsilon", *RANGES["epsilon"][3:], -0.1, NAN, "0.1", True),
    *bandits(
        *("adversary", "be one of bestarm.adversaries, a function or None", "such as adversaries.Point(1000.0)"),
        *(1000.0, "point", TWO),
    ),
]

ADVERSARIES: list[Case] = [
    *cases(adversaries.Point, "values", VALUES_RULE, "one number may do", *BAD_VALUES),
    *cases(adversaries.Uniform, "centres", VALUES_RULE, "one number may do", *BAD_VALUES),
    *cases(adversaries.Gaussian, "means", VALUES_RULE, "one number may do", *BAD_VALUES),
    *cases(adversaries.Shift, "amounts", VALUES_RULE, "one number may do", *BAD_VALUES),
    *cases(adversaries.Uniform, "halfwidth", SPREAD_RULE, "0 makes it a point", *NOT_SPREAD, centres=0.0),
    *cases(adversaries.Gaussian, "sigma", SPREAD_RULE, "0 makes it a point", *NOT_SPREAD, means=0.0),
    *(
        (
            *(partial(ba.Bandit, [ba.Gaussian(0.0)] * 3, 0.1, adversary), "adversary"),
            *("have one value for all or one for each of 3 arms", "(1.0, 2.0)", "count them"),
        )
        for adversary in (
            adversaries.Point(TWO),
            adversaries.Uniform(TWO),
            adversaries.Gaussian(TWO),
            adversaries.Shift(TWO),
            adversaries.Schedule([(0, POINT), (5, adversaries.Point(TWO))]),
        )
    ),
    *cases(
        *(adversaries.Schedule, "by", "be total or arm", "count the pulls of all arms or of the arm that is pulled"),
        *("", "arms", None),
        pieces=[(0, POINT)],
    ),
    *schedules(
        *(BAD_BEGINS, "begin at pull 0 and go up", "sort them, and let the first begin at 0"),
        *([(begin, POINT) for begin in begins] for begins in BAD_BEGINS),
    ),
    *schedules(
        *([(5, 1.0), (5, None), (5, max), (5, NESTED)], "be pairs (first pull, adversary)", "such as (0, Point(5.0))"),
        *([(0, POINT), (5, piece)] for piece in (1.0, None, max, NESTED)),
    ),
    *cases(
        *(ba.paper_adversary, "means", "be at least two finite numbers with one largest", NO_BEST_FIX, *NO_BEST),
        epsilon=0.1,
        seed=1,
    ),
    *too_high(ba.paper_adversary, "epsilon", 0.5, means=TWO, seed=1),
    *wrong(ba.paper_adversary, "epsilon", -0.1, NAN, means=TWO, seed=1),
    *cases(
        *(ba.paper_adversary, "margin", "be in [0, 0.9]"),
        "it is the part of every gap that is left; more would ask of the adversary to help",
        *(-0.1, 0.95, NAN, True, "a"),
        means=TWO,
        epsilon=0.1,
        seed=1,
    ),
    *cases(
        *(ba.paper_adversary, "reach", "be a finite number > 0", "it is how far centres may be from the means"),
        *(0.0, -1.0, NAN, math.inf, "a"),
        means=TWO,
        epsilon=0.1,
        seed=1,
    ),
]


@pytest.mark.parametrize("case", ARMS + ADVERSARIES, ids=name)
def test_bad_arms_and_adversaries_are_refused(case: Case) -> None:
    refused(*case)


@pytest.mark.parametrize("mean", [INF, -INF, "x"], ids=repr)
def test_a_custom_arm_must_have_a_mean_that_is_a_number_or_unknown(mean: Any) -> None:
    with pytest.raises(InputError, match=r"^mean must .*, got .*: "):
        ba.CustomArm(lambda rng: 1.0, mean=mean)


@pytest.mark.parametrize("sigma", [-1.0, NAN, INF, "x"], ids=repr)
def test_a_custom_arm_must_have_a_sigma_that_is_a_scale_or_none(sigma: Any) -> None:
    with pytest.raises(InputError, match=r"^sigma must .*, got .*: "):
        ba.CustomArm(lambda rng: 1.0, mean=1.0, sigma=sigma)


@pytest.mark.parametrize("arms", [3, None, 1.5], ids=repr)
def test_a_bandit_of_no_list_of_arms_is_refused(arms: Any) -> None:
    with pytest.raises(InputError, match=r"^arms must .*, got .*: "):
        ba.Bandit(arms)


@pytest.mark.parametrize("begin", [0.5, INF, "5", 2**70], ids=repr)
def test_the_pull_at_which_a_piece_begins_is_a_whole_number(begin: Any) -> None:
    with pytest.raises(InputError, match=r"^pieces must .*, got .*: "):
        adversaries.Schedule([(0, POINT), (begin, POINT)])


@pytest.mark.parametrize("pieces", [None, 3, [POINT], [(0,)], [(0, POINT, 2)]], ids=name)
def test_a_schedule_of_no_pairs_is_refused(pieces: Any) -> None:
    with pytest.raises(InputError, match=r"^pieces must .*, got .*: "):
        adversaries.Schedule(pieces)


@pytest.mark.parametrize("values", [[1e295, 0.0], [-1e295, 0.0]], ids=str)
def test_an_arm_cannot_have_rewards_that_no_identifier_takes(values: list[float]) -> None:
    with pytest.raises(InputError, match=r"^values must .*, got .*: "):
        ba.Empirical(values)
