"""The folder of a reproduction, and the files that may be in it."""

from __future__ import annotations

from pathlib import Path

from bestarm.scenarios.run import Folder

_TABLES = ("points", "readings", "claims", "claims-by-reading", "stored-2022", "full-size")
OUTPUTS = (
    "report.html",
    "figures",
    "trials.parquet",
    "trials.csv.gz",
    "full-size-trials.csv",
    *(f"{name}.{kind}" for name in _TABLES for kind in ("csv", "parquet", "tex")),
)


def paper_folder(out: str | Path, trials: int, seed: int) -> Folder:
    """Return the folder of a run, not yet opened."""
    return Folder(out, {"made by": "bestarm reproduce", "trials": trials}, seed, OUTPUTS)
