"""A certificate of a verdict on a log: what was asked and answered, and of which rows, for a reader to check.

A certificate is a JSON object. `verify_certificate` repeats it: it takes the question from it and nothing else, asks it
of the reader's own copy of the log, and compares what comes out with all that the certificate says.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bestarm.contamination import CONTAMINATIONS
from bestarm.errors import InputError, NotFoundError
from bestarm.identification.result import as_json
from bestarm.identification.wording import certificate as words
from bestarm.identification.wording.log_lines import COUNTED_THERE
from bestarm.log.fingerprint import fingerprint
from bestarm.log.question import LogQuestion
from bestarm.log.rewards import Rewards
from bestarm.log.spec import LogSpec
from bestarm.phrases import Phrase, Setting, Verbatim

if TYPE_CHECKING:
    from bestarm.log.reading import Progress
    from bestarm.log.reading.columns import LogColumns
    from bestarm.log.result import LogResult

FORMAT = 1
TOLERANCE = 1e-9  # relative: how much a number may differ between machines, whose libraries round differently
_SMALLEST = 1e-12  # absolute, of numbers that are no probabilities: a mean of 0 may be 1e-17 elsewhere
_PARTS = {
    "format": int,
    "bestarm": str,
    "question": dict,
    "rows": dict,
    "assumptions": list,
    "evidence": dict,
    "verdict": dict,
    "checksum": str,
}
_COMPARED = ("rows", "question", "assumptions", "evidence", "verdict")
_NOT_ASKED = ("needs_time", "segment")  # fields of a `LogSpec` that are no parameters of `identify_log`


@dataclass(frozen=True, eq=False)
class Basis:
    """What a certificate needs besides the result: the rewards as they were read, and the question."""

    rewards: Rewards
    question: dict[str, Any]


def basis_of(rewards: Rewards, spec: LogSpec, question: LogQuestion) -> Basis:
    """Return what a certificate needs, with the columns by their names, guessed or not."""
    asked = {field.name: getattr(spec, field.name) for field in fields(spec) if field.name not in _NOT_ASKED}
    asked |= {field.name: getattr(question, field.name) for field in fields(question)}
    if rewards.columns is not None:
        asked |= _named(rewards.columns)
    if rewards.blocks is not None:
        asked |= rewards.blocks.asked
    if rewards.health.counted_in:
        asked["inspect"] = False  # so that it can be asked of a file with the same rows
    return Basis(rewards, asked)


def _named(columns: LogColumns) -> dict[str, Any]:
    """Return the columns in use as parameters of `identify_log`."""
    single = {"arm": columns.arm, "reward": columns.reward, "source": columns.source, "time": columns.time}
    single |= {"successes": columns.successes, "visits": columns.visits, "per": columns.per}
    found: dict[str, Any] = {name: column for name, column in single.items() if column is not None}
    if columns.arms:
        found["wide"] = list(columns.arms)
    if columns.values or columns.count is not None:
        found["counted"] = dict(columns.values) or columns.count
    return found


# ------------------------------------------------------------------------------------------------ making a certificate


def certificate_of(result: LogResult, basis: Basis | None) -> dict[str, Any]:
    """Return the certificate of a verdict, as plain numbers, texts, lists and dicts."""
    _check(result, basis)
    assert basis is not None
    found = {
        "format": FORMAT,
        "bestarm": version("bestarm"),
        "question": basis.question,
        "rows": _rows(result, basis.rewards),
        "assumptions": list(result.assumptions),
        "evidence": _evidence(result),
        "verdict": _verdict(result),
    }
    plain: dict[str, Any] = json.loads(json.dumps(as_json(found)))
    return plain | {"checksum": checksum(plain)}


def _check(result: LogResult, basis: Basis | None) -> None:
    without = Phrase("leave out {}", Setting("sequential", True))
    if result.sequential:
        raise InputError("certificate", "be of a verdict on all rows", "a replay in order", without)
    if basis is None or basis.rewards.columns is None:
        fix = "call identify_log on the log itself, and certificate on what it returns"
        raise InputError("certificate", "be of a result that identify_log has just returned", "another", fix)
    if result.segment is not None:
        fix = Phrase(
            "ask for that segment alone by {}, with the delta of its verdict", Setting("where", Verbatim("..."))
        )
        raise InputError("certificate", "be of a verdict on its own", f"a segment of {result.delta:g}", fix)
    model = basis.question["contamination"]
    if model is not None and type(model) is not str:
        fix = f"use one of {', '.join(CONTAMINATIONS)}"
        raise InputError("contamination", "be known to the reader of a certificate", str(model), fix)


def _rows(result: LogResult, rewards: Rewards) -> dict[str, Any]:
    """Return which rows were used: their hash, and how many there are."""
    by_source = result.sources is not None or result.units is not None
    found = fingerprint(rewards, by_source=by_source, paired=bool(result.options.get("paired")))
    health, columns = rewards.health, rewards.columns
    order = None if not by_source else "time" if columns is not None and columns.time is not None else "file"
    if order == "file" and health.counted_in:
        order = "none"  # a table in a database has no order, and each source in it one row
    return {
        "sha256": found.sha256,
        "columns": list(found.columns),
        "hashed": found.rewards,
        "read": health.rows,
        "used": health.used,
        "missing": health.missing,
        "bad": health.bad_rows,
        "order": order,
    }


def _evidence(result: LogResult) -> dict[str, Any]:
    arms = [
        {
            "arm": str(row.label),
            "rewards": row.pulls,
            "mean": result.means.get(row.label),
            "estimate": row.estimate,
            "lower": row.lower,
            "upper": row.upper,
            "lead": result.leads.get(row.label),
            "in_question": row.active,
        }
        for row in result.arms
    ]
    return {
        "method": result.method,
        "delta": result.delta,
        "epsilon": None if result.for_all_counts else result.epsilon,
        "exact": result.exact,
        "stopping": result.stopping,
        "lower_is_better": result.lower_is_better,
        "bounds": result.bounds,
        "sigma": result.sigma,
        "options": {name: value for name, value in result.options.items() if value not in (None, False)},
        "rewards": result.pulls,
        "number_of_sources": result.sources,
        "ignored": result.ignored,
        "replaced": result.replaced,
        "p_value": result.p_value,
        "overturn": result.overturn,
        "tolerance": result.tolerance,
        "survival": result.survival,
        "alarms": result.alarms,
        "arms": arms,
        "uplift": None if result.uplift is None else asdict(result.uplift),
        "control": result.control,
        "comparisons": [asdict(each) for each in result.comparisons],
    }


def _verdict(result: LogResult) -> dict[str, Any]:
    return {
        "best": None if result.best is None else str(result.best),
        "leader": None if result.leader is None else str(result.leader),
        "candidates": [str(label) for label in result.candidates],
        "status": result.status,
        "limit": result.limit,
        "lines": [line for line in result.lines if line != COUNTED_THERE],
        "sentence": str(result),
        "trusted": result.trusted,
        "doubts": result.doubts,
        "inspected": result.inspected,
        "findings": [asdict(finding) for finding in result.findings],
    }


def checksum(certificate: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a certificate without its checksum, by which damage is noticed; it proves nothing else."""
    rest = {name: value for name, value in certificate.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def check_place(path: str | Path) -> None:
    """Reject a file that cannot be written, before the log is read."""
    from bestarm.validation import writable_folder

    target = Path(path)
    if target.is_dir() or not target.parent.is_dir():
        raise InputError("certificate", "be a file in a folder that is there", str(path), "make the folder first")
    writable_folder("certificate", target.parent)


def write_certificate(certificate: Mapping[str, Any], path: str | Path) -> None:
    """Write a certificate to a file."""
    text = json.dumps(certificate, sort_keys=True, indent=1, ensure_ascii=False) + "\n"
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        rule = "be a file that can be written"
        raise InputError("certificate", rule, str(path), error.strerror or str(error)) from None


# ---------------------------------------------------------------------------------------------- checking a certificate


@dataclass(frozen=True)
class Verification:
    """Whether a certificate holds for a log; `str()` is a sentence, and one for each reason why it does not.

    Attributes
    ----------
    holds : bool
        Whether the log has the rows of the certificate, and all that it says comes out of them again.
    reasons : tuple of str
        Why it does not hold, the gravest first, a sentence each.
    result : LogResult or None
        What the log says when the recorded question is asked of it; None if it cannot be asked.
    """

    holds: bool
    reasons: tuple[str, ...]
    result: LogResult | None = None

    @property
    def sentence(self) -> str:
        """Whether it holds, and what it says then."""
        return words.verdict(self.holds, self.result)

    def __str__(self) -> str:
        return "\n".join((self.sentence, *self.reasons))


def verify_certificate(
    certificate: str | os.PathLike[str] | Mapping[str, Any], data: Any, *, progress: Progress | None = None
) -> Verification:
    """Say whether a certificate holds: ask its question of a log, and compare everything that comes out.

    Nothing in the certificate is believed but the question. Numbers must be equal, floating-point ones to 1e-9 of their
    size, because machines round differently.

    Parameters
    ----------
    certificate : path or mapping
        The certificate, as `LogResult.certificate` wrote or returned it.
    data
        The log, as `identify_log` takes it: of another format, or with rows and columns in another order, if you like.
    progress : function, optional
        Called with the share of the log that has been read.

    Examples
    --------
    >>> import pandas as pd
    >>> from bestarm import identify_log
    >>> votes = pd.DataFrame({"caption": ["A"] * 200 + ["B"] * 200, "stars": [2, 1] * 100 + [5, 4] * 100})
    >>> certificate = identify_log(votes, epsilon=0.02, bounds=(1, 5)).certificate()
    >>> verify_certificate(certificate, votes.sample(frac=1, random_state=1)).holds
    True
    >>> verify_certificate(certificate, votes.assign(stars=5)).reasons[0]
    'The log has other rows: as many (400), but not the same.'
    """
    claimed = dict(certificate) if isinstance(certificate, Mapping) else _read(certificate)
    _check_parts(claimed)
    from bestarm.log.verdict import identify_log

    question = _asked(claimed["question"])
    try:
        result = identify_log(data, **question, progress=progress)
    except NotFoundError:
        raise
    except InputError as error:
        return Verification(False, (words.cannot_be_asked(error),))
    found = result.certificate()
    reasons = list(_differences(claimed, found))
    if checksum(claimed) != claimed["checksum"]:
        reasons.append(words.CHANGED)
    if reasons and claimed["bestarm"] != found["bestarm"]:
        reasons.append(words.other_version(claimed["bestarm"], found["bestarm"]))
    return Verification(not reasons, tuple(reasons), result)


def _read(path: str | os.PathLike[str]) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        fix = "check the spelling and the folder"
        raise NotFoundError(str(path), "be a file that is there", "no such file", fix) from None
    except OSError as error:
        fix = "check its permissions"
        raise InputError(str(path), "be a file that can be read", error.strerror or str(error), fix) from None
    except ValueError as error:
        fix = "it is damaged, or another file; give the certificate first, then the log"
        raise InputError(str(path), "be a certificate in JSON", str(error)[:80], fix) from None
    if not isinstance(found, dict):
        raise InputError(str(path), "be a certificate", type(found).__name__, "it is another kind of JSON")
    return found


def _check_parts(certificate: dict[str, Any]) -> None:
    """Reject what is no certificate, or one in a format of a later version."""
    made_by = certificate.get("format")
    if type(made_by) is int and made_by > FORMAT:
        fix = f"install a version of bestarm that knows it ({certificate.get('bestarm')} wrote it)"
        raise InputError("certificate", f"have a format up to {FORMAT}", made_by, fix)
    for name, kind in _PARTS.items():
        if type(certificate.get(name)) is not kind:
            fix = "it is damaged, or no certificate of bestarm"
            raise InputError("certificate", f"have {name!r}, as every certificate does", list(certificate), fix)
    unknown = sorted(set(certificate) - set(_PARTS))
    if unknown:
        raise InputError("certificate", f"have nothing but {', '.join(_PARTS)}", unknown, "it was edited")


def _asked(question: Mapping[str, Any]) -> dict[str, Any]:
    """Return a recorded question as arguments of `identify_log`."""
    known = {field.name for field in (*fields(LogSpec), *fields(LogQuestion))} - set(_NOT_ASKED)
    unknown = sorted(set(question) - known)
    if unknown:
        fix = "it is damaged, or of a later version of bestarm"
        raise InputError("certificate", "ask by settings that this version knows", unknown, fix)
    given = dict(question)
    if isinstance(given.get("bounds"), list):
        given["bounds"] = tuple(given["bounds"])
    return given


def _differences(claimed: Mapping[str, Any], found: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each thing that a certificate says and that does not come out again."""
    own, other = claimed["rows"], found["rows"]
    if own.get("sha256") != other["sha256"]:
        yield words.other_rows(own.get("read"), other["read"])
    for part in _COMPARED:
        for path, said, true in _unequal(claimed[part], found[part], part):
            if path != "rows.sha256":
                yield words.difference(path, said, true)


def _unequal(said: Any, true: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield the path of each value that differs, what is claimed, and what comes out."""
    if isinstance(said, dict) and isinstance(true, dict):
        for name in [*true, *(name for name in said if name not in true)]:
            yield from _unequal(said.get(name, ...), true.get(name, ...), f"{path}.{name}")
    elif isinstance(said, list) and isinstance(true, list) and len(said) == len(true):
        for index, pair in enumerate(zip(said, true, strict=True)):
            yield from _unequal(*pair, f"{path}[{index}]")
    elif not _is_same(said, true, path):
        yield path, said, true


def _is_same(said: Any, true: Any, path: str) -> bool:
    if isinstance(said, float) and isinstance(true, float):
        least = 0.0 if path.endswith("p_value") or path.startswith("evidence.survival") else _SMALLEST
        return math.isclose(said, true, rel_tol=TOLERANCE, abs_tol=least)
    return type(said) is type(true) and bool(said == true)
