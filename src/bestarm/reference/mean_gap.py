"""The attack-free counterpart of Algorithm 1: with sample means, by default as if epsilon were 0 (reading #16)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bestarm.policies.policy import Question
from bestarm.reference.g_cbai import GCBAI
from bestarm.reference.trimmed_mean import mean
from bestarm.validation import one_of


class MeanGap(GCBAI):
    """MTCD21, Algorithm 1 with sample means; parameters="same" keeps T and the radius of the robust method."""

    name = "reference mean-gap"

    def __init__(
        self,
        question: Question,
        *,
        threshold: str = "theory",
        power: float = 2.0,
        parameters: str = "clean",
        exploration: str = "hoeffding",
    ) -> None:
        one_of("parameters", parameters, ("clean", "same"))
        reckoned = replace(question, epsilon=0.0) if parameters == "clean" else question
        super().__init__(reckoned, threshold=threshold, power=power, exploration=exploration)

    def estimate(self, values: Sequence[float]) -> float:
        """Sample mean."""
        return mean(values)
