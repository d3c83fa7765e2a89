"""What is in the columns of a log, seen from its first rows, to check what their names say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bestarm.log.reading.database import Database
from bestarm.log.reading.parts import Part

ROWS = 10_000  # that are looked at
_FEW_ROWS = 20  # up to which a column of arms may have another one in each row
_MOST_ARMS = 1000  # in a column whose name says nothing
_MOST_KINDS = 12  # of devices, or of places that visits come from
_MOST_COLUMNS = 200  # that are looked at: a table with more is no list of events


@dataclass(frozen=True)
class Content:
    """What the first rows have in a column.

    Attributes
    ----------
    cells, different : int
        Cells that are not empty, and how many different ones.
    rewards, words : int
        Cells that can be rewards, and those of them that are words for yes and no.
    dates : int
        Cells that are dates.
    is_binary : bool
        Whether all that can be rewards are 0 or 1.
    lowest, highest : float, optional
        The least and the largest of these.
    opaque : int
        Cells that are an e-mail address, an IP address, or a long number in hexadecimal.
    """

    cells: int = 0
    different: int = 0
    rewards: int = 0
    words: int = 0
    dates: int = 0
    is_binary: bool = False
    lowest: float | None = None
    highest: float | None = None
    opaque: int = 0

    @property
    def is_text(self) -> bool:
        """Whether most cells are neither numbers, nor yes and no, nor dates."""
        return 2 * (self.rewards + self.dates) < self.cells

    @property
    def may_be_arm(self) -> bool:
        """Whether nothing speaks against arms: no dates, and not another value in almost every row.

        >>> Content(cells=1000, different=990).may_be_arm, Content(cells=1000, different=12).may_be_arm
        (False, True)
        """
        most = 0.9 if self.is_text else 0.1  # many captions are read once; as many numbers are no names
        return 2 * self.dates <= self.cells and self.different <= max(_FEW_ROWS, most * self.cells)

    @property
    def looks_like_arm(self) -> bool:
        """Whether it has a few texts, again and again."""
        return self.is_text and 2 <= self.different <= min(_MOST_ARMS, self.cells // 2)

    @property
    def numbers_rows(self) -> bool:
        """Whether it has each of some whole numbers once, from the lowest to the highest: no rewards do.

        >>> [Content(size, size, size, lowest=1, highest=size).numbers_rows for size in (6, 1500)]
        [False, True]
        """
        if self.lowest is None or self.highest is None or not self.rewards == self.different == self.cells > _FEW_ROWS:
            return False
        return self.highest - self.lowest == self.cells - 1

    @property
    def has_kinds(self) -> bool:
        """Whether it has few values, each many times: kinds of devices, not a device each.

        >>> Content(cells=1000, different=2).has_kinds, Content(cells=1000, different=400).has_kinds
        (True, False)
        """
        return self.different <= _MOST_KINDS and self.cells >= 10 * self.different

    @property
    def may_be_reward(self) -> bool:
        """Whether at least half of the cells are numbers, or yes and no."""
        return 2 * self.rewards >= self.cells

    @property
    def looks_like_reward(self) -> bool:
        """Whether it has nothing but two values, 0 and 1 or words for them."""
        return self.is_binary and self.rewards == self.cells and self.different == 2


class Contents:
    """What is in the columns of a part of a log, looked at when it is needed."""

    def __init__(self, part: Part, database: Database) -> None:
        self._part, self._database = part, database
        self._seen: dict[str, Content] = {}

    def of(self, names: Sequence[str]) -> dict[str, Content]:
        """Return what is in some columns; of a name that two columns have, nothing is known."""
        once = [name for name in dict.fromkeys(names) if self._part.columns.count(name) == 1]
        new = [name for name in once if name not in self._seen][:_MOST_COLUMNS]
        if new:
            texts = self._texts(new)
            found = self._database.ask(
                "contents",
                cells=", ".join(f"{text} AS w{index}" for index, text in enumerate(texts)),
                columns=", ".join(f"w{index}" for index in range(len(new))),
                relation=self._part.first_rows(ROWS).scan(),
                most=ROWS,
            )
            self._seen |= dict.fromkeys(new, Content())
            self._seen |= {new[int(which[1:])]: Content(*rest) for which, *rest in found}
        return {name: self._seen.get(name, Content()) for name in names}

    def _texts(self, names: Sequence[str]) -> list[str]:
        """Return some columns as texts in SQL, ready to be selected."""
        sample = self._part.first_rows(ROWS)
        sample.prepare(self._database, (), names)
        return [sample.text(name) for name in names]
