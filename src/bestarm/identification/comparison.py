"""Two arms compared: by how much one is better, relatively too, and what that survives."""

from __future__ import annotations

from dataclasses import dataclass

from bestarm.problem import Label


@dataclass(frozen=True)
class Uplift:
    """How much higher the mean of an arm is than that of another, relatively: 0.25 is 25 % higher.

    Attributes
    ----------
    over : label
        The other arm.
    estimate : float
        That of the two plain means; infinite if that of the other arm is 0.
    low, high : float
        Bounds. If higher is better, `low` is positive if and only if the arm is proved better; if lower is, `high` is
        negative if and only if it is. `high` is infinite if the mean of the other arm may be 0.
    """

    over: Label
    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """An arm compared with the control.

    Attributes
    ----------
    label : label
        The arm.
    better : bool
        Whether it is proved better than the control.
    worse : bool
        Whether it is proved worse.
    difference : float
        How much better its plain mean is than that of the control; negative if it is worse.
    lead : float
        A lower bound of that for the true means; positive if and only if it is proved better.
    uplift : Uplift or None
        Its uplift over the control; None where rewards may be negative.
    p_value : float or None
        Of the hypothesis that it is no better than the control, times the number of comparisons.
    overturn : int or None
        How many fakes it survives that it is better, as for a named arm; None if it is not proved without any.
    tolerance : float or None
        The largest epsilon at which it is proved better.
    doubts : tuple of str
        Why it should not be relied on: a sentence for each finding that is more than it survives.
    """

    label: Label
    better: bool
    worse: bool
    difference: float
    lead: float
    uplift: Uplift | None
    p_value: float | None
    overturn: int | None
    tolerance: float | None
    doubts: tuple[str, ...] = ()

    @property
    def trusted(self) -> bool:
        """Whether it is proved better, and inspection found no more than that survives."""
        return self.better and not self.doubts
