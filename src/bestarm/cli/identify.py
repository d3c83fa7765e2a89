"""`bestarm identify`: the verdict on recorded rewards."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from bestarm.cli.output import Format, write_rows

NO_WINNER = 3


def identify(
    rewards: Annotated[Path, typer.Argument(help="CSV file with columns arm and reward, oldest first; - for stdin.")],
    epsilon: Annotated[float, typer.Option(help="Bound on the share of contaminated rewards, in [0, 0.5).")],
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.05,
    sigma: Annotated[float | None, typer.Option(help="Sub-Gaussian scale of a clean reward.")] = None,
    bounds: Annotated[
        str | None, typer.Option(help="Lowest and highest reward, such as 0,1, in place of sigma.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="certified, g-cbai, se-cbai, random, median-se, mean-se or mean-gap.")
    ] = "certified",
    exploration: Annotated[str | None, typer.Option(help="hoeffding or chernoff (not certified).")] = None,
    power: Annotated[str | None, typer.Option(help="prescient or malicious (certified only).")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the verdict.")] = Format.table,
) -> None:
    """Replay recorded rewards and say which arm is best. Exit code 0 if one is named, 3 if not."""
    from bestarm import Identifier
    from bestarm.cli.compiling import compile_note

    labels, values = _read(rewards)
    given: dict[str, Any] = {"exploration": exploration, "adversary_power": power}
    options = {name: value for name, value in given.items() if value is not None}
    limits = None if bounds is None else _pair(bounds)
    finder = Identifier(
        list(dict.fromkeys(labels)), delta=delta, epsilon=epsilon, sigma=sigma, bounds=limits, method=method, **options
    )
    with compile_note():
        finder.tell_many(labels, values)
        result = finder.result
    if form is Format.json:
        print(result.to_json())
    elif form is Format.csv:
        write_rows([vars(row) for row in result.arms], form)
    else:
        print(result)
        print()
        write_rows([vars(row) for row in result.arms], form)
    raise typer.Exit(0 if result.status == "identified" else NO_WINNER)


def _pair(text: str) -> Any:
    from bestarm.errors import InputError

    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise InputError("bounds", "be two numbers separated by a comma", text, "such as 0,1") from None
    return low, high


def _read(path: Path) -> tuple[list[str], list[float]]:
    from bestarm.errors import InputError

    labels, values = [], []
    try:
        stream = sys.stdin if str(path) == "-" else path.open(newline="", encoding="utf-8-sig")
    except OSError as error:
        raise InputError("rewards", "be a file that can be read", str(path), str(error)) from None
    with stream:
        reader = csv.DictReader(stream)
        if not {"arm", "reward"} <= set(reader.fieldnames or ()):
            raise InputError("rewards", "have columns arm and reward", reader.fieldnames, "the first line names them")
        for number, row in enumerate(reader, 2):
            try:
                values.append(float(row["reward"]))
            except (TypeError, ValueError):
                raise InputError(f"reward in line {number}", "be a number", row["reward"], "mend the file") from None
            labels.append(row["arm"])
    return labels, values
