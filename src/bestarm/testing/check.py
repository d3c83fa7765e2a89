"""`check_method`: the conformance suite, to run on a method of your own."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bestarm.bandits import Bandit, Gaussian, adversaries
from bestarm.errors import InputError
from bestarm.methods import get_method
from bestarm.policies.policy import Factory
from bestarm.problem import pose
from bestarm.simulation import simulate
from bestarm.testing.bench import MEANS, Bench
from bestarm.testing.rules import RULES, BrokenRuleError, NotTried, _Found, clear_bandit, says
from bestarm.validation import checked, one_of

PROMISE = "promise"
LEVEL = 1e-3  # the probability that a method fails which keeps its promise


@dataclass(frozen=True)
class Report:
    """The result of the suite: the method keeps all rules that were tried. `str()` has one line per rule.

    Attributes
    ----------
    method : str
        Its name.
    kept : tuple of str
        The rules that it keeps.
    not_tried : dict
        The other rules, and why they were not tried.
    wrong, trials : int
        Wrong answers, and simulated trials, of the promise; 0 and 0 if no trials were requested.
    """

    method: str
    kept: tuple[str, ...]
    not_tried: dict[str, str]
    wrong: int = 0
    trials: int = 0

    def __str__(self) -> str:
        words = {name: says(rule) for name, rule in RULES.items()}
        words[PROMISE] = f"{self.wrong} wrong answers in {self.trials} trials"
        lines = [f"{self.method} keeps {len(self.kept)} rules"]
        lines += [f"  {name}: {words[name]}" for name in self.kept]
        return "\n".join([*lines, *(f"  {name}: not tried, {why}" for name, why in self.not_tried.items())])


def check_method(
    method: str | Factory,
    *,
    delta: float = 0.1,
    epsilon: float = 0.1,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    trials: int | None = None,
    bandit: Bandit | None = None,
    max_pulls: int = 4000,
    seed: int = 0,
    skip: Collection[str] = (),
    **options: Any,
) -> Report:
    """Test whether a method keeps the rules that all callers rely on; raise an example of the first rule it breaks.

    The method runs on four arms with known rewards, many times: seeding, copies, reading the state, batches, late
    rewards, the frozen decision, arms in another order, rewards shifted or in another unit, simulated trials.

    Parameters
    ----------
    method : class or function that makes a `Policy`, or str
        The method.
    delta, epsilon, sigma, bounds, **options
        As for `Identifier`; sigma = 1 by default. Choose them so that runs are short.
    trials : int >= 1, optional
        Simulate this many trials to test whether P(error) <= delta; the rule is broken if this many wrong answers have
        a probability below 1/1000 (exact, binomial). Without `trials` the promise is not tested.
    bandit : Bandit, optional
        What to simulate for it. By default four Gaussian arms; a mild adversary replaces a share epsilon of the rewards
        by uniform ones around half the mean. With bounds, clean Bernoulli arms.
    max_pulls : int >= 1
        Cap on the rewards of a run. Rules about the decision are not tried if there is none within the cap.
    seed : int
        Seed of all rewards.
    skip : collection of str
        Rules that your method does not intend to keep, such as {"shift"}.

    Returns
    -------
    Report
        The rules that the method keeps, and those that were not tried.

    Raises
    ------
    BrokenRuleError
        An `AssertionError` that names the rule and gives an example.

    Examples
    --------
    >>> from bestarm import reference
    >>> report = check_method(reference.MeanSE, max_pulls=300)
    >>> report.method, "copies" in report.kept
    ('reference mean-se', True)
    """
    for rule in skip:
        one_of("skip", rule, (*RULES, PROMISE))
    count = None if trials is None else int(checked(trials=trials)[0])
    cap, start = (int(value) for value in checked(max_pulls=max_pulls, seed=seed))
    scale = 1.0 if sigma is None and bounds is None else sigma
    problem = pose(len(MEANS), delta=delta, epsilon=epsilon, sigma=scale, bounds=bounds)
    name = get_method(method).name
    bench = Bench(method, options, problem.delta, problem.epsilon, problem.sigma, problem.bounds, cap, start)
    kept: list[str] = []
    not_tried = dict.fromkeys(skip, "skipped")
    for rule, function in RULES.items():
        if rule in skip:
            continue
        try:
            function(bench)
        except NotTried as why:
            not_tried[rule] = str(why)
            continue
        except _Found as found:
            raise BrokenRuleError(name, rule, says(function), str(found)) from None
        except Exception as error:  # raised by the method, or by a driver because of it
            raise BrokenRuleError(name, rule, says(function), f"{type(error).__name__}: {error}") from error
        kept.append(rule)
    if count is None or PROMISE in skip:
        not_tried.setdefault(PROMISE, "pass trials=1000 to simulate it")
        return Report(name, tuple(kept), not_tried)
    wrong = _wrong(bench, name, count, bandit)
    return Report(name, (*kept, PROMISE), not_tried, wrong, count)


def _wrong(bench: Bench, name: str, trials: int, given: Bandit | None) -> int:
    """Return the wrong answers of simulated trials, or raise if they are too many."""
    from scipy.stats import binom

    bandit = given
    if bandit is None and bench.bounds is None and bench.epsilon > 0.0:
        centres = [bench.sigma * mean / 2.0 for mean in MEANS]
        arms = [Gaussian(bench.sigma * mean, bench.sigma) for mean in MEANS]
        bandit = Bandit(arms, bench.epsilon, adversaries.Uniform(centres, bench.sigma))
    elif bandit is None:
        bandit = clear_bandit(bench)
    elif not isinstance(bandit, Bandit):
        raise InputError("bandit", "be a Bandit", bandit, "such as Bandit([Gaussian(1.0), Gaussian(0.0)])")
    found = simulate(
        bandit,
        bench.method,
        delta=bench.delta,
        epsilon=bench.epsilon,
        sigma=None if bench.bounds is not None else bench.sigma,
        bounds=bench.bounds,
        trials=trials,
        seed=bench.seed,
        max_pulls=bench.max_pulls,
        **{option: value for option, value in bench.options.items() if option != "seed"},
    )
    chance = float(binom.sf(found.wrong - 1, trials, bench.delta))
    if chance < LEVEL:
        example = (
            f"{found.wrong} of {trials} trials name a wrong arm; at delta = {bench.delta:g} as many or more would "
            f"have a probability of {chance:.1g} at most"
        )
        raise BrokenRuleError(name, PROMISE, "errs with probability at most delta", example)
    return found.wrong
