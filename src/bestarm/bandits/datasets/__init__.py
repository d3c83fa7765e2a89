"""Real data sets: caption contests and a drug screen. None of the data is shipped with the package."""

from bestarm.bandits.datasets.captions import CaptionContest, caption_contest
from bestarm.bandits.datasets.pkis2 import Pkis2, pkis2

__all__ = ["CaptionContest", "Pkis2", "caption_contest", "pkis2"]
