"""`bestarm identify`: the verdict on recorded rewards."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.options import Contamination, GoodEnough, Resolution, given, pair
from bestarm.cli.output import Format, arm_rows, finite_leads, write_rows

if TYPE_CHECKING:
    from bestarm.result import Result
    from bestarm.robustness import Sensitivity

NO_WINNER = 3


def identify(
    rewards: Annotated[
        Path,
        typer.Argument(
            help="CSV file with columns arm and reward (and source, for --contamination sources), oldest first; "
            "- for stdin."
        ),
    ],
    epsilon: Annotated[float, typer.Option(help="How much was replaced at most, in [0, 0.5); see --contamination.")],
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.05,
    sigma: Annotated[float | None, typer.Option(help="Sub-Gaussian scale of a clean reward.")] = None,
    bounds: Annotated[
        str | None, typer.Option(help="Lowest and highest reward, such as 0,1, in place of sigma.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="certified, g-cbai, se-cbai, random, median-se, mean-se or mean-gap.")
    ] = "certified",
    contamination: Contamination = None,
    paired: Annotated[
        bool,
        typer.Option(
            "--paired",
            help="Sources only: compare two arms by the difference of a source's rewards. The arms that a source "
            "rewards must be fixed before its first reward.",
        ),
    ] = False,
    resolution: Resolution = None,
    good_enough: GoodEnough = None,
    exploration: Annotated[str | None, typer.Option(help="hoeffding, chernoff or none (not certified).")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the verdict; csv: the arms.")] = Format.table,
) -> None:
    """Replay recorded rewards and say which arm is best, or why none is named.

    Exit code 0 if an arm is named, 3 if none is.
    """
    from bestarm import Identifier
    from bestarm.cli.compiling import compile_note

    labels, values, sources = _read(rewards, with_sources=contamination == "sources")
    options: dict[str, Any] = given(
        exploration=exploration,
        contamination=contamination,
        paired=paired,
        resolution=resolution,
        good_enough=good_enough,
    )
    finder = Identifier(
        list(dict.fromkeys(labels)),
        delta=delta,
        epsilon=epsilon,
        sigma=sigma,
        bounds=pair(bounds),
        method=method,
        **options,
    )
    weighed: tuple[Sensitivity, ...] = ()
    with compile_note():
        finder.tell_many(labels, values, sources)
        result = finder.result if finder.done else replace(finder.result, limit="budget")  # the file is at its end
        if result.evidence is not None and sources is None:
            weighed = finder.sensitivity()
    # rewards after the decision may contradict the assumptions too, and then it claims nothing
    late = next((row.alarms for row in weighed if row.epsilon == result.epsilon), ())
    result = replace(result, alarms=result.alarms or late)
    if form is Format.json:
        rows = [asdict(row) for row in weighed]
        print(json.dumps(json.loads(result.to_json()) | {"sensitivity": rows}, indent=1))
    elif form is Format.csv:
        write_rows(arm_rows(result), form)
    else:
        _report(result, weighed, len(labels))
    raise typer.Exit(0 if result.status == "identified" else NO_WINNER)


def _report(result: Result, weighed: tuple[Sensitivity, ...], told: int) -> None:
    print(result, end="\n\n")
    write_rows(arm_rows(result), Format.table)
    facts = list(_facts(result))
    if facts:
        print("", *facts, sep="\n")
    if weighed:
        print(f"\nAll {told:,} rewards at other epsilons:")
        write_rows([_weighed(row) for row in weighed], Format.table)


def _facts(result: Result) -> Iterator[str]:
    """Say what else the rewards prove, of the winner or of the arm that leads."""
    if result.limit is not None:
        yield f"limit      {result.limit}"
    if result.evidence is None or result.alarms:
        return
    who = repr(result.leader)
    yield f"p-value    {result.evidence:.3g}, valid at any time, against: another arm is at least as good as {who}"
    if finite_leads(result):
        yield (
            f"lead       at least what {who} is ahead of each arm (negative: it may be behind), all of them with "
            f"probability {1.0 - result.delta:g} if it is the best"
        )
    if result.tolerance is not None:
        yield f"tolerance  the same rewards single out {who} at each epsilon of a grid up to {result.tolerance:.3g}"
    if result.overturn:
        where = "in all" if result.options["contamination"] == "share-of-all" else "on each arm"
        yield f"overturn   and if up to {result.overturn:,} of them {where} were replaced, whichever they are"


def _weighed(row: Sensitivity) -> dict[str, Any]:
    """Return what the rewards say at another epsilon in one line."""
    left = ", ".join(str(label) for label in row.candidates[:5]) + (", ..." if len(row.candidates) > 5 else "")
    alarms = f"no mean fits {len(row.alarms)} of the arms" if row.alarms else None
    return {"epsilon": row.epsilon, "status": row.status, "left": left, "limit": row.limit, "alarms": alarms}


def _read(path: Path, *, with_sources: bool) -> tuple[list[str], list[float], list[str] | None]:
    from bestarm.errors import InputError

    labels, values, sources = [], [], []
    needed = ("arm", "reward", "source") if with_sources else ("arm", "reward")
    try:
        stream = sys.stdin if str(path) == "-" else path.open(newline="", encoding="utf-8-sig")
    except OSError as error:
        raise InputError("rewards", "be a file that can be read", str(path), str(error)) from None
    with stream:
        reader = csv.DictReader(stream)
        if not set(needed) <= set(reader.fieldnames or ()):
            rule = f"have columns {', '.join(needed[:-1])} and {needed[-1]}"
            raise InputError("rewards", rule, reader.fieldnames, "the first line names them")
        for number, row in enumerate(reader, 2):
            try:
                values.append(float(row["reward"]))
            except (TypeError, ValueError):
                raise InputError(f"reward in line {number}", "be a number", row["reward"], "mend the file") from None
            if with_sources and not row["source"]:
                raise InputError(f"source in line {number}", "be given", row["source"], "say who gave the reward")
            labels.append(row["arm"])
            sources.append(row.get("source", ""))
    return labels, values, sources if with_sources else None
