"""sigma="estimate": an upper bound of the sigma of normal clean rewards, from rewards that are set aside.

Of the m rewards of an arm that are set aside, at most g were replaced. Let x = mu + sigma z with z the normal
(1 - p)-quantile. At least k of the m clean rewards are at or above x, except with probability P(Bin(m, p) < k). So the
(k - g)-th largest reward is at least x, the (k - g)-th smallest at most mu - sigma z, and sigma at most their distance
divided by 2 z. p depends on m and g alone. Section 13 of docs/explanation/certified.md.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bestarm.contamination import Contamination
from bestarm.contamination.words import HOW_MANY
from bestarm.errors import InputError
from bestarm.log.question import ESTIMATE, LogQuestion
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.phrases import Phrase, Setting
from bestarm.problem import pose
from bestarm.validation import checked

SHARE_ASIDE = 0.25  # of each arm's rewards
SHARE_OF_DELTA = 0.2
_TAILS = np.linspace(0.02, 0.45, 44)  # p


def with_estimated_sigma(rewards: Rewards, model: Contamination, question: LogQuestion) -> LogResult:
    """Return the verdict on a log with unknown sigma; the seed picks the rewards that it is estimated from."""
    from bestarm.log.judgement import judge_rewards

    delta, epsilon = checked(delta=question.delta, epsilon=question.least_epsilon)
    if model.by_source:
        rule = Phrase("be a number for {}", Setting("contamination", model.name))
        raise InputError("sigma", rule, ESTIMATE, "give sigma or, better, bounds")
    seed = seed_of(rewards) if question.seed is None else int(checked(seed=question.seed)[0])
    aside, rest = set_aside(rewards, seed)
    sigma = largest_sigma(rewards, aside, model, SHARE_OF_DELTA * delta, epsilon)
    problem = pose(rest.labels, delta=(1.0 - SHARE_OF_DELTA) * delta, epsilon=epsilon, sigma=sigma)
    sizes = np.array([each.size for each in aside])
    result = judge_rewards(rest, problem, model, question, aside=sizes)
    said = result.promise.replace(HOW_MANY, "how many an arm got was fixed") + (
        f"; clean rewards are of normal shape; sigma is an upper bound from {sizes.sum():,} rewards picked at random "
        f"(seed {seed}), which were used for nothing else"
    )
    # The p-value holds if sigma is large enough; the probability that it is not is added.
    p_value = None if result.p_value is None else min(1.0, result.p_value + SHARE_OF_DELTA * delta)
    options = {**result.options, "seed": seed}
    return replace(result, delta=delta, promise=said, sigma_from=int(sizes.sum()), p_value=p_value, options=options)


def seed_of(rewards: Rewards) -> int:
    """Return a seed below 2^48 that depends on the rewards of all arms, but not on the order of the rows.

    A fixed seed would set aside the same ranks of every log with as many rewards, and some sets of ranks are all near
    the middle. Equal logs have equal seeds, so that a verdict can be repeated.
    """
    digest = hashlib.sha256()
    for index, label in enumerate(rewards.labels):
        values, counts = _grouped(rewards, index)
        digest.update(json.dumps([str(label), values.size]).encode())
        digest.update((values + 0.0).astype("<f8").tobytes())  # -0.0 is 0.0
        digest.update(counts.astype("<i8").tobytes())
    return int.from_bytes(digest.digest()[:6], "big")


def _grouped(rewards: Rewards, index: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the distinct rewards of an arm, ascending, and how often each occurs."""
    if rewards.counts is None:
        values, counts = np.unique(rewards.values[index], return_counts=True)
        return values, counts.astype(np.int64)
    occurs = rewards.counts[index] > 0
    return rewards.values[index][occurs], rewards.counts[index][occurs].astype(np.int64)


def set_aside(rewards: Rewards, seed: int) -> tuple[list[NDArray[np.float64]], Rewards]:
    """Return a quarter of each arm's rewards, picked at random, ascending, and the rest."""
    picked, values, counts = [], [], []
    for index, number in enumerate(map(int, rewards.numbers)):
        each, times = _grouped(rewards, index)
        random = np.random.default_rng([seed, index])
        taken = random.multivariate_hypergeometric(times, int(SHARE_ASIDE * number), method="marginals")
        picked.append(np.repeat(each, taken))
        values.append(each if rewards.counts is not None else np.repeat(each, times - taken))
        counts.append(times - taken)
    rest: Any = replace(rewards, values=tuple(values), counts=None if rewards.counts is None else tuple(counts))
    return picked, rest


def largest_sigma(
    rewards: Rewards, aside: list[NDArray[np.float64]], model: Contamination, delta: float, epsilon: float
) -> float:
    """Return an upper bound of every arm's sigma, which fails with probability at most delta."""
    numbers = rewards.numbers + rewards.missing
    chance = delta / (3.0 * len(aside))  # two tails of each arm, and how many a coin may hit
    found = []
    for label, values, number in zip(rewards.labels, aside, numbers, strict=True):
        if not model.counted:
            replaced = int(stats.binom.isf(chance, values.size, epsilon)) if epsilon > 0.0 and values.size else 0
        else:
            replaced = model.allowed(epsilon, int(numbers.sum() if model.shared else number))
        bound = sigma_bound(values, replaced, chance)
        if bound is None:
            raise InputError(
                "sigma",
                f"be given where an arm has as few rewards as {label!r} ({number:,}), {replaced:,} of a quarter of "
                "which may have been replaced",
                ESTIMATE,
                "look at bestarm inspect, or give bounds",
            )
        found.append(bound)
    sigma = max(found)
    if sigma <= 0.0:
        raise InputError("sigma", "be above 0", ESTIMATE, "rewards that are all alike have no spread of normal shape")
    return sigma


def sigma_bound(values: NDArray[np.float64], replaced: int, chance: float) -> float | None:
    """Return an upper bound of sigma from ascending values; each side fails with probability at most `chance`."""
    if not values.size:
        return None
    ranks = np.asarray(stats.binom.ppf(chance, values.size, _TAILS)).astype(int) - replaced
    with np.errstate(divide="ignore"):
        loss = np.where(ranks >= 1, stats.norm.isf(np.maximum(ranks, 1) / values.size) / stats.norm.isf(_TAILS), np.inf)
    best = int(np.argmin(loss))
    if not np.isfinite(loss[best]):
        return None
    rank = int(ranks[best])
    return float((values[-rank] - values[rank - 1]) / (2.0 * stats.norm.isf(_TAILS[best])))
