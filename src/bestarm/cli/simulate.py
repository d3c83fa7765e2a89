"""`bestarm simulate`: many trials of one method on Gaussian arms."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bestarm.cli.output import Format, write_rows


def simulate(
    means: Annotated[str, typer.Option(help="True means, separated by commas.")],
    method: Annotated[
        str, typer.Option(help="certified, g-cbai, se-cbai, random, median-se, mean-se or mean-gap.")
    ] = "certified",
    epsilon: Annotated[float, typer.Option(help="Probability of contamination, in [0, 0.5).")] = 0.1,
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.1,
    sigma: Annotated[float, typer.Option(help="Standard deviation of a clean reward.")] = 1.0,
    point: Annotated[
        str | None, typer.Option(help="Contaminated values, one for all arms or one each; else the paper's adversary.")
    ] = None,
    threshold: Annotated[str | None, typer.Option(help="theory or empirical (gap family).")] = None,
    exploration: Annotated[str | None, typer.Option(help="hoeffding or chernoff (not certified).")] = None,
    power: Annotated[str | None, typer.Option(help="prescient or malicious (certified only).")] = None,
    alpha: Annotated[float | None, typer.Option(help="Fraction trimmed off each end.")] = None,
    trials: Annotated[int, typer.Option(help="Number of trials.")] = 1000,
    max_pulls: Annotated[int | None, typer.Option(help="Cap on the pulls of a trial.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    workers: Annotated[int, typer.Option(help="Threads.")] = 2,
    save: Annotated[Path | None, typer.Option(help="Write the trials to this Parquet file.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the summary.")] = Format.table,
) -> None:
    """Simulate a method on Gaussian arms and summarise pulls and errors."""
    from bestarm import Bandit, Gaussian, adversaries, paper_adversary
    from bestarm import simulate as run
    from bestarm.cli.compiling import compile_note

    levels = _numbers("means", means)
    adversary = adversaries.Point(_numbers("point", point)) if point else paper_adversary(levels, epsilon, seed)
    bandit = Bandit([Gaussian(mean, sigma) for mean in levels], epsilon, adversary)
    given: dict[str, Any] = {
        "threshold": threshold,
        "exploration": exploration,
        "alpha": alpha,
        "adversary_power": power,
    }
    options = {name: value for name, value in given.items() if value is not None}
    with compile_note():
        trials_run = run(
            bandit,
            method,
            delta=delta,
            trials=trials,
            seed=seed,
            workers=workers,
            max_pulls=max_pulls,
            progress=True,
            **options,
        )
    if save is not None:
        trials_run.save(save)
    write_rows([{"method": method, **trials_run.summary()}], form)


def _numbers(name: str, text: str) -> list[float]:
    from bestarm import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(name, "be numbers separated by commas", text, "such as 2.5,2.3,2,0.6") from None
