"""`bestarm simulate`: a study that a file describes, or many trials of one method on Gaussian arms."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from bestarm.cli.commands import Command
from bestarm.cli.options import (
    METHOD,
    SIMULATED,
    GoodEnough,
    Resolution,
    SimulatedContamination,
    explained,
    given,
    named_method,
    numbers,
)
from bestarm.cli.output import Format, write_rows

INTERRUPTED = 130  # as a shell reports a program that Ctrl-C ended
# What may be given with a study, by the name of the parameter; all else is in its file.
WITH_STUDY = ("study", "out", "workers", "resume", "overwrite", "trials", "seed", "form")
STUDY_ONLY = ("out", "overwrite")


def simulate(
    context: typer.Context,
    study: Annotated[
        Path | None,
        typer.Argument(metavar="STUDY.toml", help="A study; --template prints an example.", show_default=False),
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a commented study to start from, and exit.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for the report, figures and tables of a study.",
            show_default="results/ and the study's name",
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove what an earlier run of a study left in its folder.")
    ] = False,
    means: Annotated[
        str | None, typer.Option(help="Without a study: true means, separated by commas.", show_default=False)
    ] = None,
    method: Annotated[str, typer.Option(help=METHOD)] = "certified",
    epsilon: Annotated[
        float,
        typer.Option(help="How much is replaced, in [0, 0.5): at random or as an exact share; see --contamination."),
    ] = 0.1,
    delta: Annotated[float, typer.Option(help="Accepted probability of a wrong answer, in (0, 1).")] = 0.1,
    sigma: Annotated[float, typer.Option(help="Standard deviation of a clean reward.")] = 1.0,
    point: Annotated[
        str | None,
        typer.Option(help="Contaminated values, one for all arms or one per arm; default: the paper's adversary."),
    ] = None,
    threshold: Annotated[str | None, typer.Option(help="theory or empirical (gap family).")] = None,
    exploration: Annotated[str | None, typer.Option(help="hoeffding, half, chernoff or none (not certified).")] = None,
    contamination: SimulatedContamination = None,
    resolution: Resolution = None,
    good_enough: GoodEnough = None,
    alpha: Annotated[float | None, typer.Option(help="Fraction trimmed off each end.")] = None,
    trials: Annotated[int, typer.Option(help="Number of trials; for a study, overrides the file.")] = 1000,
    max_pulls: Annotated[int | None, typer.Option(help="Cap on the pulls per trial.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of all randomness; for a study, overrides the file.")] = 0,
    workers: Annotated[int, typer.Option(help="Threads or processes.")] = 2,
    backend: Annotated[str, typer.Option(help="threads, loky (processes) or dask.")] = "threads",
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the Dask cluster with this scheduler address.")
    ] = None,
    chunk: Annotated[
        int | None, typer.Option(help="Trials handed over at a time; default: about half a second's.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep finished trials in this folder, chunk by chunk.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue from the trials in the checkpoint folder, or the study's.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Write the trials to this file, .parquet or .csv.")] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the summary.")] = Format.table,
) -> None:
    """Simulate your own study, or one method on Gaussian arms with --means, and summarise pulls and errors.

    STUDY.toml describes arms, adversary, methods, delta and epsilon. A study accepts --out and --overwrite (only
    it does), --resume, --trials, --seed, --workers and --format. All other options are for --means.

    The trials are the same for any number of workers, any backend and any size of chunks.
    """
    named = _given(context)
    if template:
        _print_template(named)
        return
    if study is not None:
        _refuse_beside_study(named, context.params)
        chosen = {"trials": trials if "trials" in named else None, "seed": seed if "seed" in named else None}
        _run_study(study, form, out=out, workers=workers, resume=resume, overwrite=overwrite, **chosen)
        return
    _check_without_study(named, context.params)
    assert means is not None
    from bestarm import Bandit, Gaussian, adversaries, paper_adversary
    from bestarm import simulate as run
    from bestarm.cli.compiling import compile_note
    from bestarm.simulation.trials import checked_save

    if save is not None:
        checked_save(save)  # before the trials
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
                named_method(method),
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
            _say_how_to_resume(checkpoint, "trials")
        raise typer.Exit(INTERRUPTED) from None
    if not resume:
        _say_how_fast(int(trials_run.pulls.sum()), time.monotonic() - begin)
    if save is not None:
        trials_run.save(save)
    write_rows([{"method": trials_run.settings["method"], **trials_run.summary()}], form)
    if trials_run.decided == 0:
        print(f"none of the {len(trials_run):,} trials named a winner, right or wrong", file=sys.stderr)


def _say_how_fast(pulls: int, seconds: float) -> None:
    print(f"{pulls:,} pulls in {seconds:.1f} s: {pulls / seconds / 1e6:.3g} million per second", file=sys.stderr)


def _say_how_to_resume(folder: Path, what: str) -> None:
    words = [word for word in sys.argv[1:] if word not in ("--resume", "--overwrite")]
    command = shlex.join(["bestarm", *words, "--resume"])
    print(f"stopped; finished {what} are in {folder}. To go on: {command}", file=sys.stderr)


# ------------------------------------------------------------------------------------------------------------- study


def _run_study(path: Path, form: Format, **settings: Any) -> None:
    from bestarm.cli.compiling import compile_note
    from bestarm.scenarios.scenario import SHOWN, folder_of, run_study
    from bestarm.scenarios.scenario_file import read_study

    study = read_study(path)
    out = folder_of(study, settings["out"])
    try:
        with compile_note():
            points = run_study(study, progress=True, **settings)
    except KeyboardInterrupt:
        _say_how_to_resume(out, "points")
        raise typer.Exit(INTERRUPTED) from None
    rows = points[list(SHOWN)].to_dict("records")
    write_rows([{str(name): value for name, value in row.items()} for row in rows], form)
    print(f"report: {out / 'report.html'}", file=sys.stderr)


def _given(context: typer.Context) -> dict[str, str]:
    """Return the parameters on the command line, each with its words there."""
    found = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name and source is not None and source.name == "COMMANDLINE":
            found[parameter.name] = parameter.opts[0]
    return found


def _print_template(named: dict[str, str]) -> None:
    from bestarm.errors import InputError

    others = ["STUDY.toml" if name == "study" else words for name, words in named.items() if name != "template"]
    if others:
        fix = "to make a file: bestarm simulate --template > study.toml"
        raise InputError("--template", "be given alone", ", ".join(others), fix)
    from bestarm.scenarios.scenario_file import template

    print(template(), end="")


def _refuse_beside_study(named: dict[str, str], values: dict[str, Any]) -> None:
    from bestarm.errors import InputError

    for name, words in named.items():
        if name not in WITH_STUDY:
            fix = "a study says in its file what is simulated; leave out one of the two"
            raise InputError(words, "not be given with a study", _plain(values[name]), fix)


def _check_without_study(named: dict[str, str], values: dict[str, Any]) -> None:
    from bestarm.errors import InputError

    if "means" not in named:
        fix = "bestarm simulate --template prints a study; or for Gaussian arms: --means 2.5,2.3,2,0.6"
        raise InputError("STUDY.toml", "be given, or --means", None, fix)
    for name in STUDY_ONLY:
        if name in named:
            fix = "with --means, --save and --checkpoint keep the trials"
            raise InputError(named[name], "be given with a study only", _plain(values[name]), fix)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


COMMAND = Command(simulate, rank=5, epilog=explained(*SIMULATED))
