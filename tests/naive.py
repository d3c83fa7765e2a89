"""The oracle: every method of MTCD21 in its slowest and most literal form, importing nothing from the package.

MTCD21 is "Mean-based Best Arm Identification in Stochastic Bandits under Reward Contamination". "Alg. 1, line 4" is a
line of its pseudocode and "eq. overlap" the label of an equation in its LaTeX source. "Reading #11" is a row of the
table that settles where the text is unclear or wrong; a reading overrides the text.

Nothing is updated incrementally: each estimate sorts all rewards of its arm again. `max` and `min` return the first of
equal candidates, and candidates are always listed by increasing arm index: ties go to the lowest index (reading #12).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

# ---------------------------------------------------------------- estimators


def trimmed_mean(values: Sequence[float], alpha: float) -> float:
    """Mean of what remains after floor(alpha n) values are cut off each end, 0 <= alpha < 1/2.

    >>> trimmed_mean([1000.0, 1.0, 2.0, 6.0, -1000.0], 0.2)
    3.0
    """
    n = len(values)
    k = math.floor(alpha * n)  # of the floating-point product
    kept = sorted(values)[k : n - k]
    # Eq. estimator divides by (1 - 2 alpha) n, which is not the number kept unless alpha n is whole. Reading #6.
    return math.fsum(kept) / len(kept)


def median(values: Sequence[float]) -> float:
    """Sample median, the mean of the two middle values for even n (reading #15).

    >>> median([4.0, 1.0, 2.0]), median([9.0, 1.0, 2.0, 4.0])
    (2.0, 3.0)
    """
    n = len(values)
    ordered = sorted(values)
    if n % 2 == 1:
        return ordered[n // 2]
    return math.fsum(ordered[n // 2 - 1 : n // 2 + 1]) / 2


# ---------------------------------------------------------------- forced exploration and radii


def bernoulli_kl(p: float, q: float) -> float:
    """Relative entropy of Bernoulli(p) from Bernoulli(q), p log(p/q) + (1-p) log((1-p)/(1-q)), for 0 < p, q < 1."""
    return p * math.log(p / q) + (1 - p) * (math.log1p(-p) - math.log1p(-q))


def exploration_pulls(alpha: float, delta: float, kind: str) -> float:
    """T(alpha, delta), a real number: an arm is explored once its count is >= T (reading #8).

    >>> math.ceil(exploration_pulls(0.05, 0.1, "hoeffding")), math.ceil(exploration_pulls(0.05, 0.1, "chernoff"))
    (1843, 231)
    """
    if kind == "none":
        return 1.0
    if alpha == 0:
        return 1.0  # reading #10: nothing is trimmed, and both formulas diverge
    if kind == "hoeffding":
        return 2 / alpha**2 * math.log(1 / delta)  # definition of T before eq. sampling rule
    if kind == "chernoff":
        # Notes, 4(a): the n with exp(-n kl(alpha, alpha/2)) = delta, in place of Hoeffding's exp(-n alpha^2 / 2).
        return math.log(1 / delta) / bernoulli_kl(alpha, alpha / 2)
    raise ValueError(f"exploration must be 'hoeffding', 'chernoff' or 'none', got {kind!r}")


def gap_radius_theory(n: int, t: int, K: int, delta: float, epsilon: float, sigma: float, power: float) -> float:
    """beta_i(t, delta) of eq. conf_algo1 for an arm with n of the t pulls; `power` > 1 is the paper's exponent beta."""
    C = 1 + 1 / (power - 1)  # reading #1: the printed (1 - beta)^-1 has the wrong sign
    # log((K-1) C t^power / delta), positive since (K-1) C / delta > 1 for K >= 2, delta < 1.
    # In two terms because t**power overflows for a large power.
    log_term = math.log((K - 1) * C / delta) + power * math.log(t)
    return sigma / (1 - epsilon) * math.sqrt(2 / n) * math.sqrt(log_term)


def gap_radius_empirical(n: int, t: int, delta: float, sigma: float) -> float:
    """The radius sigma sqrt(2/n log(log t / delta)) of the experiments, without 1/(1-epsilon) (reading #13)."""
    ratio = math.log(t) / delta
    if ratio <= 1:  # where log log is negative, or zero and so the radius; with t >= K only at t = 2, as log 3 > 1
        return math.inf
    return sigma * math.sqrt(2 / n) * math.sqrt(math.log(ratio))


def elimination_radius(t: int, K: int, delta: float, epsilon: float, sigma: float) -> float:
    """gamma_t of theorem PAC_SE after t rounds."""
    # K t^2 pi^2 / (12 delta) >= 2 pi^2 / 12 = 1.64... > 1 for K >= 2, t >= 1, delta < 1: the root is real and positive.
    log_term = math.log(K * t**2 * math.pi**2 / (12 * delta))
    return sigma / (1 - epsilon) * math.sqrt(2 / t) * math.sqrt(log_term)


# ---------------------------------------------------------------- the uniform choice of the random baseline

MASK64: Final = 2**64 - 1


def mix64(x: int) -> int:
    """One output of splitmix64 at state x, 0 <= x < 2^64.

    >>> hex(mix64(0))  # first output of the reference generator seeded with 0
    '0xe220a8397b1dcdaf'
    """
    x = (x + 0x9E3779B97F4A7C15) & MASK64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def uniform_arm(seed: int, t: int, K: int) -> int:
    """The random baseline's arm after t pulls: the upper 32 of 64 mixed bits, scaled to 0..K-1."""
    return ((mix64(mix64(seed) ^ t) >> 32) * K) >> 32


# ---------------------------------------------------------------- methods


@dataclass
class Trajectory:
    """What a run did: the arm of every pull in order, the arm it named (-1: `max_pulls` came first), and tau."""

    arms: list[int]
    answer: int
    pulls: int


def run(
    method: str,
    pull: Callable[[int], float],
    K: int,
    *,
    delta: float,
    epsilon: float,
    sigma: float,
    alpha: float | None = None,
    threshold: str = "theory",
    power: float = 2.0,
    exploration: str = "hoeffding",
    parameters: str = "clean",
    floor: str = "arm",
    seed: int = 0,
    max_pulls: int | None = None,
) -> Trajectory:
    """Run one of g-cbai, random, mean-gap (Alg. 1) or se-cbai, median-se, mean-se (Alg. 2) until it stops.

    Valid for K >= 2, 0 < delta < 1, 0 <= epsilon < 1/2, sigma > 0, 0 <= alpha < 1/2, power > 1, 0 <= seed < 2^64.
    `parameters` ("clean", "same") is for mean-se and mean-gap, without alpha; `floor` ("arm", "total") for random.

    >>> run("mean-se", lambda arm: [0.0, 10.0, 0.0][arm], 3, delta=0.1, epsilon=0.0, sigma=1.0)
    Trajectory(arms=[0, 1, 2], answer=1, pulls=3)
    """
    if parameters not in ("clean", "same") or floor not in ("arm", "total"):
        raise ValueError(f"no such parameters or floor: {parameters!r}, {floor!r}")
    plain = method in ("mean-se", "mean-gap")
    if plain and parameters == "clean":
        epsilon = 0.0  # reading #16: as if nothing were contaminated, so sample mean, T = 1, no 1/(1-epsilon)
    if alpha is None:
        alpha = epsilon / 2  # lemma est_con, reading #9
    T = exploration_pulls(alpha, delta, exploration)

    def estimate(values: Sequence[float]) -> float:
        if plain:
            return math.fsum(values) / len(values)
        return median(values) if method == "median-se" else trimmed_mean(values, alpha)

    def gap_radius(n: int, t: int) -> float:
        if threshold == "theory":
            return gap_radius_theory(n, t, K, delta, epsilon, sigma, power)
        if threshold == "empirical":
            return gap_radius_empirical(n, t, delta, sigma)
        raise ValueError(f"threshold must be 'theory' or 'empirical', got {threshold!r}")

    def gamma(t: int) -> float:
        return elimination_radius(t, K, delta, epsilon, sigma)

    if method in ("g-cbai", "mean-gap"):
        return _gap(pull, K, T, estimate, gap_radius, None, max_pulls)
    if method == "random" and floor == "total":
        return _random_from_the_start(pull, K, T, estimate, gap_radius, seed, max_pulls)
    if method == "random":
        return _gap(pull, K, T, estimate, gap_radius, seed, max_pulls)
    if method in ("se-cbai", "median-se", "mean-se"):
        return _elimination(pull, K, T, estimate, gamma, max_pulls)
    raise ValueError(f"unknown method {method!r}")


def _gap(
    pull: Callable[[int], float],
    K: int,
    T: float,
    estimate: Callable[[Sequence[float]], float],
    radius: Callable[[int, int], float],
    seed: int | None,
    max_pulls: int | None,
) -> Trajectory:
    """Alg. 1, or with a seed the random baseline: its stopping rule with arms drawn uniformly (reading #14)."""
    arms: list[int] = []
    rewards: list[list[float]] = [[] for _ in range(K)]
    while True:
        t = len(arms)  # reading #11: the pulls made so far, in every formula
        N = [len(rewards[i]) for i in range(K)]  # reading #3: a count, not the printed sum of rewards
        enough = max(math.sqrt(t), T) if seed is None else T  # reading #14: no sqrt(t) for the random baseline

        if any(N[i] < enough for i in range(K)):  # Alg. 1, line 4; `<`, reading #5
            arm = min(range(K), key=lambda i: N[i])  # line 5; the least-pulled arm of all is in U_t
        else:
            mu = [estimate(rewards[i]) for i in range(K)]
            beta = [radius(N[i], t) for i in range(K)]
            leader = max(range(K), key=lambda i: mu[i])  # a-hat_t
            others = [i for i in range(K) if i != leader]
            challenger = max(others, key=lambda i: mu[i] + beta[i])  # j_t, line 8; argmax, reading #2
            B = mu[challenger] + beta[challenger] - (mu[leader] - beta[leader])  # line 9, eq. overlap
            if B <= 0:  # line 3, eq. stopping rule, tested on the present B_t (reading #11)
                return Trajectory(arms, leader, t)  # line 15
            if seed is None:
                arm = max(sorted([leader, challenger]), key=lambda i: beta[i])  # line 10; reading #12 for equal radii
            else:
                arm = uniform_arm(seed, t, K)

        if t == max_pulls:  # only now: the stop test has been made after the last pull
            return Trajectory(arms, -1, t)
        rewards[arm].append(pull(arm))
        arms.append(arm)


def _random_from_the_start(
    pull: Callable[[int], float],
    K: int,
    T: float,
    estimate: Callable[[Sequence[float]], float],
    radius: Callable[[int, int], float],
    seed: int,
    max_pulls: int | None,
) -> Trajectory:
    """Reading #14, its variant: arms drawn uniformly always, Alg. 1's stopping rule once K T pulls were made in all."""
    arms: list[int] = []
    rewards: list[list[float]] = [[] for _ in range(K)]
    while True:
        t = len(arms)
        if t >= K * T and all(rewards):  # an arm without a reward has no estimate
            mu = [estimate(rewards[i]) for i in range(K)]
            beta = [radius(len(rewards[i]), t) for i in range(K)]
            leader = max(range(K), key=lambda i: mu[i])
            highest = max(mu[i] + beta[i] for i in range(K) if i != leader)
            if highest - (mu[leader] - beta[leader]) <= 0:
                return Trajectory(arms, leader, t)
        if t == max_pulls:
            return Trajectory(arms, -1, t)
        arm = uniform_arm(seed, t, K)
        rewards[arm].append(pull(arm))
        arms.append(arm)


def _elimination(
    pull: Callable[[int], float],
    K: int,
    T: float,
    estimate: Callable[[Sequence[float]], float],
    gamma: Callable[[int], float],
    max_pulls: int | None,
) -> Trajectory:
    """Alg. 2."""
    arms: list[int] = []
    rewards: list[list[float]] = [[] for _ in range(K)]
    active = list(range(K))  # M_t, by increasing arm index throughout; line 1
    t = 0
    while len(active) > 1:  # line 2
        t += 1  # reading #7: rounds, so also the pulls of each active arm
        for i in active:  # line 3
            if len(arms) == max_pulls:
                return Trajectory(arms, -1, len(arms))
            rewards[i].append(pull(i))
            arms.append(i)
        if t >= T:  # line 4, "or N_i(t) < T", where N_i(t) = t
            mu = {i: estimate(rewards[i]) for i in active}
            cut = max(mu.values()) - 2 * gamma(t)  # line 4; the maximum is over M_t, not S_t, reading #4
            active = [i for i in active if not mu[i] < cut]  # line 4, all arms against the same maximum
    return Trajectory(arms, active[0], len(arms))  # line 7; tau counts pulls, reading #7
