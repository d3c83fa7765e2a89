"""The New Yorker caption contest: thousands of captions for a cartoon, each rated by hundreds of readers.

Data: nextml/caption-contest-data-api, CC BY 4.0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from bestarm.bandits import Bandit, Discrete
from bestarm.bandits.datasets import source, tables
from bestarm.errors import InputError
from bestarm.validation import number

RATINGS = np.array([1.0, 2.0, 3.0])  # unfunny, somewhat funny, funny

# Columns of the two layouts: the counts in the order of RATINGS, their sum, and their mean rating.
_OLD = ("unfunny", "somewhat_funny", "funny", "count", "score")
_NEW = ("not_funny", "somewhat_funny", "funny", "votes", "mean")
_ROUNDING = 5e-4  # of a mean written with three decimals

PINS: dict[int, tuple[str, source.Pin]] = {
    651: (
        "651_summary_KLUCB.csv",
        source.Pin(
            "https://raw.githubusercontent.com/nextml/caption-contest-data-api/"
            "9e38b2b73a4541dd26111e05b90bcca6bdcae008/contests/summaries/651_summary_KLUCB.csv",
            "ae30885832640311b3f3d762e287a8dc5661fcb8fd7cb273fed6354bd278d1d0",
        ),
    )
}


@dataclass(frozen=True, eq=False, repr=False)
class CaptionContest:
    """The captions of a contest and the counts of their ratings, best mean rating first.

    Captions with the same mean keep the order of the file. Index i is rank i + 1.

    Attributes
    ----------
    contest : int
        Its number.
    captions : tuple of str
        The captions as submitted; the same words may occur twice.
    counts : array of int, captions x 3
        How many readers found a caption unfunny (a rating of 1), somewhat funny (2) and funny (3).
    """

    contest: int
    captions: tuple[str, ...]
    counts: NDArray[np.int64]

    def __repr__(self) -> str:
        return f"<caption contest {self.contest}: {self.size:,} captions, {self.ratings:,} ratings>"

    @property
    def size(self) -> int:
        """Number of captions."""
        return len(self.captions)

    @property
    def ratings(self) -> int:
        """Number of ratings over all captions."""
        return int(self.counts.sum())

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Mean rating of each caption, from 1 to 3, in descending order."""
        return tables.frozen(self.counts @ RATINGS / self.counts.sum(axis=1))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The captions as distinct labels for arms: a second caption with the same words ends in [2]."""
        originals, labels = set(self.captions), dict[str, None]()
        for caption in self.captions:
            label, copy = caption, 1
            while label in labels or (copy > 1 and label in originals):
                copy += 1
                label = f"{caption} [{copy}]"
            labels[label] = None
        return tuple(labels)

    def bandit(
        self, epsilon: float | None = None, adversary: Any = None, captions: int | Iterable[int] | None = None
    ) -> Bandit:
        """Return a bandit whose arms are captions, and whose clean rewards are drawn from the recorded ratings.

        Parameters
        ----------
        epsilon, adversary
            As for `Bandit`.
        captions : int or list of int, optional
            How many of the best, or a list of indices, such as [0, 99, 999] for ranks 1, 100 and 1000. All by default.
        """
        shares = self.counts / self.counts.sum(axis=1, keepdims=True)
        indices = tables.chosen("captions", captions, self.size)
        return Bandit([Discrete(RATINGS, shares[index]) for index in indices], epsilon, adversary)


def caption_contest(contest: int = 651, path: str | os.PathLike[str] | None = None) -> CaptionContest:
    """Load a New Yorker caption contest.

    Parameters
    ----------
    contest : int >= 1
        Its number. Only 651 can be downloaded; for another contest you need the file.
    path : path, optional
        The file, named <contest>_<anything>.csv or <contest>.csv, or a folder that contains it (directly or in a
        subfolder nycc). By default the folder named by the environment variable BESTARM_DATA, then the download cache,
        then the upstream address; a downloaded file is rejected if its checksum is not the known one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> rows = "caption,mean,precision,votes,not_funny,somewhat_funny,funny"
    >>> rows += chr(10) + "Taxi!,1.5,0.1,4,2,2,0" + chr(10) + "Well?,2.5,0.1,4,0,2,2" + chr(10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "700.csv").write_text(rows, encoding="utf-8")
    ...     contest = caption_contest(700, path=folder)
    >>> contest
    <caption contest 700: 2 captions, 8 ratings>
    >>> contest.captions, contest.means.tolist()
    (('Well?', 'Taxi!'), [2.5, 1.5])
    """
    contest_number = number(contest)
    if not (contest_number >= 1.0 and contest_number % 1.0 == 0.0):
        raise InputError("contest", "be a whole number >= 1", contest, "such as 651")
    contest = int(contest_number)
    name, pin = PINS.get(contest, ("", None))
    patterns = (*((name,) if name else ()), f"{contest}_*.csv", f"{contest}.csv")
    wanted = source.Source(f"the ratings of caption contest {contest}", "nycc", patterns, pin)
    return _read(contest, source.find(wanted, path))


def _read(contest: int, path: Path) -> CaptionContest:
    table = tables.read_table(path)
    layout = _NEW if "not_funny" in table or "votes" in table else _OLD
    tables.require(path, table, ("caption", *layout), "a summary of a caption contest")
    cells = tables.numeric(path, table, list(layout))
    _check(path, contest, table, cells)
    order = np.argsort(-cells[:, :3] @ RATINGS / cells[:, 3], kind="stable")
    captions = table["caption"].tolist()
    counts = cells[order, :3].astype(np.int64)
    return CaptionContest(contest, tuple(captions[index] for index in order), tables.frozen(counts))


def _check(path: Path, contest: int, table: pd.DataFrame, cells: NDArray[np.float64]) -> None:
    counts, total, mean = cells[:, :3], cells[:, 3], cells[:, 4]
    whole = (counts >= 0.0) & (counts < 2.0**40) & (counts % 1.0 == 0.0)
    tables.refuse_first(path, ~whole.all(axis=1), "have counts that are whole numbers >= 0", counts.tolist())
    tables.refuse_first(path, counts.sum(axis=1) != total, "have counts with the sum {:g}", counts.tolist(), total)
    tables.refuse_first(path, total == 0.0, "have at least one rating", [0] * len(total))
    true = counts @ RATINGS / total
    rule = "have {:g}, the mean of its ratings, as score"
    tables.refuse_first(path, np.abs(true - mean) > _ROUNDING, rule, mean.tolist(), true)
    tables.refuse_first(path, table["caption"] == "", "have a caption", table["caption"].tolist())
    if "contest" in table:
        told = table["contest"].tolist()
        tables.refuse_first(path, table["contest"] != str(contest), f"be of contest {contest}", told)
