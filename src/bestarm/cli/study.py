"""`bestarm study`: a live experiment on a database."""

from __future__ import annotations

import contextlib
import csv
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bestarm.cli.commands import Command, grouped
from bestarm.cli.options import MethodOptions, QuestionOptions, import_from_here, named_method, names
from bestarm.cli.output import NO_WINNER, Format, arm_rows, exit_code, save_plot, write_rows
from bestarm.errors import DecidedError, InputError

if TYPE_CHECKING:
    from bestarm.identification.ledger import Pull
    from bestarm.live import Study

DISAGREES = 1  # exit code of `replay`

study = typer.Typer(
    name="study",
    help="A live experiment on a database, fed by many processes: SQLite (sqlite:///FILE) or PostgreSQL. "
    "In Python: ba.Study.",
    no_args_is_help=True,
)

Url = Annotated[str, typer.Argument(metavar="URL", help="Database: sqlite:///FILE or postgresql://USER@HOST/NAME.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the study.")]
PULL = "Its id, as `ask` and `pending` print it; or its number alone, while that is unambiguous."
Form = Annotated[Format, typer.Option("--format", help="Output format.")]


@study.command()
@grouped
def create(
    url: Url,
    name: Name,
    arms: Annotated[str, typer.Option(help="Labels separated by commas, such as A,B,C; or a number of arms.")],
    question: QuestionOptions,
    method: MethodOptions,
    lease: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which a pull without a reward counts as cancelled.",
            show_default="600; never if epsilon = 0",
        ),
    ] = None,
) -> None:
    """Create a study, and its tables if the database has none. If it exists already, it must be the same."""
    from bestarm.live import Study

    labels = int(arms) if arms.strip().isdigit() else names(arms)
    made = Study(url, name, labels, lease=lease, **question.keywords(), **method.keywords())
    print(f"{made!r} with {len(made.labels)} arms, {made.sequence:,} events so far")


@study.command()
def ask(
    url: Url,
    name: Name,
    n: Annotated[int, typer.Option("-n", help="How many pulls.")] = 1,
    worker: Annotated[
        str | None,
        typer.Option(
            help="Name of the worker; pulls that it has neither told nor cancelled are given to it again first."
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Who will give the rewards, if known (for --contamination sources).")
    ] = None,
    form: Form = Format.csv,
) -> None:
    """Print the next pulls to make: id and arm. Exit code 3 if the study has decided and there are none."""
    opened = _open(url, name)
    try:
        pulls = opened.ask_pulls(n, worker=worker, source=source)
    except DecidedError:
        print(opened.result, file=sys.stderr)
        raise typer.Exit(NO_WINNER) from None
    write_rows([{"pull": pull.id, "arm": pull.arm} for pull in pulls], form)


@study.command()
def pending(url: Url, name: Name, form: Form = Format.table) -> None:
    """List the pulls that are outstanding: id, arm, worker, and when they were asked for."""
    rows = [
        {"pull": pull.id, "arm": pull.arm, "worker": worker, "asked": _time(at)}
        for pull, worker, at in _open(url, name).outstanding()
    ]
    _list(rows, form, "no pulls are outstanding")


@study.command(context_settings={"ignore_unknown_options": True})  # -1.5 is a reward
def tell(
    url: Url,
    name: Name,
    pull: Annotated[str | None, typer.Argument(metavar="PULL", help=PULL, show_default=False)] = None,
    reward: Annotated[float | None, typer.Argument(metavar="REWARD", help="Its reward.", show_default=False)] = None,
    source: Annotated[str | None, typer.Option(help="Who gave it (for --contamination sources).")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="CSV with columns pull and reward (and source), instead of one reward; - for stdin."),
    ] = None,
) -> None:
    """Record the reward of a pull, or those of a file, all or none; exit code 0 means that they are on disk.

    Telling the same reward again is safe.
    """
    if (file is None) != (pull is not None and reward is not None):
        raise InputError("reward", "be given with its pull, or --file", reward, "bestarm study tell URL NAME 17 0.5")
    opened = _open(url, name)
    rows = _read(file) if file is not None else [(str(pull), str(reward), source)]
    pulls = [_pull(opened, which, None if file is None else line) for line, (which, _, _) in enumerate(rows, 2)]
    rewards = [_number(value, index) for index, (_, value, _) in enumerate(rows, 2)]
    sources = [by for _, _, by in rows]
    opened.tell_many(pulls, rewards, sources if any(by is not None for by in sources) else None)
    _say(opened)


@study.command()
def cancel(url: Url, name: Name, pull: Annotated[str, typer.Argument(metavar="PULL", help=PULL)]) -> None:
    """Give up a pull whose reward will never come: it counts as replaced."""
    opened = _open(url, name)
    opened.cancel(opened.pull(pull))
    _say(opened)


@study.command()
def renew(url: Url, name: Name, pulls: Annotated[list[str], typer.Argument(metavar="PULL...", help=PULL)]) -> None:
    """Renew the leases of outstanding pulls, all or none: for calls that take longer."""
    opened = _open(url, name)
    opened.renew_many([opened.pull(which) for which in pulls])
    _say(opened)


@study.command()
def status(
    url: Url,
    name: Name,
    form: Form = Format.table,
    plot: Annotated[Path | None, typer.Option(help="Also save a plot to this file (.png, .svg or .pdf).")] = None,
) -> None:
    """Show where a study stands.

    Exit code 0 if an arm is named, 3 if none is, or none yet; 4 if an arm comes first but the rewards contradict the
    assumptions (an alarm), so that nothing is claimed about it.
    """
    opened = _open(url, name)
    result = opened.result
    if plot is not None:
        save_plot(opened.plot(), plot)
    if form is Format.json:
        more = {
            "name": name,
            "sequence": opened.sequence,
            "decided_at": opened.decided_at,
            "pending": opened.pending,
            "expired": opened.expired,
            "archived": opened.archived,
        }
        print(json.dumps(more | json.loads(result.to_json()), indent=1))
    elif form is Format.csv:
        write_rows(arm_rows(result), form)
    else:
        print(f"{result}\n")
        write_rows(arm_rows(result), form)
        print(f"\n{_counts(opened)}")
        if not opened.done:
            with contextlib.suppress(InputError):  # sources and methods of the user's own have no forecast
                print(opened.forecast())
    raise typer.Exit(exit_code(result))


@study.command("list")
def list_studies(url: Url, form: Form = Format.table) -> None:
    """List the studies of a database: name, arms, rewards told, status, when it was created.

    The status is the recorded decision; a study without one is undecided, whichever arm leads.
    """
    from bestarm.live.connect import open_store

    store = open_store(url)
    store.prepare(create=False)
    rows = [vars(row) | {"created": _time(row.created)} for row in store.overview()]
    store.close()
    _list(rows, form, "no studies")


def _list(rows: list[dict[str, Any]], form: Format, none: str) -> None:
    if rows:
        write_rows(rows, form)
    else:
        print(none, file=sys.stderr)


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


@study.command()
def export(
    url: Url,
    name: Name,
    out: Annotated[Path, typer.Option(help="File to write; - for stdout.")] = Path("-"),
) -> None:
    """Write the whole log as JSON lines, from which `bestarm study replay` computes the decision again."""
    opened = _open(url, name)
    if str(out) == "-":
        for line in opened.lines():
            print(line)
    else:
        opened.export(out)


@study.command()
def replay(file: Annotated[Path, typer.Argument(help="What `bestarm study export` wrote.")]) -> None:
    """Replay an exported log without a database, and compare the outcome with the decision recorded in it.

    Exit code 0 if an arm is named, 3 if none is, 4 if an arm comes first but nothing is claimed (an alarm), 1 if the
    decision in the log does not follow from it.
    """
    from bestarm.cli.compiling import compile_note
    from bestarm.live.export import replay as fold

    import_from_here()  # a method of the user's own
    with compile_note():
        found = fold(file)
    print(found.result)
    if not found.agrees:
        stands = "none" if found.recorded is None else f"{found.recorded.status} ({found.recorded.best!r})"
        print(f"The log says otherwise: {stands} at event {found.recorded_at}.", file=sys.stderr)
        raise typer.Exit(DISAGREES)
    if found.recorded_at is not None:
        print(f"The decision in the log, at event {found.recorded_at:,}, is the same.")
    raise typer.Exit(exit_code(found.result))


@study.command()
def backup(url: Url, file: Annotated[Path, typer.Argument(help="File to write; must not exist yet.")]) -> None:
    """Write all studies of a database to one file, while others go on writing.

    SQLite: a copy of the database as it stood at one moment, by SQLite's own backup (to copy run.db alone misses what
    is in run.db-wal). PostgreSQL: an export of all studies, as JSON lines. `bestarm study import` reads both.
    """
    from bestarm.live import backup_studies

    print(f"{len(backup_studies(url, file)):,} studies written to {file}")


@study.command("import")
def import_file(
    url: Url, file: Annotated[Path, typer.Argument(help="What `bestarm study backup` or `export` wrote.")]
) -> None:
    """Import the studies of a backup or an export into a database, SQLite or PostgreSQL, all or none.

    They continue where the file ends, with the pulls that workers hold. A name that is taken is an error, unless the
    study is the same.
    """
    from bestarm.live import import_studies

    names = import_studies(url, file)
    print(f"{len(names):,} studies imported{': ' if names else ''}{', '.join(names)}")


@study.command()
def archive(url: Url, name: Name) -> None:
    """Close a study for good: it can still be read and exported."""
    opened = _open(url, name)
    opened.archive()
    print(f"{opened!r} is archived")


@study.command()
def migrate(url: Url) -> None:
    """Upgrade the tables of a database to this version of bestarm. Make a backup first."""
    from bestarm.live.connect import open_store
    from bestarm.live.schema import REVISION

    store = open_store(url)
    store.migrate()
    store.close()
    print(f"{store.shown} has tables of revision {REVISION}")


def _open(url: str, name: str) -> Study:
    from bestarm.live import Study

    opened = Study(url, name)
    named_method(opened.method)
    return opened


def _counts(opened: Study) -> str:
    found = f"{opened.pulls:,} rewards used, {opened.pending:,} pulls outstanding, {opened.expired:,} expired"
    waiting = f"; {opened.waiting}" if opened.waiting and not opened.done else ""
    return f"{found}{waiting}; {opened.sequence:,} events" + ("; archived" if opened.archived else "")


def _say(opened: Study) -> None:
    """Print the state after a tell to stderr, so that scripts have nothing to filter."""
    print(str(opened.result) if opened.done else _counts(opened), file=sys.stderr)


def _read(path: Path) -> list[tuple[str, str, str | None]]:
    try:
        with sys.stdin if str(path) == "-" else path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.DictReader(stream)
            if not {"pull", "reward"} <= set(reader.fieldnames or ()):
                raise InputError("file", "have columns pull and reward", reader.fieldnames, "the first line names them")
            return [(row["pull"], row["reward"], row.get("source") or None) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError("file", "be a file that can be read", str(path), str(error)) from None


def _pull(opened: Study, which: str, line: int | None) -> Pull:
    try:
        return opened.pull(which)
    except InputError as error:
        where = "pull" if line is None else f"pull in line {line}"
        raise error.about(where) from None


def _number(text: str, line: int) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        raise InputError(f"reward in line {line}", "be a number", text, "fix the file") from None


COMMAND = Command(study, rank=7)
