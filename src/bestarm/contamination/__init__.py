"""What epsilon means: one class per contamination model."""

from bestarm.contamination._base import BetFamily, Coin, Contamination, KernelNumbers, Share
from bestarm.contamination.registry import CONTAMINATIONS, SIMULATED, checked, default, of_options, resolve
from bestarm.contamination.shares import counted_share, share_holds_from, whole_share

__all__ = [
    "CONTAMINATIONS",
    "SIMULATED",
    "BetFamily",
    "Coin",
    "Contamination",
    "KernelNumbers",
    "Share",
    "checked",
    "counted_share",
    "default",
    "of_options",
    "resolve",
    "share_holds_from",
    "whole_share",
]
