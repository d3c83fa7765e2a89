"""The outcome of many simulated identifications."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bestarm.errors import InputError
from bestarm.extras import needs
from bestarm.validation import writable_folder

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Trials:
    """Pulls and answers of many trials of one method on one bandit.

    Attributes
    ----------
    pulls : array of int, one per trial
        Rewards used until the decision, or until the cap.
    answers : array of int
        Index of the arm named; -1 where none was.
    correct : array of bool
        Whether the arm named has the largest true mean. False where none was named, which is not an error either.
    arm_pulls : array of int, trials x arms
        Rewards of each arm.
    statuses : array of str
        "identified", "indistinguishable" (stopped without a winner) or "undecided" (cut short by the cap).
    settings : dict
        Method, options, delta, epsilon, sigma, seed, number of arms.
    """

    pulls: NDArray[np.int64]
    answers: NDArray[np.int64]
    correct: NDArray[np.bool_]
    arm_pulls: NDArray[np.int64]
    statuses: NDArray[np.str_]
    settings: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.pulls.size)

    def __repr__(self) -> str:
        method = self.settings.get("method", "?")
        errors = f"error rate {self.error_rate:.4g}" if self.decided else "no winner named"
        mark = ">= " if self.mean_is_lower_bound else ""
        return f"<{len(self)} trials of {method}: mean pulls {mark}{self.mean_pulls:,.0f}, {errors}>"

    def first(self, count: int) -> Trials:
        """Return the first trials, at most this many."""
        if count >= len(self):
            return self
        return replace(self, **{name: getattr(self, name)[:count] for name in _COLUMNS})

    @classmethod
    def joined(cls, parts: Sequence[Trials]) -> Trials:
        """Return trials of several runs one after the other, with the settings of the first."""
        columns: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
        return replace(parts[0], **columns)

    @property
    def mean_pulls(self) -> float:
        """Average number of pulls; a lower bound where `mean_is_lower_bound`."""
        return float(self.pulls.mean())

    @property
    def mean_is_lower_bound(self) -> bool:
        """Whether the cap cut some trials short: without it the mean would be larger."""
        return self.capped > 0

    @property
    def decided(self) -> int:
        """Trials that named an arm."""
        return int((self.answers >= 0).sum())

    @property
    def capped(self) -> int:
        """Trials that reached the cap before they stopped."""
        return int((self.statuses == "undecided").sum())

    @property
    def wrong(self) -> int:
        """Trials that named an arm that is not the best."""
        return int(((self.answers >= 0) & ~self.correct).sum())

    @property
    def error_rate(self) -> float:
        """Share of all trials that named a wrong arm: what delta bounds. A trial that names none is not wrong."""
        return self.wrong / len(self)

    @property
    def undecided(self) -> float:
        """Share of all trials that reached the cap before they stopped."""
        return self.capped / len(self)

    @property
    def indistinguishable(self) -> float:
        """Share of all trials that stopped without naming a winner."""
        return int((self.statuses == "indistinguishable").sum()) / len(self)

    @property
    def error_interval(self) -> tuple[float, float]:
        """Exact (Clopper-Pearson) 95 % interval of the error rate."""
        return rate_limits(self.wrong, len(self), 0.025)

    def summary(self) -> dict[str, float]:
        """Return the summary from which every table and report takes its numbers.

        `trials` and `wrong` are counts; `error_rate` (with its exact 95 % interval `error_low`, `error_high`),
        `undecided` and `indistinguishable` are shares of all trials. `mean_is_lower_bound` says that the cap cut some
        trials short: then `mean_pulls`, its `standard_error` and every quantile that equals the cap are too small.
        """
        low, high = self.error_interval
        spread = float(self.pulls.std(ddof=1)) if len(self) > 1 else math.nan
        quantiles = np.quantile(self.pulls, [0.05, 0.25, 0.5, 0.75, 0.95])
        return {
            "trials": len(self),
            "mean_pulls": self.mean_pulls,
            "mean_is_lower_bound": self.mean_is_lower_bound,
            "standard_error": spread / math.sqrt(len(self)),
            **{f"q{level:02d}": float(value) for level, value in zip((5, 25, 50, 75, 95), quantiles, strict=True)},
            "undecided": self.undecided,
            "indistinguishable": self.indistinguishable,
            "wrong": self.wrong,
            "error_rate": self.error_rate,
            "error_low": low,
            "error_high": high,
        }

    def to_frame(self) -> pd.DataFrame:
        """Return a data frame with one row per trial: trial, pulls, answer, correct, status, pulls_0, pulls_1, ..."""
        needs("pandas")
        import pandas as pd

        frame = pd.DataFrame(
            {
                "trial": np.arange(len(self)),
                "pulls": self.pulls,
                "answer": self.answers,
                "correct": self.correct,
                "status": self.statuses,
            }
        )
        columns = [f"pulls_{index}" for index in range(self.arm_pulls.shape[1])]
        return pd.concat([frame, pd.DataFrame(self.arm_pulls, columns=columns)], axis=1)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Return a histogram of the pulls per trial, by outcome; on given axes or new ones."""
        from bestarm.identification.pictures import draw_trials

        return draw_trials(self, axes)

    def save(self, path: str | Path) -> None:
        """Write the trials to a Parquet file with their settings, or to a CSV file without them: the suffix decides.

        The folder is created if it does not exist. `load` reads Parquet only.
        """
        if checked_save(path) == ".csv":
            self.to_frame().to_csv(path, index=False)
            return
        needs("pyarrow")
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.Table.from_pandas(self.to_frame(), preserve_index=False)
        metadata = {**(table.schema.metadata or {}), _SETTINGS: json.dumps(self.settings, default=repr).encode()}
        pq.write_table(table.replace_schema_metadata(metadata), path)

    @classmethod
    def load(cls, path: str | Path) -> Trials:
        """Read trials that `save` wrote to a Parquet file."""
        needs("pyarrow")
        import pyarrow.parquet as pq

        rule = "be a Parquet file that Trials.save wrote"
        if Path(path).suffix.lower() == ".csv":
            raise InputError("path", rule, str(path), "a CSV file lacks the settings; pandas.read_csv has its columns")
        try:
            with Path(path).open("rb") as file:
                table = pq.read_table(file)
        except (OSError, ValueError) as error:  # pyarrow's errors are among these
            reason = getattr(error, "strerror", None) or str(error)
            raise InputError("path", rule, str(path), reason) from None
        settings = (table.schema.metadata or {}).get(_SETTINGS)
        if settings is None:
            raise InputError("path", rule, str(path), "this one has no settings of bestarm in it")
        columns = {name: table[name].to_numpy() for name in table.column_names}
        names = [name for name in columns if name.startswith("pulls_")]
        return cls(
            columns["pulls"],
            columns["answer"],
            columns["correct"],
            np.column_stack([columns[name] for name in names]),
            columns["status"].astype(np.str_),
            json.loads(settings),
        )


def rate_limits(count: int, total: int, error: float, undecided: int = 0) -> tuple[float, float]:
    """Return exact (Clopper-Pearson) limits, each wrong with probability `error`; undecided trials may be wrong, too.

    >>> [round(limit, 5) for limit in rate_limits(0, 1000, 0.01)]
    [0.0, 0.00459]
    """
    from scipy.special import betaincinv  # scipy.stats has this ready made, but takes a second to import

    most = count + undecided
    low = float(betaincinv(count, total - count + 1, error)) if count > 0 else 0.0
    high = float(betaincinv(most + 1, total - most, 1.0 - error)) if most < total else 1.0
    return low, high


def checked_save(path: str | Path) -> str:
    """Return the suffix of a file to save trials in, or reject it; its folder is created if it does not exist."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".parquet", ".csv"):
        raise InputError("path", "end in .parquet or .csv", str(path), "it says how to write the trials")
    if Path(path).is_dir():
        raise InputError("path", "be a file", str(path), "there is a folder of that name")
    writable_folder("path", Path(path).parent)
    return suffix


_COLUMNS = ("pulls", "answers", "correct", "arm_pulls", "statuses")
_SETTINGS = b"bestarm"
