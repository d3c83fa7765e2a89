"""What inspection finds in a log: a hint that something is made up, never evidence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something in a log that looks wrong.

    Attributes
    ----------
    kind : str
        With a count: "busy sources", "devoted sources", "generous sources", "agents", "duplicates", "burst",
        "histogram". Without one: "split", "sample ratio", "late arm", "trend", "change", "day", "mixture", "clusters",
        "dispersion".
    rows, sources : int or None
        How many rewards, and sources, are in doubt; None where there is no count. Copies of rows add no source.
    share : float or None
        Those rewards as a share of all.
    text : str
        The finding in a few words, without a full stop: "60 users look like bots (6,000 visits, 9.1 %)".
    what : tuple of str
        The arms, sources or days; of duplicates, how often each row is there, or the column that shows them; of shares
        that change with the hour of the day, "hour".
    p_value : float or None
        An upper bound of the probability of such a finding in a clean log, over everything that was tested.
    details : str
        The finding at length.

    Examples
    --------
    >>> Finding("duplicates", rows=300, sources=None, share=0.01, text="300 rows occur twice").is_counted
    True
    """

    kind: str
    rows: int | None
    sources: int | None
    share: float | None
    text: str
    what: tuple[str, ...] = ()
    p_value: float | None = None
    details: str = ""

    @property
    def if_survived(self) -> str:
        """What is said of it where the answer can be relied on nevertheless."""
        if self.kind == "sample ratio":  # nothing in the log says how many there should be
            return "if it was to be even, find out why it is not"
        return "the answer survives that" if self.is_counted else "that does not change the answer"

    @property
    def is_counted(self) -> bool:
        """Whether it says how many rewards are in doubt, so that it can be compared with what an answer survives."""
        return self.rows is not None

    def number(self, *, of_sources: bool) -> int:
        """Return how much is in doubt, in what an answer counts: sources, if it counts them and they are known."""
        return self.sources if of_sources and self.sources is not None else self.rows or 0
