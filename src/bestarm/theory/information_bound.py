"""The information bound under contamination: how many pulls a method needs that is right against every adversary.

Such a method errs with probability at most delta for every law of the class and for every replacement of a share
epsilon of the rewards. So it has to tell the laws that it *observes* from all laws that could be observed if another
arm were the best. GK16's argument (Garivier & Kaufmann, "Optimal Best Arm Identification with Fixed Confidence",
Theorem 1) then gives mean pulls >= T* kl(delta, 1-delta), where

    1/T* = max over the simplex of min over arms a and m of  w_b D_b(m) + w_a U_a(m),

b is the best arm, D_b(m) the infimum of KL(P_b || Q) over all Q = (1-epsilon) F + epsilon H with a law F of the class
whose mean is at most m, H being arbitrary, and U_a(m) the same for arm a and means of at least m. H65 is Huber, "A
robust version of the probability ratio test", whose neighbourhoods these are. Below, an arm is turned and scaled so
that its clean rewards are N(0, 1), and the alternative has a mean d > 0; both infima are then one function of d.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator
from scipy.optimize import minimize_scalar
from scipy.special import rel_entr

from bestarm.bandits.adversaries import Adversary
from bestarm.contamination.powers import BLIND_COINS
from bestarm.errors import InputError
from bestarm.kernels.rewards import draws
from bestarm.phrases import Phrase, Setting
from bestarm.validation import checked, number, numbers, one_of

Floats = NDArray[np.float64]

TAIL = 9.0  # standard deviations: a normal law has 1e-19 beyond them
PANEL, COARSE_PANEL = 0.05, 0.2  # widths, of four nodes each: for values, and for the search of a bet
SAME = {"gaussian": 1e-12, "sub-gaussian": 1e-8}  # a divergence that counts as 0: above what rounding leaves
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
# where m is looked for, between the two means: evenly, and close to either
_BETWEEN = np.unique(
    np.concatenate([np.linspace(0, 1, 4001), *(abs(s - np.geomspace(1e-9, 1e-3, 99)) for s in (0, 1))])
)


def contaminated_bound(
    means: ArrayLike,
    *,
    epsilon: float,
    delta: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    family: str | None = None,
    adversary: Adversary | Sequence[Any] | None = None,
) -> float:
    """Return a lower bound on the mean pulls of a method that is right for every law of a class, however contaminated.

    It is T* kl(delta, 1-delta) for clean rewards that are normal (two-valued with bounds) and fakes as given. The
    method knows neither, and has to rule out everything that class and epsilon allow. If it can't, the bound is inf.

    >>> from bestarm.bandits.adversaries import Point
    >>> hidden = Point([1.0, 3.0, 2.5, 2.1])  # 1.5 sigma below the best mean, and above the others
    >>> setting = {"means": [2.5, 1.5, 1.0, 0.6], "sigma": 1.0, "epsilon": 0.1, "delta": 0.1, "adversary": hidden}
    >>> [round(contaminated_bound(**setting, family=name)) for name in ("gaussian", "sub-gaussian")]
    [26, 207]
    >>> round(contaminated_bound([0.5, 0.3], bounds=(0, 1), epsilon=0.05, delta=0.05, adversary=[0, 1]))
    626

    The method has to rule out alternatives with gaps of any size, even those below the 2U of `minimal_bias`, which stay
    hidden for ever. So the bound may be inf at gaps above 2U: with the fakes of the last example up to 4U =
    2 epsilon/(1-epsilon). It does not apply to methods that assume a gap of more than 2U.

    Parameters
    ----------
    means : at least two numbers
        Means of the clean rewards, within the bounds if there are any.
    epsilon, delta : float in [0, 0.5), float in (0, 1)
        Each reward is replaced with this probability; the probability of a wrong answer. From delta = 1/2 on the
        argument gives nothing and the bound is 0, as for `lower_bound`.
    sigma, bounds : float > 0, or (float, float)
        One of them: scale of the clean rewards, or the lowest and highest reward, the only two that are then given.
    family : {"gaussian", "sub-gaussian"}, with sigma only
        The laws of clean rewards that the method allows for. A method that allows for the second allows for the first,
        which therefore is a bound for both, and the default.

        - "gaussian": N(m, sigma^2), so a value that repeats is known to be fake. Right to 3 digits; only quadrature and
          interpolation are not exact. (Among alternatives outside the given means, those near the fakes are tried.
          Others could only raise the bound.)
        - "sub-gaussian": every law of this scale. The divergence is a supremum over bets, whose rates are limited to a
          geometric ladder. So it is too low, and the bound too *high*, by 0.2 % where we compared it with 4 times the
          rates. It is rigorous that the truth lies between "gaussian" and this. It takes a second for each arm whose
          fakes lie differently.
        - with bounds: every law within them, in closed form; T* is good to 6 digits.
    adversary : Adversary, or a sequence with one entry for each arm, optional
        Where fakes come from: one law for each arm, and a fair coin. `Point`, `Uniform`, `Gaussian`, `Shift`,
        `Reflect` and `Impersonate` have one (with bounds: `Point` at either of them, `Impersonate`). In a sequence a
        number is a point, +-inf one that all methods recognise, an object with a method `pdf` a density that is smooth
        over distances of sigma / 20, and None, like no adversary at all, means that nothing is replaced.

    With epsilon > 0, gaps below 1e-4 sigma ("gaussian") or 1e-3 sigma ("sub-gaussian") may count as ties, and give inf.
    Where "sub-gaussian" is about to become inf it has fewer digits: 2 at 100 times the bound for epsilon = 0.
    """
    epsilon, delta = checked(epsilon=epsilon, delta=delta)
    mu = numbers(means)
    if mu.size < 2:
        raise InputError("means", "be at least two finite numbers", means, "give one mean per arm, as a flat list")
    if (sigma is None) == (bounds is None):
        received = "neither" if sigma is None else f"sigma={sigma!r} and bounds={bounds!r}"
        fix = Phrase("say {} or {}", Setting("sigma", 1.0), Setting("bounds", (0, 1)))
        raise InputError("sigma", "be given, or bounds, and not both", received, fix)
    if bounds is not None:
        if family is not None:
            raise InputError("family", "be left out with bounds", family, "all laws within the bounds are allowed for")
        pairs = _two_valued(mu, epsilon, _range(bounds, mu), adversary)
    else:
        (scale,) = checked(sigma=sigma)
        kind = "gaussian" if family is None else family
        one_of("family", kind, ("gaussian", "sub-gaussian"))
        pairs = _normal(mu, epsilon, scale, kind, _fakes(adversary, mu, scale))
    if delta >= 0.5:
        return 0.0
    return _time(pairs) * (1.0 - 2.0 * delta) * (math.log1p(-delta) - math.log(delta))


# the optimisation over the simplex


def _time(pairs: list[tuple[Floats, Floats]]) -> float:
    """Return T* from D_b(m) and U_a(m), for each rival a at values m that go from its mean to the best one.

    Let x_a = w_a/w_b and y = 1/(w_b T*). Then y <= D_b(m) + x_a U_a(m) for all m, iff x_a >= max_m (y - D_b)+ / U_a,
    and T* is the minimum over y of (1 + sum x_a)/y: convex over linear, so that there is one. At every maximum and at
    the minimum an error in m or y enters squared.
    """
    highest = min(float(d[u <= 0.0].min()) for d, u in pairs)  # where a rival's U is 0, D has to do it alone
    if highest <= 0.0:
        return math.inf
    if highest == math.inf:  # one reward may decide
        highest = min(float(d[d < math.inf].max()) for d, _ in pairs)

    def time(log_share: float) -> float:
        y = highest * math.exp(log_share)
        needed = (np.divide(y - d, u, out=np.zeros_like(d), where=d < y).max() for d, u in pairs)
        return (1.0 + float(sum(needed))) / y

    # between 1/(2K) and 1 for normal rewards without contamination; e^-30 is far below anything
    found = minimize_scalar(time, bounds=(-30.0, -1e-9), method="bounded", options={"xatol": 1e-8})
    return float(found.fun)


# two-valued rewards


def _two_valued(
    mu: Floats, epsilon: float, bounds: tuple[float, float], adversary: Adversary | Sequence[Any] | None
) -> list[tuple[Floats, Floats]]:
    """Return D and U: Q gives `high` with a probability in [(1-epsilon) m, (1-epsilon) m + epsilon], and all do.

    A law within bounds that isn't two-valued is no closer: its mean bounds the probability of either end.
    """
    low, high = bounds
    share = (mu - low) / (high - low)
    fakes = share.copy()
    for i, law in enumerate(_fakes(adversary, mu, 1.0)):
        if law.kind == "point" and law.centre in (low, high):
            fakes[i] = float(law.centre == high)
        elif law.kind == "arm":
            fakes[i] = (law.centre - low) / (high - low)
        elif law.kind != "none":
            raise InputError(
                "adversary", "play low, high or another arm's rewards", adversary, "with bounds rewards are two-valued"
            )
    p = (1.0 - epsilon) * share + epsilon * fakes
    best = int(mu.argmax())
    pairs = []
    for a in np.delete(np.arange(mu.size), best):
        m = share[a] + (share[best] - share[a]) * _BETWEEN
        most, least = (1.0 - epsilon) * m + epsilon, (1.0 - epsilon) * m
        # what is within rounding of the neighbourhood counts as in it: a tie, and no winner
        d = np.where(most < p[best] - 1e-14, _kl(p[best], most), 0.0)
        u = np.where(least > p[a] + 1e-14, _kl(p[a], least), 0.0)
        pairs.append((d, u))
    return pairs


def _kl(p: float, q: Floats) -> Floats:
    return np.asarray(rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q))


def _range(bounds: tuple[float, float], mu: Floats) -> tuple[float, float]:
    pair = numbers(bounds)
    if pair.size != 2 or not pair[0] < pair[1]:
        raise InputError("bounds", "be two finite numbers, low < high", bounds, "such as (0, 1)")
    if mu.min() < pair[0] or mu.max() > pair[1]:
        raise InputError("means", "lie within the bounds", mu.tolist(), f"bounds are {bounds}")
    return float(pair[0]), float(pair[1])


# normal rewards


@dataclass(frozen=True)
class _Law:
    """Where an arm's fakes come from: "none", "point", "uniform", "gaussian", "arm" (the law of another), "density"."""

    kind: str
    centre: float = 0.0
    width: float = 0.0
    density: Callable[[Floats], Floats] | None = None


@dataclass(frozen=True)
class _Observed:
    """The law of what is observed of one arm, turned and scaled, as masses at points; `far` is beyond all of them."""

    x: Floats
    mass: Floats
    far: float
    widths: Floats  # what a density is multiplied by to give masses; 0 at a point that has its own


def _normal(mu: Floats, epsilon: float, sigma: float, family: str, fakes: list[_Law]) -> list[tuple[Floats, Floats]]:
    best = int(mu.argmax())
    rivals = np.delete(np.arange(mu.size), best)
    gaps = np.minimum((mu[best] - mu[rivals]) / sigma, 1e150)  # the squares of larger ones overflow
    if epsilon == 0.0 or gaps.min() <= 0.0:  # without contamination N(m, sigma^2) is the closest sub-Gaussian law
        return [((gap * (1.0 - _BETWEEN)) ** 2 / 2.0, (gap * _BETWEEN) ** 2 / 2.0) for gap in gaps]
    # Further apart there is no more to tell: as fakes may be anything, a reward says about log(1/epsilon) at most.
    reach = math.sqrt(-2.0 * math.log(epsilon)) + 10.0
    nearest, furthest = min(float(gaps.min()), reach), min(float(gaps.max()), reach)
    curves: dict[Hashable, Callable[[Floats], Floats]] = {}

    def divergence(arm: int, d: Floats) -> Floats:
        law = _turned(fakes[arm], float(mu[arm]), sigma, -1.0 if arm == best else 1.0)
        key = arm if law.density is not None else (law.kind, round(law.centre, 12), round(law.width, 12))
        if key not in curves:  # many attacks are the same for all arms, but for place and side
            curves[key] = _curve(law, epsilon, family, nearest, furthest)
        return curves[key](np.minimum(d, furthest))

    return [
        (divergence(best, gap * (1.0 - _BETWEEN)), divergence(int(a), gap * _BETWEEN))
        for a, gap in zip(rivals, gaps, strict=True)
    ]


def _curve(law: _Law, epsilon: float, family: str, nearest: float, furthest: float) -> Callable[[Floats], Floats]:
    """Return d -> infimum of the divergence over the means from d on, for d <= furthest, from some 40 of its values."""
    fine = _observed(law, epsilon, furthest, PANEL)
    coarse = _observed(law, epsilon, furthest, COARSE_PANEL)

    def value(d: float) -> float:
        found = _filled(fine, epsilon, d) if family == "gaussian" else _best_bet(coarse, fine, epsilon, d)
        return found if found > SAME[family] else 0.0

    # where the fakes are, they may pass for the clean rewards and these for fakes
    near_fakes = law.centre + np.linspace(-1.0, 1.0, 9) if law.centre < furthest + TAIL - 1.0 else np.empty(0)
    beyond = min((value(d) for d in near_fakes.tolist() if d > furthest), default=math.inf)

    def falling(indices: Floats) -> Floats:
        values = np.minimum([value(d) for d in indices.tolist()], beyond)
        return np.asarray(np.minimum.accumulate(values[::-1])[::-1])

    grid = np.linspace(0.0, furthest, 8)
    last = int(np.flatnonzero(np.append(0.0, falling(grid[1:])) == 0.0)[-1])
    if last == grid.size - 1:
        return np.zeros_like
    start, end = float(grid[last]), float(grid[last + 1])
    while end - start > 1e-3 * nearest:  # up to `start` nothing can be told from d = 0
        middle = (start + end) / 2.0
        start, end = (middle, end) if value(middle) == 0.0 else (start, middle)
    # From there on the divergence is about a power of d - start. Its logarithm is smooth at all scales.
    length = furthest - start
    first = min(max(nearest - start, 0.01 * nearest), length) / 30.0
    offsets = np.geomspace(first, length, 8 + round(8.0 * math.log10(length / first)))
    values = falling(start + offsets)
    offsets, values = offsets[values > 0.0], values[values > 0.0]
    log_value = PchipInterpolator(np.log(offsets), np.log(values))

    def curve(d: Floats) -> Floats:
        offset = np.maximum((d - start) / offsets[0], 0.0)
        inside = np.exp(log_value(np.log(offsets[0]) + np.log(np.clip(offset, 1.0, offsets[-1] / offsets[0]))))
        return np.asarray(inside * np.minimum(offset, 1.0) ** 2)

    return curve


def _observed(law: _Law, epsilon: float, furthest: float, panel: float) -> _Observed:
    """Return (1-epsilon) N(0, 1) + epsilon fakes on Gauss-Legendre nodes that suit N(d, 1), d <= furthest, as well."""
    low, high = -TAIL, furthest + TAIL
    edges = np.linspace(low, high, math.ceil((high - low) / panel) + 1)
    if law.kind == "uniform":
        edges = np.append(edges, [law.centre - law.width, law.centre + law.width])
    elif law.kind == "gaussian" and law.width < 4.0 * panel:  # a peak between the nodes
        edges = np.append(edges, law.centre + law.width * np.linspace(-8.0, 8.0, 33))
    edges = np.unique(edges[(edges >= low) & (edges <= high)])
    half = np.diff(edges)[:, None] / 2.0
    x, widths = (edges[:-1, None] + half * (1.0 + _PLACES)).ravel(), (half * _WEIGHTS).ravel()
    clean = widths * _standard(x)
    if law.kind == "none":
        fakes = clean
    elif law.kind == "point":
        inside = low < law.centre < high
        x, widths, clean = (np.append(values, last) for values, last in ((x, law.centre), (widths, 0.0), (clean, 0.0)))
        fakes = np.where(widths == 0.0, float(inside), 0.0)
    elif law.kind == "uniform":
        fakes = widths * (np.abs(x - law.centre) <= law.width) / (2.0 * law.width)
    elif law.kind == "gaussian":
        fakes = widths * _standard((x - law.centre) / law.width) / law.width
    else:
        assert law.density is not None
        fakes = widths * law.density(x)
    missing = 1.0 - float(fakes.sum())
    far = missing if missing > 1e-6 else 0.0  # less is what quadrature leaves
    mass = (1.0 - epsilon) * clean + epsilon * fakes
    kept = (x > low) & (x < high)  # all but a point that is far
    return _Observed(x[kept], mass[kept] * ((1.0 - epsilon * far) / mass.sum()), epsilon * far, widths[kept])


def _filled(observed: _Observed, epsilon: float, d: float) -> float:
    """Return the least KL(P || Q) over Q >= (1-epsilon) N(d, 1): Q = max of that and P/lambda, total 1 (H65)."""
    x, mass, far = observed.x, observed.mass, observed.far
    floor = observed.widths * _standard(x - d)
    floor *= (1.0 - epsilon) / floor.sum()
    positive = mass > 1e-300
    floor, mass = floor[positive], mass[positive]
    ratio = floor / mass
    order = np.argsort(ratio)
    # below the k-th ratio Q is P/lambda, above it the floor: 1/lambda = (1 - floor above)/(P below), for the k it fits
    below = far + np.append(0.0, np.cumsum(mass[order]))
    with np.errstate(divide="ignore"):
        shares = (epsilon + np.append(0.0, np.cumsum(floor[order]))) / below  # the floor above is 1-epsilon less below
    share = float(shares[int(np.flatnonzero(np.append(ratio[order], math.inf) >= shares)[0])])
    return float(np.sum(mass * np.log(mass / np.maximum(floor, share * mass)))) - far * math.log(share)


def _best_bet(coarse: _Observed, fine: _Observed, epsilon: float, d: float) -> float:
    """Return the largest gain per reward of a bet against all sub-Gaussian laws of mean d and their neighbours.

    A bet is h(y) = min(C, c + a y + sum g_s exp(s y - s^2/2)), y = x - d, g_s >= 0. By sub-Gaussianity its mean is at
    most (1-epsilon) (c + sum g_s) + epsilon C =: 1 under all Q, so E_P log h <= KL(P || Q); with all rates s it is the
    dual of that infimum. It is concave in (C, c, a, g), and searched for on the coarse nodes, with t_j < h(y_j) as
    further variables: they can be eliminated. The value returned is that of the bet found, on the fine nodes.
    """
    top = max(8.0, 1.5 * d + 4.0)
    rises = 0.3 * np.exp(math.log(1.15) * np.arange(math.ceil(math.log(top / 0.3) / math.log(1.15)) + 1))
    rates = np.append(-rises, rises)
    price = np.concatenate([[epsilon, 1.0 - epsilon, 0.0], np.full(rates.size, 1.0 - epsilon)])
    # h > 0 is needed where any F has mass, even if P has next to none
    bet, _, _ = _search(np.maximum(coarse.mass, 1e-13), _basis(coarse.x - d, rates), coarse.far, price)
    lines = _rows(_basis(fine.x - d, rates), bet[1:])
    lift = max(0.0, -float(lines.min()))
    gains = np.log(np.clip(lines + lift, 1e-300, bet[0]))
    return float(fine.mass @ gains + fine.far * math.log(bet[0]) - math.log(price @ bet + (1.0 - epsilon) * lift))


def _basis(y: Floats, rates: Floats) -> Floats:
    # cut off at e^200, against overflow: that lowers h, and leaves its price a bound
    return np.column_stack([np.ones_like(y), y, np.exp(np.minimum(np.outer(y, rates) - rates**2 / 2.0, 200.0))])


def _search(mass: Floats, basis: Floats, far: float, price: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the (C, c, a, g) that maximises sum of mass log min(C, basis @ (c, a, g)) + far log C, at price 1.

    A primal-dual interior-point method. The multipliers of t < C and t < line are epsilon H and (1-epsilon) F of the
    law that is closest to P. They are returned too: a test uses them to check that no better bet was missed.
    """
    size = price.size
    bet = _start(mass, basis, far, price)
    line = _rows(basis, bet[1:])
    t = 0.5 * np.minimum(bet[0], line)
    to_cap, to_line = bet[0] - t, line - t  # carried along: as differences they would round to 0
    share = (mass + 1.0 / mass.size) / 2.0  # of each node in the remaining gap
    capped, priced, unused = share / to_cap, share / to_line, 1.0 / (size - 3) / bet[3:]
    for _ in range(150):  # 25 to 90, but for the most extreme
        gap = float(capped @ to_cap + priced @ to_line + unused @ bet[3:])
        off = float(np.abs(mass / t - capped - priced) @ t)
        gain = float(mass @ np.log(t)) + far * math.log(bet[0])
        if gap + off < max(3e-9, 3e-4 * gain):
            break
        target = 0.1 * gap / 3.0
        # Newton's equations in t, with slope and bend, and in the bet, in units of C and of each g: orders apart
        first, second, third = target * share / to_cap, target * share / to_line, target / (size - 3)
        cap_bend, line_bend, own_bend = capped / to_cap, priced / to_line, mass / t**2
        bend = own_bend + cap_bend + line_bend
        drift = (mass / t - first - second) / bend
        units = np.concatenate([bet[:1], [1.0, 1.0], bet[3:]])
        scaled = basis * units[1:]
        rise = np.append((first + cap_bend * drift).sum() * bet[0] + far, _columns(scaled, second + line_bend * drift))
        rise[3:] += third
        system = np.zeros((size + 1, size + 1))
        system[0, 0] = np.sum(cap_bend * (own_bend + line_bend) / bend) * bet[0] ** 2 + far
        system[0, 1:size] = system[1:size, 0] = -bet[0] * _columns(scaled, cap_bend * line_bend / bend)
        system[1:size, 1:size] = _columns(scaled, (line_bend * (own_bend + cap_bend) / bend)[:, None] * scaled)
        system[range(3, size), range(3, size)] += unused * bet[3:]
        system[:size, size] = system[size, :size] = price * units
        try:
            step = np.linalg.solve(system, np.append(rise, 0.0))[:size] * units
        except np.linalg.LinAlgError:  # as far as doubles go; every bet on the way is a bet
            break
        line_step = _rows(basis, step[1:])
        t_step = drift + (cap_bend * step[0] + line_bend * line_step) / bend
        cap_step, line_step = step[0] - t_step, line_step - t_step
        capped_step, priced_step = first - capped - cap_bend * cap_step, second - priced - line_bend * line_step
        unused_step = third / bet[3:] - unused - unused / bet[3:] * step[3:]
        room = min(_room(t, t_step), _room(to_cap, cap_step), _room(to_line, line_step), _room(bet[3:], step[3:]))
        length = min(1.0, 0.95 * room)
        bet, t = bet + length * step, t + length * t_step
        to_cap, to_line = to_cap + length * cap_step, to_line + length * line_step
        room = min(_room(capped, capped_step), _room(priced, priced_step), _room(unused, unused_step))
        length = min(1.0, 0.95 * room)
        capped, priced = capped + length * capped_step, priced + length * priced_step
        unused = unused + length * unused_step
    return bet, capped, priced


def _start(mass: Floats, basis: Floats, far: float, price: Floats) -> Floats:
    """Return the best starting bet: a little weight on every term and most on one, for a low and a high C."""
    epsilon = float(price[0])
    starts = []
    for cap in (min(2.0, 0.5 / epsilon + 0.5), 0.5 / epsilon):
        spread = np.concatenate([[0.5, 0.0], np.full(price.size - 3, 0.5 / (price.size - 3))])
        total = (1.0 - epsilon * cap) / (1.0 - epsilon)
        lines = total * (0.2 * _rows(basis, spread)[:, None] + 0.8 * np.delete(basis, 1, axis=1))
        gains = _columns(np.log(np.minimum(lines, cap)), mass) + far * math.log(cap)
        term = int(gains.argmax())
        bet = np.append(cap, total * 0.2 * spread)
        bet[1 if term == 0 else term + 2] += total * 0.8
        starts.append((float(gains[term]), bet))
    return max(starts, key=lambda start: start[0])[1]


# Products of 32 rows at a time, which BLAS does not spread over threads: they are too short to be worth it, and where
# two processes share two cores the threads wait for each other (measured: 160 s for the tests in place of 15).


def _rows(matrix: Floats, vector: Floats) -> Floats:
    return np.concatenate([matrix[i : i + 32] @ vector for i in range(0, len(matrix), 32)])


def _columns(matrix: Floats, other: Floats) -> Floats:
    return np.asarray(sum(matrix[i : i + 32].T @ other[i : i + 32] for i in range(0, len(matrix), 32)))


def _room(distance: Floats, step: Floats) -> float:
    """Return the length of the step at which the first of some positive distances is used up."""
    shrinks = step < 0.0
    return float(np.min(-distance[shrinks] / step[shrinks], initial=math.inf))


def _standard(x: Floats) -> Floats:
    return np.asarray(np.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi))


# where fakes come from


def _turned(law: _Law, mean: float, sigma: float, side: float) -> _Law:
    """Return a law of fakes in units in which clean rewards are N(0, 1), and other arms lie above."""
    if law.kind == "none":
        return law
    centre, width, kind = side * (law.centre - mean) / sigma, law.width / sigma, law.kind
    if kind in ("uniform", "gaussian") and width < 1e-6:
        kind, width = "point", 0.0
    if kind == "point" and not abs(centre) < 100.0:  # beyond all nodes: all the same
        centre = math.inf
    density = law.density
    if density is None:
        return _Law("gaussian" if kind == "arm" else kind, centre, width)

    def turned(x: Floats) -> Floats:
        values = np.asarray(sigma * np.asarray(density(mean + side * sigma * x), dtype=np.float64))
        if values.shape != x.shape or not (np.isfinite(values) & (values >= 0.0)).all():
            raise InputError("adversary", "have densities >= 0, of arrays too", density, "such as scipy.stats.norm()")
        return values

    return _Law(kind, density=turned)


def _fakes(adversary: Adversary | Sequence[Any] | None, mu: Floats, sigma: float) -> list[_Law]:
    """Return where each arm's fakes come from, in the units of the rewards; `sigma` is that of clean ones."""
    if adversary is None:
        return [_Law("none")] * mu.size
    if isinstance(adversary, Adversary):
        return _fakes_of(adversary, mu, sigma)
    if isinstance(adversary, str) or not isinstance(adversary, Sequence) or len(adversary) != mu.size:
        raise InputError(
            "adversary", f"be one of bestarm.adversaries or have {mu.size} entries", adversary, "one for each arm"
        )
    laws = []
    for entry in adversary:
        if entry is None:
            laws.append(_Law("none"))
        elif callable(getattr(entry, "pdf", None)):
            laws.append(_Law("density", density=entry.pdf))
        elif not math.isnan(number(entry)):
            laws.append(_Law("point", number(entry)))
        else:
            raise InputError("adversary", "have numbers, objects with a pdf or None", entry, "one for each arm")
    return laws


def _fakes_of(adversary: Adversary, mu: Floats, sigma: float) -> list[_Law]:
    piece = adversary.pieces[0]
    laws = (draws.POINT, draws.UNIFORM_AROUND, draws.GAUSSIAN_AROUND, draws.IMPERSONATE, draws.SHIFT, draws.REFLECT)
    if len(adversary.pieces) > 1 or piece.kind not in laws or adversary.power not in BLIND_COINS:
        raise InputError(
            "adversary",
            "be Point, Uniform, Gaussian, Shift, Reflect or Impersonate, with a fair coin",
            adversary,
            "the bound needs one law for each arm",
        )
    if len(piece.a) not in (1, mu.size) or len(piece.b) not in (1, mu.size):
        raise InputError(
            "adversary", f"have one value for all or one for each of {mu.size} arms", piece.a, "count them"
        )
    a, b = np.broadcast_to(piece.a, mu.size), np.broadcast_to(piece.b, mu.size)
    if piece.kind == draws.IMPERSONATE:
        if not np.isin(a, np.arange(mu.size)).all():
            raise InputError("adversary", f"have targets that are indices below {mu.size}", piece.a, "count from 0")
        return [_Law("arm", float(mu[int(target)]), sigma) for target in a]
    if piece.kind == draws.SHIFT:
        return [_Law("gaussian", float(centre), sigma) for centre in mu + a]
    if piece.kind == draws.REFLECT:
        return [_Law("gaussian", float(centre), sigma) for centre in 2.0 * a - mu]
    kind = {draws.POINT: "point", draws.UNIFORM_AROUND: "uniform", draws.GAUSSIAN_AROUND: "gaussian"}[piece.kind]
    return [_Law(kind, float(centre), float(width)) for centre, width in zip(a, b, strict=True)]
