"""The options about a log, which `identify` and `inspect` share, and the groups of them in the help."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from bestarm.cli.options import METHOD, given, named_method, names, pair
from bestarm.contamination import CONTAMINATIONS, default
from bestarm.errors import InputError

# Groups of options, which each option names as its `rich_help_panel`.
COMPARED, WHO_AND_WHEN, HOW_SURE = "What is compared", "Who and when", "How sure"
OUTPUT, REPLAY = "Output", "Replay in order"
GROUPS = (COMPARED, WHO_AND_WHEN, HOW_SURE, OUTPUT, REPLAY)  # in the order of the help


class LogCommand(TyperCommand):
    """A command about a log: its help lists the options by group, wherever they are declared."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the arguments, then the options by group; `--help`, which typer adds, is in that of the output."""
        found: list[Any] = super().get_params(ctx)
        for option in found:
            if option.name == "help":
                option.rich_help_panel = OUTPUT
            if getattr(option, "is_flag", False):
                option.metavar = ""  # typer shows <bool>, as if --wide took a value
        return sorted(found, key=lambda one: GROUPS.index(_group(one)) if _group(one) in GROUPS else -1)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help without the opposites of flags: their column takes a quarter of a narrow terminal."""
        shown = copy(self)
        shown.params = [copy(option) for option in self.params]
        for option in shown.params:
            option.secondary_opts = []
        super(LogCommand, shown).format_help(ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the groups where rich does not (TYPER_USE_RICH=0): typer alone writes one list of options."""
        for group, options in groupby(self.get_params(ctx), _group):
            with formatter.section(group or "Arguments"):
                formatter.write_dl([record for one in options if (record := one.get_help_record(ctx))])


def _group(option: Any) -> str:
    return getattr(option, "rich_help_panel", None) or ""


LogFiles = Annotated[
    list[str],
    typer.Argument(
        metavar="LOG",
        help="CSV or JSON lines (gz or zst too), or Parquet; several files, or a quoted pattern, make one log; - for "
        "stdin. Or a database, such as postgresql://USER@HOST/DB, with --table.",
    ),
]
TableOption = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="With a database: the table or view, such as votes or web.votes. Its rows are counted where they are.",
        rich_help_panel=COMPARED,
    ),
]


@dataclass(frozen=True)
class ColumnOptions:
    """What is in which column of a log, and the bounds of its rewards."""

    arm: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of what is compared, such as variant; guessed if its name is obvious. With --wide: the "
            "columns to use.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    reward: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of the result of each row, such as a click or a rating; guessed the same way.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    source: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of who gave each reward, such as user_id. Fake sources are then counted, not fake rows.",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = None
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of when each reward was given; guessed where order matters; no: there is none.",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = None
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="A,B",
            help="Lowest and highest possible reward, such as 1,5 for stars.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    wide: Annotated[
        bool,
        typer.Option(
            "--wide",
            help="Each arm has a column of its own, and each row a reward for each; --arm A,B,C picks some.",
            rich_help_panel=COMPARED,
        ),
    ] = False
    counted: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of how often a row's arm and reward occurred. Or one column per reward value, as in "
            "bad=1,good=3. Or no, if this was guessed wrongly.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    successes: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="For a table of totals: column of how many succeeded. Needs --visits.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    visits: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="For a table of totals: column of how many there were in all.",
            rich_help_panel=COMPARED,
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
        str | None,
        typer.Option(
            metavar="COL",
            help="Column of who gave each reward, such as user_id; guessed the same way.",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = None


@dataclass(frozen=True)
class LogQuestionOptions:
    """What is asked about a log: how much may be fake, how sure, how noisy; what to do with incomplete rows."""

    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Largest share that may be fake, such as 0.05 for 5 %; see --contamination.",
            show_default="the answer says how many fakes it survives",
            rich_help_panel=HOW_SURE,
        ),
    ] = None
    delta: Annotated[
        float,
        typer.Option(
            metavar="P",
            help="Accepted probability of a wrong answer, such as 0.05 for 5 %.",
            rich_help_panel=HOW_SURE,
        ),
    ] = 0.05
    stopping: Annotated[
        str,
        typer.Option(
            metavar="fixed|any",
            help="fixed: how many rewards there are did not depend on them. any: somebody may have stopped when it "
            "looked good.",
            rich_help_panel=HOW_SURE,
        ),
    ] = "fixed"
    sigma: Annotated[
        str | None,
        typer.Option(
            metavar="S|estimate",
            help="How far genuine rewards spread, if they have no bounds (sub-Gaussian scale). estimate: take it from "
            "a quarter of the rewards, which assumes that genuine ones are normal.",
            rich_help_panel=HOW_SURE,
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --sigma estimate: picks the rewards that it is taken from.",
            show_default="from the log's rewards",
            rich_help_panel=HOW_SURE,
        ),
    ] = None
    good_enough: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Name an arm that is proved to be at most this much worse than the best.",
            rich_help_panel=HOW_SURE,
        ),
    ] = None
    missing: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="If a reward is missing: refuse, drop (for unrelated reasons) or replaced (may have been removed).",
            rich_help_panel=HOW_SURE,
        ),
    ] = "refuse"
    on_bad_row: Annotated[
        str,
        typer.Option(
            metavar="HOW",
            help="If a row cannot be used: refuse or skip.",
            rich_help_panel=HOW_SURE,
        ),
    ] = "refuse"
    lower_is_better: Annotated[
        bool | None,
        typer.Option(
            "--lower-is-better/--higher-is-better",
            help="Low rewards are good ones, as with latency; asked if the column's name suggests it, and "
            "--higher-is-better says no.",
            show_default="higher",
            rich_help_panel=COMPARED,
        ),
    ] = None
    contamination: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help=f"What may be fake (what epsilon is a share of): {', '.join(CONTAMINATIONS)}; see below.",
            show_default=f"{default('log')}; {default('log with sources')} with --source",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = None
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="With --source: compare two arms by the difference between a source's rewards for them. The arms "
            "that a source rewards must be fixed before its first reward.",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = False
    without: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Leave out what inspection points at (suspicious), the sources in a file (a name a line), or rows by "
            "a condition such as \"country = 'XX'\".",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = None
    inspect: Annotated[
        bool,
        typer.Option(
            "--inspect/--no-inspect",
            help="Whether to look for what seems made up, and compare it with what the answer survives.",
            rich_help_panel=HOW_SURE,
        ),
    ] = True

    where: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR",
            help="Look only at rows with this, such as \"country = 'DE'\".",
            rich_help_panel=COMPARED,
        ),
    ] = None
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COL", help="A verdict for each value of a column, such as country.", rich_help_panel=COMPARED
        ),
    ] = None
    control: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="Which arms are better than this one, each with its uplift and what it survives.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    block: Annotated[
        str | None,
        typer.Option(
            metavar="day|hour|COL|none",
            help="Compare like with like: within days, hours or values of a column.",
            show_default="days, if the shares of the arms change",
            rich_help_panel=COMPARED,
        ),
    ] = None
    cap: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Rewards above X count as X, for money and times. With --per: the most that a source counts.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    per: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Compare ratios of sums, such as clicks per impression; needs --source and --cap.",
            rich_help_panel=COMPARED,
        ),
    ] = None
    per_source: Annotated[
        str | None,
        typer.Option(
            metavar="first|last|mean|sum|any",
            help="With --source: what the rewards of one source for an arm become.",
            show_default="first",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = None
    assigned: Annotated[
        bool,
        typer.Option(
            "--assigned",
            help="Arms were drawn at random for each row or source: whoever fakes rewards could not choose the arm.",
            rich_help_panel=WHO_AND_WHEN,
        ),
    ] = False

    def keywords(self) -> dict[str, Any]:
        """Return the question as keyword arguments of `identify_log`."""
        return {**vars(self), "sigma": _sigma(self.sigma)}


@dataclass(frozen=True)
class ReplayOptions:
    """Whether and how the rows are replayed in order, in place of being weighed all at once."""

    sequential: Annotated[
        bool,
        typer.Option(
            "--sequential",
            help="Replay the rows in order, and stop once decided. The options below need it.",
            rich_help_panel=REPLAY,
        ),
    ] = False
    method: Annotated[str, typer.Option(metavar="NAME", help=METHOD, rich_help_panel=REPLAY)] = "certified"
    resolution: Annotated[
        float | None,
        typer.Option(
            metavar="X",
            help="Stop without a winner after about as many rewards as a lead of this size takes if epsilon = 0.",
            show_default="0.05 sigma; none if epsilon = 0",
            rich_help_panel=REPLAY,
        ),
    ] = None
    exploration: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="hoeffding, half, chernoff or none (not certified).",
            rich_help_panel=REPLAY,
        ),
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
