"""Find a data file: at a path, in the folder BESTARM_DATA, in the cache, or at its upstream address."""

from __future__ import annotations

import hashlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pooch

from bestarm.errors import InputError

FOLDER = "BESTARM_DATA"  # environment variable: a folder with data files


@dataclass(frozen=True)
class Pin:
    """The address of a file and the SHA-256 of its content."""

    address: str
    sha256: str


@dataclass(frozen=True)
class Source:
    """The names of a data file, the subfolder of a data folder that may hold it, and its published address."""

    title: str
    subfolder: str
    patterns: tuple[str, ...]  # names of the file, the preferred ones first
    pin: Pin | None


def find(source: Source, path: str | os.PathLike[str] | None) -> Path:
    """Return the path of a file, downloading it if necessary.

    Tries `path` (a file or a folder), the folder BESTARM_DATA, the cache and the address, in this order. The user's own
    files are not checked; files from the cache and the address must have the pinned checksum.
    """
    if path is not None:
        return _given(source, path)
    named = os.environ.get(FOLDER)
    if named:
        folder = Path(named)
        if not folder.is_dir():
            raise InputError(FOLDER, "name a folder", named, "correct the environment variable, or unset it")
        found = _inside(source, folder)
        if found is not None:
            return found
    if source.pin is None:
        raise InputError(
            "path",
            f"lead to {source.title}",
            None,
            f"no checksum of it is pinned, so it is not downloaded: pass path=..., or put {_names(source)} into the "
            f"folder that {FOLDER} names",
        )
    return _cached(source, source.pin)


def cache_folder() -> Path:
    """Return the folder of downloaded files."""
    return Path(pooch.os_cache("bestarm"))


def _given(source: Source, path: str | os.PathLike[str]) -> Path:
    try:
        chosen = Path(path)
    except TypeError:
        raise InputError("path", "be a path to a file or a folder", path, f"of {source.title}") from None
    if chosen.is_dir():
        found = _inside(source, chosen)
        if found is None:
            raise InputError("path", f"lead to {source.title}", str(path), f"the folder has no {_names(source)}")
        return found
    if not chosen.is_file():
        raise InputError("path", f"lead to {source.title}", str(path), "there is no such file or folder")
    return chosen


def _inside(source: Source, folder: Path) -> Path | None:
    """Return the file in a folder or in its subfolder for such files; several equally good matches are an error."""
    for pattern in source.patterns:
        for chosen in (folder, folder / source.subfolder):
            found = sorted(file for file in chosen.glob(pattern) if file.is_file())
            if len(found) > 1:
                names = [file.name for file in found]
                raise InputError("path", f"lead to one file of {source.title}", names, "pass the path of one of them")
            if found:
                return found[0]
    return None


def _cached(source: Source, pin: Pin) -> Path:
    file = cache_folder() / source.patterns[0]
    if file.is_file():
        received = hashlib.sha256(file.read_bytes()).hexdigest()
        if received != pin.sha256:
            raise _altered(str(file), pin, received, "delete it, and it is downloaded again")
        return file
    try:
        with _quiet(pooch.get_logger()):
            got = pooch.retrieve(
                pin.address,
                f"sha256:{pin.sha256}",
                fname=file.name,
                path=file.parent,
                downloader=pooch.HTTPDownloader(hooks={"response": _close_refusal}),
            )
    except OSError as error:  # what requests raises is one too
        raise InputError(
            "path",
            f"lead to {source.title} where it can't be downloaded",
            None,
            f"{pin.address} could not be fetched ({type(error).__name__}). With a network the file comes by itself. "
            f"Without one, pass path=..., put {file.name} into the folder that {FOLDER} names, or into {file.parent}",
        ) from error
    except ValueError as error:  # pooch keeps no file whose checksum differs
        raise _altered(pin.address, pin, "another", "the download was damaged, or the file was changed") from error
    return Path(got)


def _close_refusal(response: Any, *args: Any, **kwargs: Any) -> None:
    """Close the connection of a response such as 404, which pooch leaves open."""
    if not response.ok:
        response.close()


def _altered(parameter: str, pin: Pin, received: str, fix: str) -> InputError:
    return InputError(parameter, f"have the SHA-256 checksum {pin.sha256}", received, fix)


def _names(source: Source) -> str:
    return " or ".join(source.patterns)


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep pooch from announcing a download on stderr: a library prints nothing."""
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
