"""`read_log`: the rewards of each arm from a file or table of any common format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bestarm.log.reading.counting import count_rewards
from bestarm.log.reading.database import Progress
from bestarm.log.reading.rows import open_log
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec


def read_log(
    data: Any,
    *,
    arm: str | None = None,
    reward: str | None = None,
    source: str | bool | None = None,
    time: str | bool | None = None,
    wide: bool | Sequence[str] = False,
    counted: bool | str | Mapping[str, float] | None = None,
    successes: str | None = None,
    visits: str | None = None,
    missing: str = "refuse",
    on_bad_row: str = "refuse",
    bounds: tuple[float, float] | None = None,
    progress: Progress | None = None,
) -> Rewards:
    """Read the rewards of each arm from a log.

    Parameters
    ----------
    data : DataFrame, Arrow table, path, pattern, list of paths, or "-" for standard input
        Files are CSV (any delimiter; decimal point or comma; UTF-8, UTF-16 or Latin-1), JSON lines or Parquet; CSV
        and JSON may be packed by gz or zst. The format is recognised by the first bytes, not by the name.
    arm, reward : str, optional
        Names of the columns. Guessed by names such as variant or stars and by what is in the first rows; guesses are
        reported, and if several columns could be meant, an `UnclearError` has a call for each.
    source : str or bool, optional
        Column of who gave a reward; True guesses it by its name. By default one that looks like it is reported but not
        used, because sources change what epsilon means; False does not report it.
    time : str or False, optional
        Column of when a reward was given: it decides which reward of a source is the first. Without one, the order
        of the file does.
    wide : bool or list of columns
        Whether each column is an arm; or the columns that are.
    counted : bool, str or mapping, optional
        For rows of an arm, a reward and how often it occurs: the name of the column that says how often, or True to
        guess it. Or the reward that each of some columns counts: {"unfunny": 1, "funny": 3}. Guessed for caption
        contests and where columns are named by numbers; False if that is wrong.
    successes, visits : str, optional
        For a table with a row per arm, or several: the columns that count its successes, and its visits with or without
        success. They become rewards of 1 and 0.
    missing : {"refuse", "drop", "replaced"}
        A missing reward is an error, is left out, or counts as replaced.
    on_bad_row : {"refuse", "skip"}
        A row without an arm, or with a reward that is not a number or out of bounds, is an error or left out.
    bounds : (lowest, highest), optional
        The lowest and the highest possible reward.
    progress : function, optional
        Called with the share that is done, from 0 to 1, a few times a second.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame({"caption": ["A", "B", "A", "B"], "stars": [1, 5, 1, 4]})
    >>> rewards = read_log(votes)
    >>> rewards.labels, rewards.means.tolist()
    (('A', 'B'), [1.0, 4.5])
    >>> rewards.health.sentences()[1]
    "The column 'caption' was taken for the arm, by its name."
    """
    spec = LogSpec(
        arm, reward, source, time, wide, counted, missing, on_bad_row, bounds, successes=successes, visits=visits
    )
    return read(data, spec, progress)


def read(data: Any, spec: LogSpec, progress: Progress | None = None) -> Rewards:
    """Read the rewards of each arm from a log."""
    with open_log(data, spec, progress) as log:
        return count_rewards(log)
