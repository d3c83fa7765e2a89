"""What is said about the days of a log: how rewards change over time, and what a band in the picture is."""

from __future__ import annotations

from bestarm.identification.wording.metric import Metric

APPROXIMATE = (
    "These are approximations by the normal law, which take rewards as independent and count fakes in. They are no "
    "part of the answer."
)
OVER_TIME = "means over time, and how many rewards there were"


class SeriesWords:
    """The sentences about the days of a log; `noun` is a day, an hour or a stretch, of `width` seconds."""

    def __init__(self, metric: Metric, noun: str, width: float = 0.0) -> None:
        self._metric, self._noun, self._width = metric, noun, width

    @property
    def each(self) -> str:
        """What one of the days is: a day, 3 days, an hour, a stretch of time."""
        days = round(self._width / 86400.0)
        if self._noun == "day" and days > 1:
            return f"{days} days"
        return "stretch of time" if self._noun == "stretch" else self._noun

    @property
    def several(self) -> str:
        """What several of the days are: days, stretches of 3 days, hours, stretches of time."""
        if self.each.endswith("days"):
            return f"stretches of {self.each}"
        return "stretches of time" if self._noun == "stretch" else f"{self._noun}s"

    def together(self, number: int) -> str:
        """Return what several of them are together: a week, 12 days, 4 hours."""
        days = number * round(self._width / 86400.0)
        if self._noun == "day" and days > 0:
            return "week" if days == 7 else f"{days} days"
        return f"{number} {self.several}"

    def trend(self, begin: float, end: float) -> str:
        """Return that rewards rise or fall on all arms."""
        one, two = self._metric.compared(begin, end)
        verb = "rises" if end > begin else "falls"
        what = f"The mean {self._metric.reward or 'reward'} {verb} over time"
        return f"{what}, all arms taken together, from about {one} to {two}."

    def weekend(self, difference: float) -> str:
        """Return that weekends are unlike other days."""
        how = "higher" if difference > 0.0 else "lower"
        size = self._metric.lead(abs(difference))
        return f"Saturdays and Sundays are {how} by about {size}, all arms taken together."

    def weekdays(self, highest: str, high: float, lowest: str, low: float) -> str:
        """Return that weekdays differ, and between which they differ most."""
        one, two = self._metric.compared(high, low)
        return (
            f"Weekdays differ, all arms taken together: {highest} are the highest (about {one}), {lowest} the lowest "
            f"({two})."
        )

    def scatter(self, seen: float, chance: float, *, is_more: bool, is_rest: bool) -> str:
        """Return how much days differ, and whether chance explains it."""
        start = f"Apart from that, between {self.several}" if is_rest else f"Between {self.several}"
        size, usual = self._metric.lead(seen), self._metric.lead(chance)
        said = f"{start} the mean of all arms scatters by {size}"
        if not is_more:
            return f"{said}, no more than chance alone explains (about {usual})."
        if size == usual:
            return f"{said}, more than chance alone explains."
        return f"{said}, more than chance alone explains (about {usual})."

    def band(self, *, is_rate: bool) -> str:
        """Return what a band is, and what it is not."""
        how = "Wilson's interval" if is_rate else "by the normal law"
        return (
            f"Bands: 95 % for that point and that arm alone, if nothing is fake ({how}); of twenty bands about one "
            "misses its mean. They are no proof, and arms are not compared by them."
        )

    def title(self, merged: str = "", *, is_single: bool = False) -> tuple[str, str]:
        """Return the title of the picture, and a note; `merged` is what several days were made one for it.

        `is_single` says that the answer is about something else than the mean of the rows, such as capped rewards.
        """
        metric = self._metric
        what = f"{'rate' if metric.is_rate else 'mean'} of each {metric.arm_word} over time"
        title = f"{metric.reward}: {what}" if metric.reward else what
        rows = f"of single {metric.rows_word} as they stand, without a cap; " if is_single else ""
        return title, f"{rows}per {merged or self.each}; bands: 95 % each, alone, if nothing is fake"

    def counts(self, merged: str = "") -> str:
        """Return the title of the panel of numbers."""
        return f"{self._metric.rows_word} per {merged or self.each}"

    def others(self, number: int) -> str:
        """Return what grey lines are."""
        arms = self._metric.arm_word
        return f"grey: {'the other' if number == 1 else f'{number} other'} {arms}{'' if number == 1 else 's'}"
