"""The median baseline: Algorithm 2 with sample medians."""

from __future__ import annotations

from collections.abc import Sequence

from bestarm.reference.se_cbai import SECBAI
from bestarm.reference.trimmed_mean import median


class MedianSE(SECBAI):
    """Altschuler, Brunel and Malek (2019), as MTCD21 runs it (reading #15); alpha is for T alone."""

    name = "reference median-se"

    def estimate(self, values: Sequence[float]) -> float:
        """Sample median."""
        return median(values)
