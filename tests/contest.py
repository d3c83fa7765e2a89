"""A simulated contest with rigged votes: the analyst's story, as data."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

CAPTIONS = tuple("ABCDEFGH")
MEANS = (3.5, 2.9, 2.8, 2.7, 2.5, 2.4, 2.2, 2.0)  # stars, from 1 to 5
BEST, RIGGED = "A", "B"
VOTERS, BOTS, VOTES_OF_A_BOT = 3450, 40, 60
_STARS = np.arange(1.0, 6.0)
_SPREAD = np.array([0.18, 0.2, 0.24, 0.2, 0.18])  # of a caption with a mean of 3


def law(mean: float) -> np.ndarray:
    """Probabilities of 1 to 5 stars with a mean: a wide law, tilted."""
    low, high = -9.0, 9.0
    for _ in range(80):
        tilt = 0.5 * (low + high)
        weights = _SPREAD * np.exp(tilt * _STARS)
        low, high = (tilt, high) if weights @ _STARS / weights.sum() < mean else (low, tilt)
    return np.asarray(weights / weights.sum())


@dataclass(frozen=True)
class Contest:
    votes: pd.DataFrame  # voter, caption, stars; in the order of the votes

    @property
    def anonymous(self) -> pd.DataFrame:
        return self.votes[["caption", "stars"]]


def contest(seed: int, *, rigged: bool) -> Contest:
    """30,000 votes: everybody votes on all captions, in an order of their own; of a rigged one 8 % are by bots."""
    random = np.random.default_rng(seed)
    voters = VOTERS if rigged else VOTERS + BOTS * VOTES_OF_A_BOT // len(CAPTIONS)
    who = np.repeat(np.arange(voters), len(CAPTIONS))
    which = np.argsort(random.random((voters, len(CAPTIONS))), axis=1).ravel()
    stars = np.empty(who.size)
    for index, mean in enumerate(MEANS):
        here = which == index
        stars[here] = random.choice(_STARS, here.sum(), p=law(mean))
    if rigged:
        fakes = BOTS * VOTES_OF_A_BOT
        who = np.append(who, voters + np.repeat(np.arange(BOTS), VOTES_OF_A_BOT))
        which = np.append(which, np.full(fakes, CAPTIONS.index(RIGGED)))
        stars = np.append(stars, np.full(fakes, 5.0))
    order = np.argsort(random.random(who.max() + 1)[who], kind="stable")  # voters come one after the other
    frame = pd.DataFrame({"voter": who, "caption": np.array(CAPTIONS)[which], "stars": stars.astype(int)})
    return Contest(frame.iloc[order].reset_index(drop=True))


def write_contests(folder: Path, clean: str, rigged: str, voters: str) -> dict[str, Path]:
    """Write three logs under these names: a clean one, a rigged one, and the rigged one with who voted."""
    dirty = contest(1, rigged=True)
    frames = {clean: contest(1, rigged=False).anonymous, rigged: dirty.anonymous, voters: dirty.votes}
    for name, frame in frames.items():
        frame.to_csv(folder / f"{name}.csv", index=False)
    return {name: folder / f"{name}.csv" for name in frames}
