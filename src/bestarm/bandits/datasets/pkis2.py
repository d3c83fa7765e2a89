"""PKIS2: how strongly 645 compounds inhibit 406 kinases, as a search for the strongest inhibitor of one of them.

Data: Drewry et al. 2017, doi 10.1371/journal.pone.0181585, table S4 (percent inhibition at 1 uM), CC BY 4.0.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bestarm.bandits import Bandit, Gaussian
from bestarm.bandits.datasets import source, tables
from bestarm.errors import InputError

FILE = "journal.pone.0181585.s004.csv"
PIN = source.Pin(
    "https://raw.githubusercontent.com/openkinome/kinoml/"
    "aba48fd0343e7c84c4a6f9a6ceef4094a47b5f0c/kinoml/data/kinomescan/journal.pone.0181585.s004.csv",
    "1fac22c72f5156572a75d65e2d23a80ea0ed3960d04a9b24b6c88793e4a901b3",
)
STRONGEST = 99.9  # percent; complete inhibition is taken for this, as -ln(1 - 1) is infinite

_OTHER = ("Regno", "Compound", "Chemotype", "Smiles", ">90", ">80", ">70")  # all other columns are kinases


@dataclass(frozen=True, eq=False, repr=False)
class Pkis2:
    """The compounds that inhibit a kinase at all, strongest first.

    Compounds of the same strength keep the order of the file. Index i is rank i + 1.

    Attributes
    ----------
    kinase : str
        Its name in the table.
    compounds : tuple of str
        Names of the compounds whose entry is not 0.
    inhibition : array of float
        Percent inhibition, in (0, 100].
    values : array of float
        -ln(1 - inhibition / 100), with inhibition capped at 99.9: reading 19 of the paper.
    """

    kinase: str
    compounds: tuple[str, ...]
    inhibition: NDArray[np.float64]
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<PKIS2, kinase {self.kinase}: {self.size} compounds>"

    @property
    def size(self) -> int:
        """Number of compounds."""
        return len(self.compounds)

    @property
    def labels(self) -> tuple[str, ...]:
        """The compounds, as labels of arms."""
        return self.compounds

    def bandit(
        self,
        sigma: float = 1.0,
        epsilon: float | None = None,
        adversary: Any = None,
        compounds: int | Iterable[int] | None = None,
    ) -> Bandit:
        """Return a bandit whose arms are compounds, with rewards Normal(value, sigma).

        Parameters
        ----------
        sigma : float > 0
            Standard deviation of a measured value.
        epsilon, adversary
            As for `Bandit`.
        compounds : int or list of int, optional
            How many of the strongest, or a list of indices, such as [0, 9, 39] for ranks 1, 10 and 40. All by default.
        """
        indices = tables.chosen("compounds", compounds, self.size)
        return Bandit([Gaussian(float(self.values[index]), sigma) for index in indices], epsilon, adversary)


def pkis2(kinase: str = "ACVRL1", path: str | os.PathLike[str] | None = None) -> Pkis2:
    """Load the compounds of PKIS2 that inhibit a kinase.

    Parameters
    ----------
    kinase : str
        Its name in the table, such as ACVRL1 or ABL1-phosphorylated.
    path : path, optional
        The file journal.pone.0181585.s004.csv, or a folder that contains it (directly or in a subfolder pkis2). By
        default the folder named by the environment variable BESTARM_DATA, then the download cache, then the upstream
        address; a downloaded file is rejected if its checksum is not the known one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> rows = "Compound,ACVRL1" + chr(10) + "A,0" + chr(10) + "B,50" + chr(10) + "C,100" + chr(10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "journal.pone.0181585.s004.csv").write_text(rows, encoding="utf-8")
    ...     found = pkis2(path=folder)
    >>> found.compounds, found.values.round(4).tolist()
    (('C', 'B'), [6.9078, 0.6931])
    """
    if not isinstance(kinase, str):
        raise InputError("kinase", "be a name", kinase, "such as ACVRL1")
    return _read(kinase, source.find(source.Source("table S4 of PKIS2", "pkis2", (FILE,), PIN), path))


def _read(kinase: str, path: Path) -> Pkis2:
    table = tables.read_table(path)
    tables.require(path, table, ["Compound"], "table S4 of PKIS2")
    kinases = [column for column in table.columns if column not in _OTHER]
    if not kinases:
        raise tables.refusal(path, "have one column per kinase", list(table.columns), "is it table S4 of PKIS2?")
    names = table["Compound"]
    tables.refuse_first(path, names == "", "name a compound", names.tolist())
    tables.refuse_first(path, names.duplicated(), "have a compound that is not in a row before", names.tolist())
    percent = tables.numeric(path, table, kinases)
    outside = np.argwhere((percent < 0.0) | (percent > 100.0))
    if outside.size:
        row, column = (int(slot) for slot in outside[0])
        tables.refuse_row(path, row, f"have {kinases[column]} from 0 to 100 percent", float(percent[row, column]))
    if kinase not in kinases:
        raise InputError("kinase", f"be one of the {len(kinases)} in the table", kinase, _close(kinase, kinases))
    return _ranked(kinase, names.tolist(), percent[:, kinases.index(kinase)])


def _ranked(kinase: str, names: list[str], percent: NDArray[np.float64]) -> Pkis2:
    order = np.argsort(-percent, kind="stable")
    order = order[percent[order] > 0.0]
    inhibition = percent[order]
    values = -np.log1p(-np.minimum(inhibition, STRONGEST) / 100.0)
    return Pkis2(kinase, tuple(names[index] for index in order), tables.frozen(inhibition), tables.frozen(values))


def _close(kinase: str, kinases: list[str]) -> str:
    by_case = {name.upper(): name for name in kinases}
    wanted = kinase.upper()
    parts = [name for name in by_case if wanted and wanted in name]  # ABL1 is in ABL1-phosphorylated
    close = dict.fromkeys([*parts, *difflib.get_close_matches(wanted, by_case, n=5, cutoff=0.5)])
    return f"close names: {', '.join(by_case[name] for name in list(close)[:5])}" if close else "no name is close to it"
