"""What is written in the picture of what an answer survives: evidence against the number of fakes."""

from __future__ import annotations

from bestarm.identification.wording.log_verdict import LogWords


class SurvivalWords(LogWords):
    """The words of the picture."""

    def survival_title(self, name: str) -> str:
        """Return the title; `name` is the winner or leader as a picture shows it."""
        return f"how many fakes the evidence for {name} survives"

    def survival_more(self, cut: bool) -> str:
        """Return how to read it, and whether small p-values are cut."""
        return "p-value: the lower, the stronger" + ("; below 1e-12 drawn at 1e-12" if cut else "")

    def at_delta(self) -> str:
        """Return what the line at delta means."""
        return f"enough below {self.result.delta:g}"

    def marked(self) -> str:
        """Return what the mark on the line at delta means."""
        if self.result.overturn == 0:
            return "survives no fake"
        return f"survives {self._fakes(self.result.overturn or 0)}"

    def _fakes(self, number: int) -> str:
        noun = self.result.metric.source_word if self.result.sources is not None else self.result.metric.row
        if number == 1:
            return f"1 fake {noun}"
        return f"{number:,} fake {self._things}"

    @property
    def _things(self) -> str:
        metric = self.result.metric
        return f"{metric.source_word}s" if self.result.sources is not None else metric.rows_word

    def fakes_axis(self) -> str:
        """Return what the axis of fakes counts."""
        result = self.result
        if not self.model.shared:
            return f"fake {self._things} of any one {result.metric.arm_word}"
        total = result.sources if result.sources is not None else result.rows
        return f"fake {self._things}, of {total:,}"

    def numbers_found(self) -> list[tuple[int, str]]:
        """Return each number that inspection found, in what the axis counts, with a short label, largest first."""
        found = []
        for finding in self.result.findings:
            number = finding.number(of_sources=self.result.sources is not None)
            if number:
                found.append((number, f"found: {number:,} ({_KINDS.get(finding.kind, finding.kind)})"))
        return sorted(found, key=lambda each: (-each[0], each[1]))

    def outside(self, label: str) -> str:
        """Return a label of what lies to the right of the picture."""
        return f"{label}, farther right"


_KINDS = {
    "busy sources": "too busy",
    "devoted sources": "devoted to an arm",
    "generous sources": "always content with an arm",
    "agents": "user agents",
    "histogram": "odd values",
}
