"""Draws of rewards: clean ones by the law of an arm, contaminated ones by the adversary's, as tables of numbers.

The generator is NumPy's own, so a stream drawn here is the one that the same generator gives from Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.order_statistics.samples import Record

# Laws of arms; the meaning of the parameters is in bandits/arms.py.
GAUSSIAN = 0
BERNOULLI = 1
UNIFORM = 2
EXPONENTIAL = 3
LOG_NORMAL = 4
BETA = 5
STUDENT_T = 6
DISCRETE = 7

# Laws of adversaries; the parameters are in bandits/adversaries.py.
POINT = 0
UNIFORM_AROUND = 1
GAUSSIAN_AROUND = 2
IMPERSONATE = 3
TWO_POINTS = 4
SHIFT = 5  # this kind and those after it look at the reward that they replace
DRIFT = 6
REFLECT = 7
FORESEE = 8
WHITE_BOX = 9  # knows the state of the certified method (white_box.py); against others, it plays a point

# The rule for which rewards an adversary may replace: any; at most a share of the rewards so far, of the arm or of all
# arms; whole blocks of an arm's rewards.
ANY = 0
SHARE_OF_ARM = 1
SHARE_OF_ALL = 2
BLOCKS = 3

# And which of these it does replace: those that a fair coin picks, or those in a tail of the arm's clean law.
FAIR = 0
TOP = 1
BOTTOM = -1

ROUNDING = 1e-9  # 0.29 * 100 is 28.999999999999996, and 29 of 100 rewards are a share of 0.29


law_dtype = np.dtype([("kind", "i8"), ("a", "f8"), ("b", "f8"), ("c", "f8"), ("first", "i8"), ("last", "i8")])

# One row per piece and arm, piece by piece; one piece unless the adversary changes over time.
_values = [("kind", "i8"), ("a", "f8"), ("b", "f8"), ("c", "f8"), ("begin", "i8"), ("own_count", "i8")]
_rule = [("rule", "i8"), ("share", "f8"), ("length", "i8")]  # see `allowed`
_coin = [("tail", "i8"), ("threshold", "f8"), ("chance", "f8")]  # see `spared`
attack_dtype = np.dtype([*_values, *_rule, *_coin])


# An adversary's memory of an arm: how many of its rewards it has replaced (for blocks: 1 if it replaces the present
# one, else 0) and, if it sees the future, how many true rewards it has drawn ahead, the lowest and the highest true
# reward up to the last of those, and the rewards drawn ahead.
AHEAD = 32
_HITS = 0
_LEFT = 1
_LOWEST = 2
_HIGHEST = 3
_FIRST_AHEAD = 4


class Laws(NamedTuple):
    """The laws of K arms, the values and cumulated probabilities of discrete ones, and the adversary's P * K laws."""

    arms: NDArray[np.void]
    support: NDArray[np.float64]  # (2, S): values, cumulated probabilities; an arm's are from `first` to `last`
    attacks: NDArray[np.void]
    epsilon: float  # probability of contamination; 1 if the attacks have a rule, or toss the coin, of their own
    memory: NDArray[np.float64]  # one a trial: (K, 4 + AHEAD) to see the future, (K, 1) for a rule of hits, else (0, 0)


@inlined_kernel
def clean(law: Record, support: NDArray[np.float64], rng: np.random.Generator) -> float:
    """Draw a reward by the law of an arm."""
    if law.kind == GAUSSIAN:
        return law.a + law.b * rng.standard_normal()
    if law.kind == BERNOULLI:
        return 1.0 if rng.random() < law.a else 0.0
    return _clean_other(law, support, rng)


@kernel
def _clean_other(law: Record, support: NDArray[np.float64], rng: np.random.Generator) -> float:
    # Apart, because the machine code of some of these is long and would push the common laws out of line.
    if law.kind == UNIFORM:
        return law.a + (law.b - law.a) * rng.random()
    if law.kind == EXPONENTIAL:
        return law.a * rng.standard_exponential()
    if law.kind == LOG_NORMAL:
        return np.exp(law.a + law.b * rng.standard_normal())
    if law.kind == BETA:
        return rng.beta(law.a, law.b)
    if law.kind == STUDENT_T:
        return law.a + law.b * rng.standard_t(law.c)
    index = rng.random()
    low, high = law.first, law.last
    while low < high:  # the first value whose cumulated probability exceeds the draw
        middle = (low + high) >> 1
        if index < support[1, middle]:
            high = middle
        else:
            low = middle + 1
    return support[0, low]


@kernel
def _clean_of(laws: Laws, rng: np.random.Generator, arm: int) -> float:
    return clean(laws.arms[arm], laws.support, rng)


@inlined_kernel
def spared(law: Record, reward: float, rng: np.random.Generator) -> bool:
    """Toss the coin of an adversary that sees the reward first; tell whether it leaves the reward alone.

    A reward beyond the threshold is hit, and one at it (an atom of a discrete law) with probability `chance`, so that a
    share epsilon is hit in all. An arm of such an adversary whose coin is fair has epsilon itself as its `chance`.
    """
    if law.tail != FAIR:
        beyond = law.tail * (reward - law.threshold)
        if beyond != 0.0:
            return beyond < 0.0
    return rng.random() >= law.chance


@kernel
def allowed(laws: Laws, law: Record, rng: np.random.Generator, arm: int, pulls: int, t: int) -> bool:
    """Tell whether the rule of an adversary lets it replace the next reward of an arm.

    A share: of n rewards, this one included, at most floor(share * n) are replaced; n counts those of the arm, or all.
    (Hits are counted arm by arm: a share of all belongs to one arm, and the share of the others is 0.)
    Blocks: a coin of rate `share` for each `length` rewards of the arm, tossed at the first of them.
    """
    if law.rule == BLOCKS:
        if pulls % law.length == 0:
            laws.memory[arm, _HITS] = 1.0 if rng.random() < law.share else 0.0
        return laws.memory[arm, _HITS] > 0.0
    count = pulls if law.rule == SHARE_OF_ARM else t
    return laws.memory[arm, _HITS] + 1.0 <= law.share * (count + 1.0) + ROUNDING


def new_memory(arms: int, *, foresees: bool) -> NDArray[np.float64]:
    """Return the empty memory of an adversary with a rule, or of one that sees the future."""
    if not foresees:
        return np.zeros((arms, _LEFT))
    memory = np.zeros((arms, _FIRST_AHEAD + AHEAD))
    memory[:, _LOWEST], memory[:, _HIGHEST] = np.inf, -np.inf
    return memory


@kernel
def forget(laws: Laws) -> None:
    """Clear the adversary's memory."""
    for arm in range(laws.memory.shape[0]):
        laws.memory[arm, _HITS] = 0.0
        if laws.memory.shape[1] > _LEFT:
            laws.memory[arm, _LEFT], laws.memory[arm, _LOWEST], laws.memory[arm, _HIGHEST] = 0.0, np.inf, -np.inf


@kernel
def _foreseen(laws: Laws, rng: np.random.Generator, arm: int) -> float:
    """Return the next true reward of an arm; when none is left, draw the next AHEAD of them."""
    memory = laws.memory
    if memory[arm, _LEFT] == 0.0:
        for index in range(AHEAD):
            reward = clean(laws.arms[arm], laws.support, rng)
            memory[arm, _FIRST_AHEAD + index] = reward
            memory[arm, _LOWEST] = min(memory[arm, _LOWEST], reward)
            memory[arm, _HIGHEST] = max(memory[arm, _HIGHEST], reward)
        memory[arm, _LEFT] = AHEAD
    memory[arm, _LEFT] -= 1.0
    return memory[arm, _FIRST_AHEAD + AHEAD - 1 - int(memory[arm, _LEFT])]


@kernel
def contaminated(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw from the adversary's law Q_i(t) of an arm with `pulls` of the `t` pulls so far, or spare the true reward."""
    number = laws.arms.size
    row = laws.attacks.size - number + arm
    while row >= number and laws.attacks[row].begin > (pulls if laws.attacks[row].own_count == 1 else t):
        row -= number
    law = laws.attacks[row]
    has_rule = law.rule != ANY
    chooses = law.tail != FAIR or law.chance < 1.0
    reward = 0.0
    if laws.memory.shape[1] > _LEFT:
        reward = _foreseen(laws, rng, arm)
    elif has_rule or chooses or law.kind >= SHIFT:
        reward = clean(laws.arms[arm], laws.support, rng)
    if has_rule and not allowed(laws, law, rng, arm, pulls, t):
        return reward
    if chooses and spared(law, reward, rng):
        return reward
    if has_rule and law.rule != BLOCKS:
        laws.memory[arm, _HITS] += 1.0
    if law.kind == POINT or law.kind == WHITE_BOX:
        return law.a
    if law.kind == UNIFORM_AROUND:
        return law.a + law.b * (2.0 * rng.random() - 1.0)
    if law.kind == GAUSSIAN_AROUND:
        return law.a + law.b * rng.standard_normal()
    if law.kind == IMPERSONATE:
        return _clean_of(laws, rng, int(law.a))
    if law.kind == TWO_POINTS:
        return law.a if rng.random() < law.c else law.b
    if law.kind == SHIFT:
        return reward + law.a
    if law.kind == DRIFT:
        return reward + min(max(law.a * pulls, -law.b), law.b)
    if law.kind == FORESEE:
        return laws.memory[arm, _HIGHEST if law.a > 0.0 else _LOWEST]
    return 2.0 * law.a - reward


@inlined_kernel
def pull(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw the observed reward (MTCD21, eq. reward): a coin, then one of the two laws."""
    if laws.epsilon > 0.0 and rng.random() < laws.epsilon:
        return contaminated(laws, rng, arm, pulls, t)
    return clean(laws.arms[arm], laws.support, rng)


# ------------------------------------------------------------------------------------------------- called from Python


@entry_kernel
def pull_once(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw one observed reward."""
    return pull(laws, rng, arm, pulls, t)


@entry_kernel
def clean_once(laws: Laws, rng: np.random.Generator, arm: int) -> float:
    """Draw one clean reward."""
    return clean(laws.arms[arm], laws.support, rng)


@entry_kernel
def contaminated_once(laws: Laws, rng: np.random.Generator, arm: int, pulls: int, t: int) -> float:
    """Draw one contaminated reward."""
    return contaminated(laws, rng, arm, pulls, t)
