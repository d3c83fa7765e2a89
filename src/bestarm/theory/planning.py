"""Before the first pull: whether the best arm can be found at all, and at what cost.

U is `theory.minimal_bias`: the bias that the worst adversary hides of every mean. Gaps up to 2U stay hidden for ever.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import erf
from scipy.stats import binom

from bestarm.bandits import Bandit, Discrete, Gaussian, adversaries, paper_adversary
from bestarm.bandits.adversaries import Adversary
from bestarm.contamination import SIMULATED, Contamination, default, resolve
from bestarm.contamination import checked as checked_contamination
from bestarm.contamination.powers import BLIND_COINS
from bestarm.errors import InputError
from bestarm.extras import needs
from bestarm.identification.result import as_json
from bestarm.methods import DEFAULT, METHODS, Method, OwnMethod, get_method, too_long
from bestarm.policies.policy import Factory
from bestarm.problem import Problem, pose
from bestarm.progress import progress_bar
from bestarm.simulation import Trials, simulate
from bestarm.theory import bounds as theory
from bestarm.theory.information_bound import contaminated_bound
from bestarm.validation import checked, numbers, one_of

PILOT = 5  # trials of every forecast, whatever they cost
BUDGET = 3_000_000  # pulls of a forecast, about: 0.15 seconds at 50 ns a pull
SCANNED = 64  # arms that cost as much to look through as a pull does
PULLS = ("mean_pulls", "q05", "q50", "q95")
BOUNDS = ("paper", "characteristic")
EXPLORATIONS = ("hoeffding", "chernoff")


@dataclass(frozen=True)
class Plan:
    """The prospects of an identification before it begins; `plan` makes one, `str()` is a report.

    Attributes
    ----------
    means, sigma, bounds, epsilon, delta, contamination, family, max_pulls, seed
        The question; sigma is half the range where bounds were given.
    best, gap : int, float
        Index of the best arm, and how far its mean is above the second largest.
    bias, identifiable_gap, margin, identifiable : float, float, float, bool
        U of the family; 2U, which the gap has to exceed; by how much it does (0 or less if not); and whether it does.
        For "sub-gaussian" only a lower limit of U is known. U is the bias that coins which see nothing can hide
        ("causal", "prescient"); other contamination may hide more, and there True means not ruled out.
    tolerated_epsilon, tolerated_by : float, {"closed form", "bisection"}
        The best arm is identifiable at every epsilon below this one, and how that was found.
    lower_bounds : dict
        Lower bounds on the mean pulls of any method, "benign" (bias 0) and "worst case" (bias U, inf where not
        identifiable), by the "paper" (H log(1/delta)) and by "characteristic" time. They are for normal rewards of
        scale sigma; with bounds they are only a guide, as rewards of small variance need fewer. On bias U see
        `theory.lower_bound`.
    exploration : dict
        For "hoeffding" and "chernoff": T at alpha = epsilon/2, and pulls = K ceil(T), the least of the paper's methods.
    forecasts : tuple of dict
        A row for each adversary, method and kind of exploration: trials, mean_pulls, their quantiles q05, q50, q95;
        shares of the trials: wrong (a wrong arm named), no_winner (stopped without naming one), capped (cut short at
        max_pulls: with any of these, mean and quantiles are too small); and, for the certified method, `bound`, a lower
        bound on the mean pulls of any method that allows for every adversary and every law of the bound_family
        (`theory.contaminated_bound` against these fakes, inf if none can name a winner). None where it is not known.
    """

    means: tuple[float, ...]
    sigma: float
    bounds: tuple[float, float] | None
    epsilon: float
    delta: float
    contamination: str
    family: str
    max_pulls: int
    seed: int
    best: int
    gap: float
    bias: float
    identifiable_gap: float
    margin: float
    identifiable: bool
    tolerated_epsilon: float
    tolerated_by: str
    lower_bounds: dict[str, dict[str, float]]
    exploration: dict[str, dict[str, float]]
    forecasts: tuple[dict[str, Any], ...]

    @property
    def advice(self) -> tuple[str, ...]:
        """What to do about it, in sentences."""
        return (*_verdict(self), *_choice_of_method(self), *_exploration_and_cap(self))

    def facts(self) -> str:
        """Return the part of the report that needs theory alone."""
        scale = f"sigma = {self.sigma:g}" if self.bounds is None else f"rewards in {list(self.bounds)}"
        shown = ", ".join(f"{mean:g}" for mean in self.means[:10]) + (", ..." if len(self.means) > 10 else "")
        verdict, sign = ("identifiable", "above") if self.identifiable else ("NOT identifiable", "not above")
        if self.identifiable and not resolve(self.contamination).bias_is_known:
            verdict = "not ruled out"
        lines = [
            f"{len(self.means)} arms with means {shown}; {scale}, epsilon = {self.epsilon:g}, delta = {self.delta:g}",
            f"contamination   {self.contamination}: {resolve(self.contamination).words}",
            f"worst case      {verdict}: the smallest gap {self.gap:.4g} is {sign} 2U = {self.identifiable_gap:.4g} "
            f"(family {self.family})",
            f"tolerated       by these gaps: any epsilon below {self.tolerated_epsilon:.4g} ({self.tolerated_by})",
        ]
        for name, pulls in self.lower_bounds.items():
            both = f"{pulls['paper']:,.0f} (H log 1/delta), {pulls['characteristic']:,.0f} (characteristic time)"
            lines.append(f"{'pulls at least' if self.bounds is None else 'guide to pulls'}  {name}: {both}")
        for kind, row in self.exploration.items():
            lines.append(f"exploration     {kind}: T = {row['T']:,.1f} per arm, {row['pulls']:,.0f} in all")
        return "\n".join(lines)

    def __str__(self) -> str:
        needs("pandas")
        import pandas as pd

        form: Any = {"index": False, "float_format": lambda v: f"{v:,.0f}" if v >= 100.0 else f"{v:.4g}"}
        shown = [{name: "-" if value is None else value for name, value in row.items()} for row in self.forecasts]
        rows = pd.DataFrame(shown).to_string(**form) if shown else "no forecasts"
        return "\n\n".join((self.facts(), rows, "\n".join(f"- {sentence}" for sentence in self.advice)))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers."""
        return dict(json.loads(json.dumps(asdict(self) | {"advice": self.advice})))  # so that tuples are lists

    def to_json(self) -> str:
        """Return the same as strict JSON; an infinite bound is null."""
        return json.dumps(as_json(self.to_dict()), indent=1, allow_nan=False)


def plan(
    means: ArrayLike,
    *,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    epsilon: float,
    delta: float,
    contamination: str = default("live"),
    family: str | None = None,
    methods: Sequence[str | Factory] | None = None,
    trials: int = 200,
    max_pulls: int = 200_000,
    seed: int = 0,
    workers: int = 1,
    progress: bool = False,
) -> Plan:
    """Say whether the best arm can be identified under contamination, and forecast how many pulls it takes.

    Each method is simulated on normal rewards (with bounds: on rewards at the two ends of the range) against a benign
    adversary (`paper_adversary`, in units of sigma; with bounds, all values in the range alike) and a worst-like one:
    values 1.5 sigma below the mean of the best arm and above those of the others; with bounds, at the ends. Both keep
    to the contamination: "malicious", the worst-like one picks the rewards that hurt most; "share-of-arm", both count;
    "share-of-all", the worst-like one has all its fakes on the runner-up.

    Parameters
    ----------
    means : at least two numbers, one of them largest
        What you believe, or the smallest difference that would matter to you.
    sigma, bounds, epsilon, delta
        As for `Identifier`; one of sigma and bounds.
    contamination : {"causal", "prescient", "malicious", "share-of-arm", "share-of-all"}
        What epsilon means to the certified method, and which rewards are replaced in the forecasts.
    family : {"gaussian", "sub-gaussian", "bounded"}, optional
        What is known of clean rewards: "gaussian" by default with sigma, always "bounded" with bounds.
    methods : sequence of str or policies, optional
        Which to forecast, all by default; an empty one leaves the forecasts out. A `Policy` is run in Python.
    trials, max_pulls : int >= 1
        Simulated trials per forecast, and cap on the pulls of each. Where trials are long, fewer are run (at least 5).
    seed, workers, progress
        As for `simulate`. The numbers do not depend on workers.

    Examples
    --------
    >>> paper = plan([2.5, 2.3, 2.0, 0.6], sigma=1.0, epsilon=0.1, delta=0.05, methods=[])
    >>> paper.identifiable, round(paper.identifiable_gap, 4), round(paper.tolerated_epsilon, 4)
    (False, 0.2794, 0.0738)
    """
    values = numbers(means)
    tied = np.flatnonzero(values == values.max(initial=-math.inf))
    if tied.size > 1:
        tie = f"arms {tied[0]} and {tied[1]} tie, so that none is best; put in the smallest difference that matters"
        raise InputError("means", "have one largest", means, tie)
    theory.optimal_proportions(means)  # refuses what are not two numbers or more
    problem = pose(values.size, delta=delta, epsilon=epsilon, sigma=sigma, bounds=bounds)
    checked(trials=trials, workers=workers, max_pulls=max_pulls, seed=seed)
    families = ("bounded",) if problem.bounds else ("gaussian", "sub-gaussian")
    family = families[0] if family is None else family
    one_of("family", family, families, " with bounds" if problem.bounds else " with sigma")
    if problem.bounds and not problem.bounds[0] <= values.min() <= values.max() <= problem.bounds[1]:
        raise InputError("means", f"lie in the bounds {problem.bounds}", means, "no reward can average outside them")
    if not isinstance(contamination, Contamination) or not contamination.simulated:  # a model of the user's own
        one_of("contamination", contamination, SIMULATED)
    contamination = checked_contamination(contamination)
    chosen: Sequence[str | Factory] = tuple(METHODS) if methods is None else methods
    if isinstance(chosen, str) or not isinstance(chosen, Sequence):
        raise InputError("methods", "be a list of names", methods, 'such as ["g-cbai", "se-cbai"]')
    settings = [(given, kind) for given in chosen for kind in _explorations(get_method(given), problem.epsilon)]

    best = int(values.argmax())
    gap = float(values[best] - np.delete(values, best).max())
    bias = theory.minimal_bias(problem.epsilon, problem.sigma, family, bounds=problem.bounds)
    bound = partial(theory.lower_bound, values, problem.delta, sigma=problem.sigma)
    least = {
        name: {kind: bound(bias=u, kind=kind) for kind in BOUNDS} for name, u in (("benign", 0.0), ("worst case", bias))
    }
    waits = {kind: theory.exploration_pulls(problem.epsilon / 2.0, problem.delta, kind) for kind in EXPLORATIONS}
    explored = {kind: {"T": T, "pulls": float(values.size * np.ceil(T))} for kind, T in waits.items()}
    options: dict[str, Any] = {"delta": delta, "sigma": sigma, "bounds": bounds, "seed": int(seed), "workers": workers}
    runs = list(product(_bandits(values, best, problem, contamination, int(seed)), dict.fromkeys(settings)))
    rows = []
    with progress_bar("plan", len(runs), progress) as advance:
        for (adversary, bandit), (given, kind) in runs:
            name, certifies = get_method(given).name, get_method(given).certifies
            own = {"exploration": kind} if kind in explored else {"contamination": contamination} if certifies else {}
            run = partial(simulate, bandit, given, **options | own)
            figures = _forecast(run, int(trials), int(max_pulls), explored.get(kind, {"pulls": 0.0})["pulls"])
            least_pulls, bound_family = _bound(values, problem, bandit) if certifies else (None, None)
            row = {"adversary": adversary, "method": name, "exploration": kind, **figures}
            rows.append({**row, "bound": least_pulls, "bound_family": bound_family})
            advance(1)
    told = problem.sigma, problem.bounds, problem.epsilon, problem.delta
    question = (tuple(values.tolist()), *told, contamination, family)
    limits = (best, gap, bias, 2.0 * bias, gap - 2.0 * bias, gap > 2.0 * bias, *_tolerated(gap, problem, family))
    return Plan(*(*question, int(max_pulls), int(seed), *limits, least, explored, tuple(rows)))


def _tolerated(gap: float, problem: Problem, family: str) -> tuple[float, str]:
    """Return the epsilon at which 2U equals the gap: U grows with epsilon, in closed form for two families."""
    ratio = gap / problem.sigma / 2.0
    if family != "sub-gaussian":
        eta = float(erf(ratio / math.sqrt(2.0))) if family == "gaussian" else ratio
        return eta / (1.0 + eta), "closed form"
    last = math.nextafter(0.5, 0.0)
    excess: Callable[[float], float] = lambda e: theory.minimal_bias(e, 1.0, family) - ratio  # noqa: E731
    root = brentq(excess, 0.0, last, xtol=1e-300, rtol=1e-15, maxiter=5000) if excess(last) > 0.0 else 0.5
    return float(root), "bisection"


def _bandits(
    means: NDArray[np.float64], best: int, problem: Problem, contamination: str, seed: int
) -> list[tuple[str, Bandit]]:
    inwards = np.where(np.arange(means.size) == best, -1.0, 1.0)  # the best arm down, the others up
    if problem.bounds is None:
        arms: list[Any] = [Gaussian(mean, problem.sigma) for mean in means.tolist()]
        centres = paper_adversary([mean / problem.sigma for mean in means.tolist()], problem.epsilon, seed).pieces[0].a
        benign = adversaries.Uniform(problem.sigma * np.array(centres), problem.sigma)
        worst = adversaries.Point(means + 1.5 * problem.sigma * inwards)
    else:
        low, high = problem.bounds
        arms = [Discrete([low, high], [1.0 - p, p]) for p in ((means - low) / (high - low)).tolist()]
        benign = adversaries.Uniform((low + high) / 2.0, (high - low) / 2.0)
        worst = adversaries.Point(np.where(inwards > 0.0, high, low))
    if problem.epsilon == 0.0:
        return [("none", Bandit(arms))]
    model = resolve(contamination)
    second = int(np.where(inwards > 0.0, means, -np.inf).argmax())
    benign = model.keep(adversaries, benign)
    worst = model.worst(adversaries, worst, best=best, second=second, arms=means.size)
    return [("benign", Bandit(arms, problem.epsilon, benign)), ("worst-like", Bandit(arms, problem.epsilon, worst))]


def _bound(means: NDArray[np.float64], problem: Problem, bandit: Bandit) -> tuple[float | None, str | None]:
    """Return a lower bound on the mean pulls of a method that allows for all adversaries, and the family it allows for.

    It is known for coins that do not see the reward, as simulated. "sub-gaussian" takes a second for each position of
    the fakes relative to the mean. With more than two positions, the two best arms stand for all, as fewer arms never
    need more pulls; the bound is then the larger of that and "gaussian" for all arms.
    """
    adversary = bandit.adversary
    if adversary is None:
        adversary = adversaries.Point(0.0)  # at epsilon = 0 it is not used
    if not isinstance(adversary, Adversary) or adversary.power not in BLIND_COINS:
        return None, None
    bound = partial(contaminated_bound, epsilon=problem.epsilon, delta=problem.delta)
    piece = adversary.pieces[0]
    if problem.bounds is not None:
        if piece.b != (0.0,):  # spread over the range, where the bound is not known
            return None, None
        return bound(means, bounds=problem.bounds, adversary=adversary), "bounded"
    family = partial(bound, sigma=problem.sigma)
    fakes = np.broadcast_to(piece.a, means.size)
    if problem.epsilon == 0.0 or means.size == 2 or piece.b == (0.0,):
        return family(means, family="sub-gaussian", adversary=adversary), "sub-gaussian"
    two = np.argsort(-means, kind="stable")[:2]
    of_two = family(means[two], family="sub-gaussian", adversary=adversaries.Uniform(fakes[two], piece.b[0]))
    of_all = family(means, family="gaussian", adversary=adversary)
    return (of_two, "sub-gaussian") if of_two >= of_all else (of_all, "gaussian")


def _explorations(method: Method, epsilon: float) -> tuple[str, ...]:
    has = set() if isinstance(method, OwnMethod) else {option.name for option in method.options}
    explores = epsilon > 0.0 and "exploration" in has and "parameters" not in has  # sample means do not, by default
    return EXPLORATIONS if explores else ("none",)


def _forecast(run: Callable[..., Trials], count: int, cap: int, forced: float) -> dict[str, float]:
    if forced > cap:  # no trial ends before its exploration does: nothing to simulate
        return {"trials": count, **dict.fromkeys(PULLS, float(cap)), "wrong": 0.0, "no_winner": 0.0, "capped": 1.0}
    trials = run(trials=min(count, PILOT), max_pulls=cap)
    affordable = int(BUDGET / trials.mean_pulls / (1.0 + trials.arm_pulls.shape[1] / SCANNED))
    if len(trials) < count and affordable >= 2 * PILOT:
        trials = run(trials=min(count, affordable), max_pulls=cap)
    summary = trials.summary()
    shares = {"wrong": "error_rate", "no_winner": "indistinguishable", "capped": "undecided"}
    return {name: summary[shares.get(name, name)] for name in ("trials", *PULLS, *shares)}


def _verdict(plan: Plan) -> Iterator[str]:
    gap = f"a gap above {plan.identifiable_gap:.4g} (it is {plan.gap:.4g})"
    takes = f"It takes {gap} or, equivalently, epsilon below {plan.tolerated_epsilon:.4g} (it is {plan.epsilon:g})."
    if not plan.identifiable:
        yield f"Not identifiable: against the worst adversary no method, however long, can be sure of arm {plan.best}."
        yield f"{takes} Settle for larger differences, merge arms this close, or screen out bad rewards."
        yield "A benign adversary leaves a winner to be found; but that it is benign is an assumption, not a finding."
        return
    if resolve(plan.contamination).bias_is_known:
        yield f"Identifiable: no adversary hides for ever that arm {plan.best} is best. {takes}"
    else:
        yield f"Not ruled out: coins that see no reward cannot hide for ever that arm {plan.best} is best. {takes}"
        yield f"Contamination {plan.contamination} may hide more; how much is not worked out here: go by the forecasts."
    if plan.family == "sub-gaussian":
        yield "For this family only a lower limit of U is known: read it as not ruled out, and keep a margin."


def _choice_of_method(plan: Plan) -> Iterator[str]:
    broken: dict[str, dict[str, None]] = {}
    for row in plan.forecasts:  # too often: what a kept promise gives in one of a hundred forecasts
        if binom.sf(round(row["wrong"] * row["trials"]) - 1, row["trials"], plan.delta) < 0.01:
            broken.setdefault(row["adversary"], {})[row["method"]] = None
    for adversary, names in broken.items():
        yield f"Wrong more often than delta allows, in the forecast with the {adversary} adversary: {', '.join(names)}."
    yield from _certified(plan)
    if plan.epsilon == 0.0:
        return
    yield (
        "g-cbai, se-cbai and random at the paper's alpha = epsilon/2 do not survive a one-sided adversary: half of "
        "the rewards far out on one side stay after trimming, and a wrong arm is named whatever the gap. The "
        "worst-like adversary is more discreet than that: a method that withstands it is not proved safe."
    )


def _certified(plan: Plan) -> Iterator[str]:
    """Recommend the certified method as far as its own forecasts go."""
    rows = [row for row in plan.forecasts if row["method"] == DEFAULT]
    promise = f"it errs with probability at most delta if {resolve(plan.contamination).words}"
    silent = {row["adversary"]: row["no_winner"] + row["capped"] for row in rows}
    without = [adversary for adversary, share in silent.items() if share > 0.5]
    if not rows:
        if plan.epsilon > 0.0:
            yield f"Use {DEFAULT} for a promise against every adversary: {promise}."
            yield "Whether it would name a winner at these gaps was not forecast."
    elif not without:
        if plan.epsilon > 0.0:
            yield f"Use {DEFAULT}: {promise}. In most trials of each forecast it names a winner."
    else:
        shares = " and ".join(f"{silent[name]:.0%} with the {name} adversary" for name in without)
        yield f"{DEFAULT} names no winner in most trials of its forecasts: none in {shares}."
        yield f"Its promise holds all the same: {promise}."
    for row in rows:
        if row["bound"] == math.inf:
            yield (
                f"With the {row['adversary']} adversary no method that allows for every adversary and "
                f"{_LAWS[row['bound_family']]} can be counted on to name a winner: its bound is inf."
            )
    finite = {row["bound_family"]: None for row in rows if row["bound"] is not None and row["bound"] < math.inf}
    for family in finite:
        yield (
            f"bound ({family}) is what no method that allows for every adversary and {_LAWS[family]} gets below, on "
            "average; methods that promise less may need fewer."
        )


_LAWS = {
    "gaussian": "every normal law of this sigma",
    "sub-gaussian": "every sub-Gaussian law of this scale",
    "bounded": "every law within the bounds",
}


def _exploration_and_cap(plan: Plan) -> Iterator[str]:
    for kind, row in plan.exploration.items():
        warning = too_long(row["T"], kind, plan.epsilon, plan.epsilon / 2.0, plan.delta)
        if warning is not None:
            yield f"{warning}."
    rows = [row for row in plan.forecasts if row["adversary"] == "benign"]
    pulls = {kind: [row["mean_pulls"] for row in rows if row["exploration"] == kind] for kind in EXPLORATIONS}
    if pairs := list(zip(*pulls.values(), strict=True)):  # of the methods that explore, in the same order
        long, short = max(pairs, key=lambda pair: pair[0] / pair[1])
        long = max(long, plan.exploration["hoeffding"]["pulls"])  # which may be above the cap
        size = "much" if long >= 1.25 * short else "little"
        yield f'exploration="chernoff" saves {size}: {short:,.0f} pulls in place of {long:,.0f} (benign adversary).'
    if any(row["capped"] > 0.0 for row in plan.forecasts):
        yield f"Where capped is above 0, trials were cut at {plan.max_pulls:,} pulls: the true numbers are larger."
    yield (
        "'No winner' (status indistinguishable) is an answer, and says why: limit contamination, which could hide the "
        "remaining lead, and more rewards of this kind would not settle it (a judgement, not covered by delta); limit "
        "resolution, there were as many rewards as it asks for, and the verdict says which lead would have been found "
        "with probability 0.9; a finer resolution may find a smaller one. 'Undecided' (capped) only means: not yet."
    )
