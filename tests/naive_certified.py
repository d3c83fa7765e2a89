"""The oracle of the method "certified" in its slowest and most literal form, importing nothing from the package.

"Step 2" is a step of what happens at a look at the n rewards of an arm: 1. count bound, 2. radius of a single clean
reward, 3. filter, 4. refresh of the interval. Each refresh sorts all stored rewards of its arm again and adds them up
with `math.fsum`. `max` and `min` return the first of equal candidates: ties go to the lowest arm index.

Why an interval holds for all n at once with probability 1 - delta/K: the union of three events. d1 (step 1): at most
chat(n) of the first n rewards are contaminated. d2 (step 4): the clean mean, or under malice the mean of all n rewards
before contamination, is within its radius. d3 (step 2): no clean reward is further than rad(n) from the mean and, under
malice, no chat(n) of them have deviations that add up to more than G. The last two share d3: chat(1) = 1, so rad and G
are used from n = 2 only, which costs (6/pi^2) (1/2 + sum over n > 2 of 1/n^2) d3 = 0.55 d3 for rad and at most
(6/pi^2) (sum over n >= 2 of 1/n^2) d3 = 0.40 d3 for G.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Status = Literal["identified", "indistinguishable", "undecided"]
R: Final = 50  # r of step 4


# ---------------------------------------------------------------- step 1: how many rewards are contaminated


class CountBound:
    """chat(n), which depends on n only: from one n to the next, c is moved up as far as the martingale M allows.

    >>> bound = CountBound(0.1, 0.0075)
    >>> for n in range(1, 1001):
    ...     c = bound.advance()
    ...     assert math.isclose(math.log(bound.M), log_martingale(n, c, 0.1), abs_tol=1e-9)
    ...     assert c == max(c for c in range(n + 1) if c <= 0.1 * n or log_martingale(n, c, 0.1) < math.log(1 / 0.0075))
    >>> c
    136
    """

    def __init__(self, epsilon: float, d1: float) -> None:
        self.epsilon, self.d1 = epsilon, d1
        self.n = self.c = 0
        self.M = 1.0

    def advance(self) -> int:
        """One more reward."""
        self.n += 1
        n, epsilon = self.n, self.epsilon
        if epsilon == 0:
            return 0
        a, b = beta_prior(epsilon)
        self.M *= (n - 1 - self.c + b) / ((n - 1 + a + b) * (1 - epsilon))  # M_n(c) from M_{n-1}(c)
        while self.c < n:
            larger = self.M * (self.c + a) * (1 - epsilon) / ((n - self.c - 1 + b) * epsilon)  # M_n(c + 1)
            if larger >= 1 / self.d1 and self.c + 1 > epsilon * n:
                break
            self.M = larger
            self.c += 1
        return self.c


def beta_prior(epsilon: float) -> tuple[float, float]:
    """The constants a, b of the mixture, whose mean a / (a + b) is epsilon."""
    a = max(1.0, 50 * epsilon)
    return a, a * (1 - epsilon) / epsilon


def log_beta(x: float, y: float) -> float:
    return math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)


def log_martingale(n: int, c: int, epsilon: float) -> float:
    """log M_n(c) in closed form: the log likelihood ratio of the Beta mixture to Bernoulli(epsilon)."""
    a, b = beta_prior(epsilon)
    return log_beta(c + a, n - c + b) - log_beta(a, b) - c * math.log(epsilon) - (n - c) * math.log1p(-epsilon)


# ---------------------------------------------------------------- step 4, bounded rewards


def far_root(average: float, used: int, d2: float, outer: float) -> float:
    """The p between `outer` (0 or 1) and `average` at which the Beta(1/2, 1/2) mixture reaches 1/d2.

    >>> [round(far_root(0.3, 100, 0.05, outer), 3) for outer in (0.0, 1.0)]
    [0.166, 0.463]
    >>> far_root(0.0, 100, 0.05, 0.0), far_root(1.0, 100, 0.05, 1.0)
    (0.0, 1.0)
    """
    S, F = used * average, used * (1 - average)
    outside, inside = outer, average  # the mixture is >= 1/d2 at the one, < 1/d2 at the other; it is monotone between
    while True:
        p = (outside + inside) / 2
        if p in (outside, inside):  # adjacent doubles, or no root: average is `outer` itself
            return outside
        if log_beta(S + 0.5, F + 0.5) - math.log(math.pi) - S * math.log(p) - F * math.log1p(-p) >= math.log(1 / d2):
            outside = p
        else:
            inside = p


# ---------------------------------------------------------------- one arm


class Arm:
    """The interval of one arm, steps 1 to 4; `d` is its error budget delta/K."""

    def __init__(
        self, d: float, epsilon: float, sigma: float | None, bounds: tuple[float, float] | None, adversary_power: str
    ) -> None:
        if adversary_power not in ("prescient", "malicious"):
            raise ValueError(f"adversary_power must be 'prescient' or 'malicious', got {adversary_power!r}")
        self.malicious = adversary_power == "malicious"
        self.sigma, self.bounds = scale(sigma, bounds), bounds
        self.filtered = epsilon > 0 and bounds is None
        if self.filtered:
            d1, self.d2, self.d3 = 0.3 * d, 0.65 * d, 0.05 * d
        elif epsilon > 0:
            d1, self.d2, self.d3 = 0.3 * d, 0.7 * d, math.nan  # d3 is not used
        else:
            d1, self.d2, self.d3 = math.nan, d, math.nan  # nor is d1
        self.count = CountBound(epsilon, d1)
        self.lower, self.upper = (-math.inf, math.inf) if bounds is None else bounds
        self.n = self.c = self.dropped = self.recheck = 0
        self.next_look = 1
        self.waiting: list[float] = []
        self.stored: list[float] = []
        self.rad = math.nan
        self.spread = math.inf
        self.ready = self.alarm = False

    def tell(self, reward: float) -> bool:
        """The n-th reward, which waits for the next look; True if that is now."""
        self.n += 1
        self.c = self.count.advance()  # step 1
        self.waiting.append(reward)
        if self.n < self.next_look:
            return False
        self.look()
        return True

    def look(self) -> None:
        """Steps 2 to 4."""
        if self.filtered:
            self.rad = self.sigma * math.sqrt(2 * math.log(math.pi**2 * self.n**2 / (3 * self.d3)))  # step 2
        for reward in self.waiting:
            if self.filtered and not self.alarm and self.is_far(reward):  # step 3; after an alarm nothing is certain
                self.dropped += 1
            else:
                self.stored.append(reward)
        self.waiting = []
        if self.refresh() and self.evict():  # step 4
            self.refresh()

    def is_far(self, value: float) -> bool:
        """Certainly contaminated: clean rewards are within rad of the mean, and the mean is in the interval."""
        return value < self.lower - self.rad or value > self.upper + self.rad

    def evict(self) -> bool:
        """Step 4, eviction: drop what the new interval shows to be contaminated."""
        if not self.filtered or self.alarm or self.n < self.recheck:
            return False
        kept = [x for x in self.stored if not self.is_far(x)]
        if len(kept) == len(self.stored):
            return False
        self.dropped += len(self.stored) - len(kept)
        self.stored = kept
        self.recheck = self.n + max(1, self.n // 16)
        return True

    def refresh(self) -> bool:
        """Step 4 but for the eviction; True if the interval was replaced (or confirmed)."""
        if self.n - self.c < 1:
            return False
        spare = self.c - self.dropped  # how many of the stored rewards may be contaminated
        if spare < 0:
            self.alarm = True
            spare = 0
        q = len(self.stored) - spare
        if q < 1:
            return False
        self.ready = True
        ordered = sorted(self.stored)
        L, H = ordered[:q], ordered[-q:]
        lo, hi, self.spread = self.estimate(L, H) if self.bounds is None else self.estimate_bounded(L, H, *self.bounds)
        new_lower, new_upper = max(self.lower, lo), min(self.upper, hi)
        if new_lower > new_upper:
            self.alarm = True
            return False
        self.lower, self.upper = new_lower, new_upper
        return True

    def estimate(self, L: Sequence[float], H: Sequence[float]) -> tuple[float, float, float]:
        """Lower end, upper end and spread from the q smallest and the q largest, rewards not bounded."""
        n, q = self.n, len(L)
        if self.malicious:
            # The mean of all n before contamination; the c that we do not see deviate by at most G in sum.
            spread = n * self.w(n) / q
            margin = spread + self.G(n - q) / q
        else:
            # The q smallest have a mean no larger than that of any q clean ones.
            spread = margin = self.w(q)
        lo, hi = math.fsum(L) / q - margin, math.fsum(H) / q + margin
        if self.filtered:  # some clean reward is >= max(L), some is <= min(H)
            lo, hi = max(lo, max(L) - self.rad), min(hi, min(H) + self.rad)
        return lo, hi, spread

    def estimate_bounded(
        self, L: Sequence[float], H: Sequence[float], low: float, high: float
    ) -> tuple[float, float, float]:
        """The same for rewards in [low, high], where those that we do not see are at worst `low` or `high`."""
        n, q, width = self.n, len(L), high - low
        sum_low = math.fsum((x - low) / width for x in L)
        sum_high = math.fsum((x - low) / width for x in H)
        if self.malicious:
            used, average_low, average_high = n, sum_low / n, (sum_high + n - q) / n
        else:
            used, average_low, average_high = q, sum_low / q, sum_high / q
        average_low, average_high = (min(1.0, max(0.0, average)) for average in (average_low, average_high))
        lo, hi = far_root(average_low, used, self.d2, 0.0), far_root(average_high, used, self.d2, 1.0)
        return low + width * lo, low + width * hi, self.w(used)

    def w(self, x: int) -> float:
        """Statistical radius of a mean of x rewards: Robbins' normal mixture, two-sided, for all x at once."""
        return self.sigma * math.sqrt((x + R) * (math.log((x + R) / R) + 2 * math.log(1 / self.d2))) / x

    def G(self, c: int) -> float:
        """How far the sum of any c of the n clean rewards is from c times the mean; binom(n, c) <= (e n / c)^c."""
        if c == 0:
            return 0.0
        n = self.n
        log_term = c * (1 + math.log(n / c)) + math.log(math.pi**2 / (3 * self.d3)) + 3 * math.log(n)
        return min(c * self.rad, self.sigma * math.sqrt(2 * c * log_term))


def next_look(n: int, spread: float, overlap: float, resolution: float) -> int:
    """How many rewards an arm that has n now will have when it is looked at again.

    >>> [next_look(n, 1.0, 9.0, 0.1) for n in (1, 8, 16, 1000, 4000, 100000)], next_look(1000, 1.0, 0.04, 0.1)
    ([2, 9, 18, 1125, 4512, 102144], 1002)
    """
    wait = min(n / 8, 2048, n * overlap / (16 * spread))
    if spread >= resolution:
        wait = min(wait, n * ((spread / resolution) ** 2 - 1))
    number = n + max(1, int(wait))
    unit = 1
    while number > 512 * unit and number > 4096:  # from 4096 on, only 256 numbers from each power of two to the next
        unit *= 2
    return -(-number // unit) * unit


def scale(sigma: float | None, bounds: tuple[float, float] | None) -> float:
    """sigma, which `bounds` replace."""
    if bounds is not None:
        return (bounds[1] - bounds[0]) / 2
    if sigma is not None:
        return sigma
    raise ValueError("sigma or bounds must be given")


def interval_after(
    rewards: Iterable[float],
    *,
    K: int = 1,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    adversary_power: str = "prescient",
) -> tuple[float, float]:
    """The interval of one of K arms after these rewards.

    >>> interval_after([0.0] * 100, delta=0.1, epsilon=0.0, sigma=1.0)[1] == math.sqrt(150 * math.log(3 / 0.1**2)) / 100
    True
    """
    arm = Arm(delta / K, epsilon, sigma, bounds, adversary_power)
    for n, reward in enumerate(rewards):
        arm.next_look = n + 1
        arm.tell(reward)
    return arm.lower, arm.upper


# ---------------------------------------------------------------- the method


@dataclass
class CertifiedTrajectory:
    """What a run did: the arm of every pull in order, what it found, and the state of every arm at the end."""

    arms: list[int]
    status: Status
    answer: int  # -1 unless identified
    candidates: list[int]
    pulls: int
    lower: list[float]
    upper: list[float]
    alarms: list[bool]


def run_certified(
    pull: Callable[[int], float],
    K: int,
    *,
    delta: float,
    epsilon: float,
    sigma: float | None = None,
    bounds: tuple[float, float] | None = None,
    resolution: float | None = None,
    adversary_power: str = "prescient",
    max_pulls: int | None = None,
) -> CertifiedTrajectory:
    """Run until the best arm is identified, or can't be at this resolution, or `max_pulls` is reached.

    Valid for K >= 2, 0 < delta < 1, 0 <= epsilon < 1/2, sigma > 0, low < high, and finite rewards within the bounds.

    >>> run = run_certified(lambda arm: [0.0, 10.0, 0.0][arm], 3, delta=0.1, epsilon=0.0, sigma=1.0)
    >>> run.arms, run.status, run.answer, run.candidates
    ([0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2], 'identified', 1, [1])
    """
    if resolution is None:
        resolution = 0.05 * scale(sigma, bounds)
    A = [Arm(delta / K, epsilon, sigma, bounds, adversary_power) for _ in range(K)]
    arms: list[int] = []

    def result(status: Status, answer: int, candidates: list[int]) -> CertifiedTrajectory:
        lower, upper, alarms = [x.lower for x in A], [x.upper for x in A], [x.alarm for x in A]
        return CertifiedTrajectory(arms, status, answer, candidates, len(arms), lower, upper, alarms)

    looked: Arm | None = None  # at the last pull
    while True:
        waiting = [i for i in range(K) if not A[i].ready]
        if waiting:
            arm = min(waiting, key=lambda i: A[i].n)
        else:
            leader = max(range(K), key=lambda i: (A[i].lower + A[i].upper) / 2)
            challenger = max([i for i in range(K) if i != leader], key=lambda i: A[i].upper)
            if A[leader].lower > A[challenger].upper:
                return result("identified", leader, [leader])
            if A[leader].spread < resolution and A[challenger].spread < resolution:
                return result("indistinguishable", -1, [i for i in range(K) if A[i].upper >= A[leader].lower])
            arm = min(sorted([leader, challenger]), key=lambda i: A[i].n)

        if not waiting and looked is not None:
            overlap = max(A[challenger].upper - A[leader].lower, 0.0)
            looked.next_look = next_look(looked.n, looked.spread, overlap, resolution)
        if len(arms) == max_pulls:  # only now: the stop test has been made after the last pull
            best_lower = max(x.lower for x in A)
            return result("undecided", -1, [i for i in range(K) if A[i].upper >= best_lower])
        looked = A[arm] if A[arm].tell(pull(arm)) else None
        if looked is not None:
            looked.next_look = looked.n + 1  # unless there is a leader to go by
        arms.append(arm)
