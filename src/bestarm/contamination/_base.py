"""What a contamination model is. `Coin` and `Share` are the two kinds that models are made of.

Section numbers are those of docs/explanation/certified.md. This room imports no kernel, so that `bestarm --help` does
not load the compiler.
"""

from __future__ import annotations

import math
import re
from typing import Any, ClassVar, Literal, NamedTuple, Self

from bestarm.contamination.coins import log_excess
from bestarm.contamination.powers import COINS, SHARE_OF_ALL, SHARE_OF_ARM
from bestarm.contamination.shares import counted_share, share_holds_from
from bestarm.contamination.words import CLEAN, ROWS

BetFamily = Literal["blind", "seeing"]
Use = Literal["live", "log", "log with sources"]

FALSE_ALARM = 1e-3  # probability that the alarm of cancelled pulls rings by bad luck, all arms and times together


class KernelNumbers(NamedTuple):
    """What the kernels need to know to count fakes: surely + floor(share max(n, settled)).

    Attributes
    ----------
    share : float
        The share that may be fake; 0 if fakes are paid for in the price of a bet.
    settled : float
        Rewards of each arm from which on the share holds.
    surely : float
        Fakes to allow for besides the share.
    together : bool
        Whether the count is of all arms together.
    """

    share: float
    settled: float
    surely: float
    together: bool


class Contamination(str):
    """What epsilon means: which rewards may be fake, what that costs the evidence, and how it is said.

    An instance is a string, its name, so that it can stand wherever a name can: in options, results and JSON.
    `bestarm.contamination.resolve` finds the instance for a name. To add a model to the package, put a file into this
    folder that says `MODEL = ...`. To use one of your own, subclass `Coin` or `Share` and pass an instance as
    `contamination=...` to `Identifier`, `identify`, `simulate`, `plan` or `identify_log`.

    Attributes
    ----------
    name : str
        Its name in the public interface.
    words : str
        What is assumed of the fakes, in plain words: for verdicts, help texts and plans. `share_from` in it stands for
        the number of rewards from which on a share holds.
    log_words : str
        The same for a verdict on a log, where it differs.
    rank : int
        Its position in lists of all models.
    counted : bool
        Whether fakes are paid for by a count of them (True), or in the price of every bet (False). The option
        `share_from` says from when on a count holds.
    shared : bool
        Whether the count is of all arms together, so that the two arms of a pair share it.
    by_source : bool
        Whether epsilon is a share of sources. Then each reward comes with its source, a log needs a column of them,
        and the option `paired` applies.
    family : {"blind", "seeing"}
        The bets it wants: made for fakes that were picked without or with a look at the rewards.
    simulated : bool
        Whether it can be simulated.
    bias_is_known : bool
        Whether `theory.minimal_bias` is what it can hide for ever, rather than a lower limit.
    default_for : tuple of str
        Where it is the default: "live", "log", "log with sources".
    clean : str
        What is assumed of clean rewards.
    things, fake : str
        What epsilon is a share of ("your rewards"), and what those of the share are ("fake").
    none_is_fake : str
        What epsilon = 0 means, in a report on a log.
    """

    name: ClassVar[str]
    words: ClassVar[str]
    log_words: ClassVar[str] = ""
    rank: ClassVar[int] = 100
    counted: ClassVar[bool] = False
    shared: ClassVar[bool] = False
    by_source: ClassVar[bool] = False
    family: ClassVar[BetFamily] = "seeing"
    simulated: ClassVar[bool] = True
    bias_is_known: ClassVar[bool] = False
    default_for: ClassVar[tuple[Use, ...]] = ()
    clean: ClassVar[str] = CLEAN
    things: ClassVar[str] = "your rewards"
    fake: ClassVar[str] = "fake"
    none_is_fake: ClassVar[str] = "no reward was replaced at all"

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return a string, the name, whatever the arguments of a subclass are."""
        if not hasattr(cls, "name") or not hasattr(cls, "words"):
            raise TypeError(f"{cls.__name__} has to set `name` and `words`")
        return super().__new__(cls, cls.name)

    # ----------------------------------------------------------------------------------------------------- numbers

    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        """Return what a bet may pay on average, whatever the adversary does (section 3).

        Parameters
        ----------
        phi : float or array
            What the bet pays on average on a clean reward, at most.
        most, least : float or array
            The largest and the smallest value of the bet.
        epsilon : float
            How much may be fake.

        Returns
        -------
        float or array
            At least phi, finite, a straight line in phi that does not fall, not smaller at a larger epsilon, and phi
            itself at epsilon = 0. By default phi: a count pays for the fakes.
        """
        return phi

    def kernel_numbers(self, epsilon: float, share_from: float) -> KernelNumbers:
        """Return what the kernels need to know to count fakes."""
        return KernelNumbers(0.0, share_from, 0.0, self.shared)

    def allowed(self, epsilon: float, number: float, share_from: float = 0.0, arms: int = 1) -> int:
        """Return how many of `number` rewards (sources) may be fake, where fakes are counted.

        Parameters
        ----------
        epsilon : float
            The share.
        number : float
            Rewards of one arm; of all arms if the count is `shared`; or sources.
        share_from : float
            From how many on the share holds, as in the option of that name; 0 for a log, all of which is there.
        arms : int
            Number of arms.
        """
        return 0

    def is_too_many(self, cancelled: int, of: int, *, epsilon: float, arms: int, share_from: float) -> bool:
        """Tell whether so many cancelled pulls contradict epsilon (section 8): by default, if it allows for fewer."""
        return cancelled > self.allowed(epsilon, of, share_from, arms)

    # ------------------------------------------------------------------------------------------------- adversaries

    def covers(self, power: str) -> bool:
        """Tell whether the promise holds against adversaries of a power (`bestarm.contamination.powers`)."""
        return False

    def keep(self, adversaries: Any, adversary: Any) -> Any:
        """Return an adversary with fair coins in a form that keeps to this model.

        `adversaries` is the module `bestarm.adversaries`, which this room does not import.
        """
        return adversary

    def worst(self, adversaries: Any, adversary: Any, *, best: int, second: int, arms: int) -> Any:
        """Return an adversary with fair coins in the form of this model that hurts most, for plans.

        It pulls the arm `best` down and the others up; `second` is the runner-up.
        """
        return self.keep(adversaries, adversary)

    # ------------------------------------------------------------------------------------------------------- words

    def promise(self, share_from: object = None, paired: bool = False) -> str:
        """Return what the error probability of a live experiment rests on.

        `share_from` stays a word unless it is a number: by default it is worked out from epsilon.
        """
        if isinstance(share_from, int | float):
            return self.words.replace("share_from", f"{self._shown(share_from):,.12g}")
        return self.words

    def _shown(self, share_from: float) -> float:
        """Return from how many rewards on the share holds, as it is written."""
        return share_holds_from(share_from)

    def log_promise(self, paired: bool = False) -> str:
        """Return what the error probability of a verdict on a log rests on."""
        return f"{self.log_words or self.words}; {ROWS}"

    def log_promise_for(self, allowed: str, paired: bool = False) -> str:
        """Return the same for a log without an epsilon; `allowed` is the count, or the chance, that is survived."""
        return self.log_promise(paired).replace("epsilon", allowed)

    @property
    def log_help(self) -> str:
        """The words for a log, which is complete."""
        return self.words

    def log_meaning(self, share: str, number: int | None, replaced: int | None) -> str:
        """Return what epsilon means in a report on a log.

        Parameters
        ----------
        share : str
            Epsilon as it is written, such as "5 %".
        number, replaced : int or None
            The number of rewards (or sources) in the log, and how many of them may be fake.
        """
        return f"{self.words} (epsilon is {share})"

    def too_many_cancelled(self, cancelled: int, of: int, label: object = None) -> str:
        """Return the beginning of the alarm: what was cancelled; `label` is that of the arm, if it is about one."""
        whose = "" if self.shared else f" of {label!r}"
        return f"{cancelled:,} of the first {of:,} pulls{whose} were cancelled"


class Coin(Contamination):
    """Each reward is replaced at random, with probability at most epsilon: fakes are paid for in the price of a bet.

    By default the coin may look at the reward. A model of your own sets `name`, `words` and, where it differs, `price`;
    see `Contamination.price` for what a price has to satisfy.

    Examples
    --------
    >>> class TwiceAsCareful(Coin):
    ...     name, words = "twice-as-careful", "each reward is replaced with probability at most 2 epsilon"
    ...
    ...     def price(self, phi, most, least, epsilon):
    ...         return super().price(phi, most, least, 2.0 * epsilon)
    >>> import bestarm
    >>> finder = bestarm.Identifier(2, delta=0.05, epsilon=0.01, bounds=(0, 1), contamination=TwiceAsCareful())
    >>> finder.tell_many([0, 1] * 300, [0.9, 0.1] * 300)
    >>> finder.result.best, finder.result.options["contamination"]
    (0, 'twice-as-careful')
    """

    def price(self, phi: Any, most: Any, least: Any, epsilon: float) -> Any:
        """Return what a bet may pay on average: a reward that pays the least becomes one that pays the most."""
        return phi + epsilon * (most - least)

    def covers(self, power: str) -> bool:
        """Tell whether the promise holds against adversaries of a power: coins of any kind."""
        return power in COINS

    def is_too_many(self, cancelled: int, of: int, *, epsilon: float, arms: int, share_from: float) -> bool:
        """Tell whether so many cancelled pulls contradict epsilon: by the evidence against coins of this rate."""
        return log_excess(cancelled, of, epsilon) >= math.log(arms / FALSE_ALARM)


class Share(Contamination):
    """At most a share epsilon is replaced, in any way: fakes are counted, and the price of a bet stays what it is.

    A model of your own sets `name` and `words`, and `burst` or `shared` where they differ.

    Attributes
    ----------
    burst : int
        Fakes to allow for besides the share, if epsilon > 0.
    """

    counted = True
    burst: int = 0

    def kernel_numbers(self, epsilon: float, share_from: float) -> KernelNumbers:
        """Return what the kernels need to know to count fakes."""
        return KernelNumbers(epsilon, share_from, float(self.burst if epsilon > 0.0 else 0), self.shared)

    def allowed(self, epsilon: float, number: float, share_from: float = 0.0, arms: int = 1) -> int:
        """Return how many of `number` rewards (sources) may be fake."""
        times = arms if self.shared and not self.by_source else 1  # share_from counts rewards of each arm, or sources
        return counted_share(epsilon, number, share_from, times) + (self.burst if epsilon > 0.0 else 0)

    def covers(self, power: str) -> bool:
        """Tell whether the promise holds against adversaries of a power: shares of each arm, and of all if shared."""
        return self.simulated and (power == SHARE_OF_ARM or (self.shared and power == SHARE_OF_ALL))

    def keep(self, adversaries: Any, adversary: Any) -> Any:
        """Return an adversary that hits at most floor(epsilon n) of an arm's first n rewards, irregularly."""
        return adversaries.Quota(adversary, "random")

    def log_promise_for(self, allowed: str, paired: bool = False) -> str:
        """Return what a verdict on a log rests on, without an epsilon: that at most so many are fake."""
        said = self.log_promise(paired).replace("a share epsilon", allowed)
        return said.replace(" was replaced, ", " were replaced, ").replace(" is dishonest, ", " are dishonest, ")

    @property
    def log_help(self) -> str:
        """The words for a log, which is complete: a share holds at once."""
        return re.sub(", once there are share_from [^,]*", "", self.words).replace(" so far", " in the log")
