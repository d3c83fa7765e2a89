"""`bestarm simulate`: many trials of one method on Gaussian arms."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from bestarm.cli.options import GoodEnough, Resolution, SimulatedContamination, given, numbers
from bestarm.cli.output import Format, write_rows

INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended


def simulate(
    means: Annotated[str, typer.Option(help="True means, separated by commas.")],
    method: Annotated[
        str, typer.Option(help="certified, g-cbai, se-cbai, random, median-se, mean-se or mean-gap.")
    ] = "certified",
    epsilon: Annotated[
        float, typer.Option(help="How much is replaced, in [0, 0.5): by a coin, or as a share, see --contamination.")
    ] = 0.1,
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.1,
    sigma: Annotated[float, typer.Option(help="Standard deviation of a clean reward.")] = 1.0,
    point: Annotated[
        str | None, typer.Option(help="Contaminated values, one for all arms or one each; else the paper's adversary.")
    ] = None,
    threshold: Annotated[str | None, typer.Option(help="theory or empirical (gap family).")] = None,
    exploration: Annotated[str | None, typer.Option(help="hoeffding or chernoff (not certified).")] = None,
    contamination: SimulatedContamination = None,
    resolution: Resolution = None,
    good_enough: GoodEnough = None,
    alpha: Annotated[float | None, typer.Option(help="Fraction trimmed off each end.")] = None,
    trials: Annotated[int, typer.Option(help="Number of trials.")] = 1000,
    max_pulls: Annotated[int | None, typer.Option(help="Cap on the pulls of a trial.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness.")] = 0,
    workers: Annotated[int, typer.Option(help="Threads or processes.")] = 2,
    backend: Annotated[str, typer.Option(help="threads, loky (processes) or dask.")] = "threads",
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster whose scheduler is there.")
    ] = None,
    chunk: Annotated[int | None, typer.Option(help="Trials handed over at a time; else half a second's.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep finished trials in this folder, chunk by chunk.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the trials in the checkpoint folder.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the trials to this Parquet file.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the summary.")] = Format.table,
) -> None:
    """Simulate a method on Gaussian arms and summarise pulls and errors.

    The trials are the same for any number of workers, any backend and any size of chunks.
    """
    from bestarm import Bandit, Gaussian, adversaries, paper_adversary
    from bestarm import simulate as run
    from bestarm.cli.compiling import compile_note

    levels = numbers("means", means)
    adversary = adversaries.Point(numbers("point", point)) if point else paper_adversary(levels, epsilon, seed)
    if contamination in ("share-of-arm", "share-of-all"):
        adversary = adversaries.Quota(adversary, "random")
    bandit = Bandit([Gaussian(mean, sigma) for mean in levels], epsilon, adversary)
    options: dict[str, Any] = given(
        threshold=threshold,
        exploration=exploration,
        alpha=alpha,
        contamination=contamination,
        resolution=resolution,
        good_enough=good_enough,
    )
    begin = time.monotonic()
    try:
        with compile_note():
            trials_run = run(
                bandit,
                method,
                delta=delta,
                trials=trials,
                seed=seed,
                workers=workers,
                backend="dask" if dask is not None else backend,
                address=dask,
                chunk=chunk,
                checkpoint=checkpoint,
                resume=resume,
                max_pulls=max_pulls,
                progress=True,
                **options,
            )
    except KeyboardInterrupt:
        if checkpoint is not None:
            _say_how_to_resume(checkpoint)
        raise typer.Exit(INTERRUPTED) from None
    if not resume:
        _say_how_fast(int(trials_run.pulls.sum()), time.monotonic() - begin)
    if save is not None:
        trials_run.save(save)
    write_rows([{"method": method, **trials_run.summary()}], form)


def _say_how_fast(pulls: int, seconds: float) -> None:
    print(f"{pulls:,} pulls in {seconds:.1f} s: {pulls / seconds / 1e6:.3g} million a second", file=sys.stderr)


def _say_how_to_resume(checkpoint: Path) -> None:
    words = [word for word in sys.argv[1:] if word != "--resume"]
    command = shlex.join(["bestarm", *words, "--resume"])
    print(f"stopped; finished trials are in {checkpoint}. To go on: {command}", file=sys.stderr)
