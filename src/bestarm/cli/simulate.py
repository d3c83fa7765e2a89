"""`bestarm simulate`: many trials of one method on Gaussian arms."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from bestarm.cli.commands import Command
from bestarm.cli.options import Delta, Seed, SimulatedMethodOptions, explained, numbers
from bestarm.cli.output import Format, write_rows
from bestarm.cli.resuming import resumable
from bestarm.contamination import SIMULATED, resolve


@dataclass(frozen=True)
class EngineOptions:
    """Where trials run, and where they are stored."""

    workers: Annotated[int, typer.Option(help="Threads or processes.")] = 2
    backend: Annotated[str, typer.Option(help="threads, loky (processes) or dask.")] = "threads"
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster with this scheduler address.")
    ] = None
    chunk: Annotated[int | None, typer.Option(help="Trials per task; default: about half a second's.")] = None
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep finished trials in this folder, chunk by chunk.")
    ] = None
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the trials in the checkpoint folder.")] = False

    def keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments of `simulate`."""
        found = vars(self) | {"address": self.dask, "backend": "dask" if self.dask is not None else self.backend}
        return {name: value for name, value in found.items() if name != "dask"}


def simulate(
    *,
    means: Annotated[
        str | None, typer.Option(help="True means, separated by commas; required.", show_default=False)
    ] = None,
    method: SimulatedMethodOptions,
    epsilon: Annotated[
        float,
        typer.Option(help="How much is replaced, in [0, 0.5): at random or as an exact share; see --contamination."),
    ] = 0.1,
    delta: Delta = 0.1,
    sigma: Annotated[float, typer.Option(help="Standard deviation of a clean reward.")] = 1.0,
    point: Annotated[
        str | None,
        typer.Option(help="Contaminated values, one for all arms or one per arm; default: the paper's adversary."),
    ] = None,
    trials: Annotated[int, typer.Option(help="Number of trials.")] = 1000,
    max_pulls: Annotated[int | None, typer.Option(help="Cap on the pulls per trial.")] = None,
    seed: Seed = 0,
    engine: EngineOptions,
    save: Annotated[Path | None, typer.Option(help="Write the trials to this file, .parquet or .csv.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the summary.")] = Format.table,
) -> None:
    """Simulate one method on Gaussian arms many times, and summarise pulls and errors.

    `bestarm scenario FILE.toml` runs several methods, other arms and other adversaries from one file.

    The trials are the same for any number of workers, any backend and any size of chunks.
    """
    from bestarm.errors import InputError

    if means is None:
        fix = "such as --means 2.5,2.3,2,0.6; bestarm scenario FILE.toml runs a scenario from a file"
        raise InputError("--means", "be given", None, fix)
    from bestarm import Bandit, Gaussian, adversaries, paper_adversary
    from bestarm import simulate as run
    from bestarm.simulation.trials import checked_save

    if save is not None:
        checked_save(save)  # before the trials
    levels = numbers("means", means)
    adversary = adversaries.Point(numbers("point", point)) if point else paper_adversary(levels, epsilon, seed)
    if method.contamination in SIMULATED:
        adversary = resolve(method.contamination).keep(adversaries, adversary)
    bandit = Bandit([Gaussian(mean, sigma) for mean in levels], epsilon, adversary)
    begin = time.monotonic()
    with resumable(engine.checkpoint, "trials"):
        trials_run = run(
            bandit,
            delta=delta,
            trials=trials,
            seed=seed,
            max_pulls=max_pulls,
            progress=True,
            **engine.keywords(),
            **method.keywords(),
        )
    if not engine.resume:
        pulls, seconds = int(trials_run.pulls.sum()), time.monotonic() - begin
        print(f"{pulls:,} pulls in {seconds:.1f} s: {pulls / seconds / 1e6:.3g} million per second", file=sys.stderr)
    if save is not None:
        trials_run.save(save)
    write_rows([{"method": trials_run.settings["method"], **trials_run.summary()}], form)
    if trials_run.decided == 0:
        print(f"none of the {len(trials_run):,} trials named a winner, right or wrong", file=sys.stderr)


class ScenarioBefore(TyperCommand):
    """Forward `bestarm simulate FILE.toml` and `simulate --template`, the old commands, to `bestarm scenario`."""

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of `scenario` for its old words."""
        if parent is None or not any(word == "--template" or word.endswith(".toml") for word in args):
            return super().make_context(info_name, args, parent, **extra)
        print("bestarm simulate with a file is deprecated: write bestarm scenario FILE.toml", file=sys.stderr)
        return parent.command.get_command(parent, "scenario").make_context("scenario", args, parent, **extra)

    def invoke(self, ctx: Any) -> Any:
        """Run the command that the context belongs to."""
        return super().invoke(ctx) if ctx.command is self else ctx.command.invoke(ctx)


COMMAND = Command(simulate, rank=5, epilog=explained(*SIMULATED), kind=ScenarioBefore)
