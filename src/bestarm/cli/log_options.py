"""The options about a log, which `identify` and `inspect` share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import typer

from bestarm.cli.options import METHOD, Delta, given, named_method, names, pair
from bestarm.contamination import CONTAMINATIONS, default
from bestarm.errors import InputError

LogFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG",
        help="CSV or JSON lines (gz or zst too), or Parquet; several files, or a quoted pattern, make one log; - for "
        "stdin.",
    ),
]


@dataclass(frozen=True)
class ColumnOptions:
    """What is in which column of a log, and the bounds of its rewards."""

    arm: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Column of the arm; guessed if its name is obvious. With --wide: the columns to use."
        ),
    ] = None
    reward: Annotated[str | None, typer.Option(metavar="COL", help="Column of the reward; guessed the same way.")] = (
        None
    )
    source: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Column that says who gave each reward: epsilon is then a share of these sources."
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="Column of when each reward was given; guessed where order matters; no: there is none."
        ),
    ] = None
    bounds: Annotated[
        str | None, typer.Option(metavar="A,B", help="Lowest and highest possible reward, such as 1,5.")
    ] = None
    wide: Annotated[
        bool,
        typer.Option(
            "--wide", help="One column per arm (or only those in --arm A,B,C); each row has a reward for each."
        ),
    ] = False
    counted: Annotated[
        str | None,
        typer.Option(
            help="For rows that give an arm, a reward and how often it occurs: the column that says how often. Or one "
            "column per reward value, as in bad=1,good=3. Or no, if this was guessed wrongly.",
        ),
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the columns as keyword arguments of `identify_log` and `inspect_log`."""
        several = names(self.arm) if self.wide else None
        return {
            **vars(self),
            "arm": None if self.wide else self.arm,
            "time": False if self.time == "no" else self.time,
            "bounds": pair(self.bounds),
            "wide": several or self.wide,
            "counted": _counted(self.counted),
        }


@dataclass(frozen=True)
class InspectedColumnOptions(ColumnOptions):
    """The same for `inspect`, which guesses the column of the source too."""

    source: Annotated[
        str | None, typer.Option(metavar="COL", help="Column that says who gave each reward; guessed the same way.")
    ] = None


@dataclass(frozen=True)
class LogQuestionOptions:
    """What is asked about a log: how much may be fake, how sure, how noisy; what to do with incomplete rows."""

    epsilon: Annotated[
        float, typer.Option(help="Largest share that may be fake, such as 0.05 for 5 %; see --contamination.")
    ]
    sigma: Annotated[
        str | None,
        typer.Option(
            metavar="S|estimate",
            help="Sub-Gaussian scale of a clean reward, if it has no bounds; estimate: take it from a quarter of the "
            "rewards, which assumes that clean ones are normal.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            help="With --sigma estimate: picks the rewards that it is taken from.",
            show_default="from the log's rewards",
        ),
    ] = None
    delta: Delta = 0.05
    contamination: Annotated[
        str | None,
        typer.Option(
            help=f"What epsilon means: {', '.join(CONTAMINATIONS)} (see below).",
            show_default=f"{default('log')}; {default('log with sources')} with --source",
        ),
    ] = None
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="Sources only: compare two arms by the difference between a source's rewards for them. The arms that "
            "a source rewards must be fixed before its first reward.",
        ),
    ] = False
    good_enough: Annotated[
        float | None, typer.Option(help="Name an arm that is proved to be at most this much worse than the best.")
    ] = None
    missing: Annotated[
        str,
        typer.Option(
            help="If a reward is missing: refuse, drop (for unrelated reasons) or replaced (may have been removed)."
        ),
    ] = "refuse"
    on_bad_row: Annotated[str, typer.Option(help="If a row cannot be used: refuse or skip.")] = "refuse"

    def keywords(self) -> dict[str, Any]:
        """Return the question as keyword arguments of `identify_log`."""
        return {**vars(self), "sigma": _sigma(self.sigma)}


@dataclass(frozen=True)
class ReplayOptions:
    """Whether and how the rows are replayed in order, in place of being weighed all at once."""

    sequential: Annotated[
        bool, typer.Option("--sequential", help="Replay the rows in order instead, and stop once decided.")
    ] = False
    method: Annotated[str, typer.Option(help=f"Replay only: {METHOD}")] = "certified"
    resolution: Annotated[
        float | None,
        typer.Option(
            help="Replay only: stop without a winner after about as many rewards as a lead of this size takes if "
            "epsilon = 0.",
            show_default="0.05 sigma; none if epsilon = 0",
        ),
    ] = None
    exploration: Annotated[
        str | None, typer.Option(help="Replay only: hoeffding, half, chernoff or none (not certified).")
    ] = None

    def keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments of `identify_log`; those of a replay need `--sequential`."""
        replay = given(resolution=self.resolution, exploration=self.exploration)
        if self.method != "certified":
            replay["method"] = named_method(self.method)
        for name, value in () if self.sequential else replay.items():
            raise InputError(name, "come with --sequential", value, "all rows are weighed at once without it")
        return {"sequential": self.sequential, "replay": replay}


def _sigma(text: str | None) -> float | str | None:
    if text is None or text == "estimate":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError("sigma", "be a number, or estimate", text, "such as --sigma 1.5") from None


def _counted(text: str | None) -> bool | str | dict[str, float] | None:
    if text is None or "=" not in text:
        return False if text == "no" else text
    try:
        found = [part.rpartition("=") for part in text.split(",")]
        return {name.strip(): float(value) for name, _, value in found}
    except ValueError:
        fix = "such as unfunny=1,funny=3"
        raise InputError("counted", "give the value that each column counts", text, fix) from None
