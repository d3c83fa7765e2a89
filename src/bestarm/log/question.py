"""What is asked of a log: one object, checked before the log is read, that the verdict and the replay take."""

from __future__ import annotations

from dataclasses import dataclass, replace

from bestarm.contamination import Contamination, default, resolve
from bestarm.contamination import checked as checked_model
from bestarm.errors import InputError
from bestarm.log.assigned import ASSIGNED, check_comparison
from bestarm.log.bounds import ask_for_bounds, ask_for_direction, bounds_of
from bestarm.log.names import sounds_lower_is_better
from bestarm.log.rewards import Rewards
from bestarm.phrases import Phrase, Setting
from bestarm.problem import pose
from bestarm.validation import checked, one_of

ESTIMATE = "estimate"


@dataclass(frozen=True)
class LogQuestion:
    """Which arm of a log is best, and under which assumptions; the parameters are those of `identify_log`.

    Examples
    --------
    >>> LogQuestion(epsilon=0.02, bounds=(1, 5)).delta
    0.05
    """

    epsilon: float | None = None
    delta: float = 0.05
    sigma: float | str | None = None
    bounds: tuple[float, float] | None = None
    contamination: str | None = None
    good_enough: float | None = None
    paired: bool = False
    seed: int | None = None
    stopping: str = "fixed"
    lower_is_better: bool | None = None
    cap: float | None = None
    control: str | None = None
    assigned: bool = False

    def __post_init__(self) -> None:
        if self.contamination is not None:
            object.__setattr__(self, "contamination", checked_model(self.contamination))
        if isinstance(self.sigma, str):
            one_of("sigma", self.sigma, (ESTIMATE,), " or a number")
            if self.epsilon is None:
                fix = "sigma is estimated for one epsilon, such as 0.01; with bounds none is needed"
                raise InputError("epsilon", Phrase("be given with {}", Setting("sigma", ESTIMATE)), None, fix)
            checked(delta=self.delta, epsilon=self.epsilon)
            if self.bounds is not None:
                fix = "bounds are all that is needed"
                raise InputError("sigma", "be left out where there are bounds", self.sigma, fix)
        elif self.sigma is None and self.bounds is None:  # rewards of 0 and 1 need neither: see `scaled`
            checked(delta=self.delta, epsilon=self.least_epsilon)
        else:
            pose(2, delta=self.delta, epsilon=self.least_epsilon, sigma=self.sigma, bounds=self.bounds)
        one_of("stopping", self.stopping, ("fixed", "any"))
        if self.cap is not None:
            object.__setattr__(self, "cap", checked(cap=self.cap)[0])
            self._check_cap()
        if self.control is not None:
            object.__setattr__(self, "control", str(self.control).strip())
        check_comparison(self)
        if self.seed is not None:
            checked(seed=self.seed)
            if self.sigma != ESTIMATE:
                rule = Phrase("come with {}", Setting("sigma", ESTIMATE))
                raise InputError("seed", rule, self.seed, "nothing else is picked at random")
        if self.good_enough is not None:
            object.__setattr__(self, "good_enough", checked(good_enough=self.good_enough)[0])

    def _check_cap(self) -> None:
        cap, bounds = self.cap, self.bounds
        if self.sigma is not None:
            raise InputError(
                "sigma", "be left out with a cap", self.sigma, "capped rewards have bounds, which are sharper"
            )
        if cap is not None and bounds is not None and not bounds[0] < cap <= bounds[1]:
            fix = "a cap cuts off a part of what is possible"
            raise InputError("cap", f"be above {bounds[0]:g} and at most {bounds[1]:g}, the bounds", cap, fix)

    @property
    def least_epsilon(self) -> float:
        """The epsilon that was given; without one 0, as every count is then looked at from 0 on."""
        return 0.0 if self.epsilon is None else self.epsilon

    def scaled(self, rewards: Rewards) -> LogQuestion:
        """Return the question with all that the rewards make obvious: bounds of 0 and 1, and that higher is better.

        What is not obvious is asked.
        """
        found = self.bounds
        if self.sigma is None and found is None:
            found = bounds_of(rewards)
        is_scaled = self.sigma is not None or found is not None
        if self.lower_is_better is None and sounds_lower_is_better(rewards.health.reward):
            raise ask_for_direction(rewards, needs_bounds=not is_scaled)
        if not is_scaled:
            raise ask_for_bounds(rewards, self.epsilon)
        return replace(self, bounds=found, lower_is_better=bool(self.lower_is_better))

    def model(self, rewards: Rewards) -> Contamination:
        """Return what epsilon means: as was said or, by default, depending on whether the log has sources."""
        has_sources = rewards.sources is not None
        usual = ASSIGNED if self.assigned else default("log with sources" if has_sources else "log")
        model = resolve(self.contamination or usual)
        if model.by_source and not has_sources:
            rule = Phrase("be a column of the log for {}", Setting("contamination", model.name))
            raise InputError("source", rule, None, "say which one it is")
        return model
