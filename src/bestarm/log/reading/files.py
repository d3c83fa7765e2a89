"""Step 1 of reading a log: its files, found, unpacked and in UTF-8.

Libraries do most of the work; these things they leave to us (measured with DuckDB 2.0, charset-normalizer 3.5):

- DuckDB needs an extension that has to be downloaded for other encodings than UTF-8, so such files are copied in UTF-8;
- charset-normalizer takes short UTF-16 tables with many signs for no text, so UTF-16 is told by its zero bytes;
- DuckDB reads the first part of a packed file that is cut short without a word, and does not look at checksums, so
  packed files are unpacked once before, by pyarrow (300 MB per second);
- the line that DuckDB reports for a rejected row is wrong after a quoted line break; the byte that it reports is right.
"""

from __future__ import annotations

import codecs
import glob
import io
import os
import re
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

import pyarrow as pa

from bestarm.errors import InputError, NotFoundError
from bestarm.phrases import without_secrets

HEAD = 1 << 20  # bytes looked at to find out what a file is
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_ENDINGS = {"gzip": "gz", "zstd": "zst"}
_OTHERS = {
    b"PK\x03\x04": "a zip or Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF file",
    b"SQLite format": "an SQLite database",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"ARROW1": "an Arrow file",
}
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\r\n\f") + b"\x7f"
# Latin-1 is read as Windows-1252, which has quotes and dashes in its gaps; the five bytes that it leaves open stay.
_LATIN = "cp1252"
_ERRORS = {_LATIN: "latin-1 in gaps"}
codecs.register_error("latin-1 in gaps", lambda error: (_undecoded(error).decode("latin-1"), cast(Any, error).end))


@dataclass(frozen=True)
class LogFile:
    """A file of a log that DuckDB can read.

    Attributes
    ----------
    name : str
        As the user knows it.
    path : str
        What is read: the file itself, or a copy of it in UTF-8.
    kind : str
        "csv", "json" (lines), "json array" or "parquet".
    compression : str
        "none", "gzip" or "zstd".
    is_utf8 : bool
        Whether there are letters beyond ASCII at the top, and they are UTF-8.
    has_one_line_break : bool
        Whether it is a copy with one kind of line break.
    notes : tuple of str
        What was guessed about it, a sentence each.
    """

    name: str
    path: str
    kind: str = "csv"
    compression: str = "none"
    is_utf8: bool = False
    has_one_line_break: bool = False
    notes: tuple[str, ...] = ()

    def open(self) -> IO[bytes]:
        """Open what is read, unpacked."""
        if self.compression == "none":
            return open(self.path, "rb")
        return cast(BinaryIO, pa.input_stream(self.path, compression=self.compression))

    def head(self) -> tuple[str, bool]:
        """Return the text at the top, and whether there is more."""
        with self.open() as stream:
            head = stream.read(HEAD)
        return head.decode("utf-8-sig", errors="ignore"), len(head) == HEAD

    def text(self) -> io.TextIOWrapper:
        """Open what is read as text, with its line breaks."""
        return io.TextIOWrapper(self.open(), encoding="utf-8-sig", errors="replace", newline="")

    def line_at(self, byte: int) -> int:
        """Return the line that a byte, counted from 1, is on."""
        before, last = 0, b""
        with self.open() as stream:
            left = byte - 1
            while left > 0 and (chunk := stream.read(min(left, HEAD))):
                left -= len(chunk)
                # A line ends with \n, \r\n or, on old machines, \r.
                before += chunk.count(b"\n") + chunk.count(b"\r") - chunk.count(b"\r\n")
                before -= last == b"\r" and chunk[:1] == b"\n"
                last = chunk[-1:]
            after = stream.read(1)
        return before + 1 + (after == b"\n" and last != b"\r")  # DuckDB points at the \n of \r\n before a row

    def rewritten(self, folder: Path, encoding: str, *, one_line_break: bool = False) -> LogFile:
        """Return a copy in UTF-8, and with one kind of line break if that is asked for."""
        target = folder / f"utf8-{len(list(folder.iterdir()))}"
        newline = (None, "\n") if one_line_break else ("", "")
        try:
            with self.open() as stream, open(target, "w", encoding="utf-8", newline=newline[1]) as copy:
                errors = _ERRORS.get(encoding, "strict")
                text = io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline=newline[0])
                shutil.copyfileobj(text, copy, HEAD)
        except UnicodeError as error:
            name = encoding.upper().replace("_", "-")
            raise InputError(self.name, f"be in {name}", first_line(error), "save it as UTF-8") from error
        except OSError as error:
            raise self.damaged(error) from error
        notes = self.notes
        if encoding != "utf-8":
            shown = "Latin-1 (Windows-1252)" if encoding == _LATIN else encoding.upper().replace("_", "-")
            notes = (f"{self.name} is not in UTF-8; it was read as {shown}.",)
        return replace(self, path=str(target), compression="none", is_utf8=False, notes=notes)

    @property
    def may_have_mixed_line_breaks(self) -> bool:
        """Whether DuckDB may fail because a CSV file has several kinds of line break."""
        return self.kind == "csv" and not self.has_one_line_break

    def with_one_line_break(self, folder: Path) -> LogFile:
        """Return a copy of a file with mixed line breaks that has one kind of them."""
        copy = self.rewritten(folder, "utf-8", one_line_break=True)
        return replace(copy, is_utf8=self.is_utf8, has_one_line_break=True)

    def as_latin(self, folder: Path) -> LogFile:
        """Return a copy of a file that was found to be in Latin-1 after all."""
        return self.rewritten(folder, _LATIN)

    def damaged(self, error: Exception) -> InputError:
        """Return the error for a compressed file that cannot be unpacked."""
        rule = f"be a whole {_ENDINGS.get(self.compression, 'readable')} file"
        return InputError(self.name, rule, first_line(error), "it is damaged or cut short; get it again")


def first_line(error: Exception) -> str:
    """Return the first line of the message of another library."""
    return str(error).strip().split("\n")[0][:100] or type(error).__name__


def refuse_url(data: Any) -> None:
    """Refuse a URL, which is neither a file nor a table that is open; the command line opens those of databases."""
    if isinstance(data, str) and re.match(r"\s*[a-z][a-z0-9+.-]*://", data, re.IGNORECASE):
        fix = (
            "open a table with Ibis, as in identify_log(ibis.connect(url).table('votes')); get a file onto this machine"
        )
        raise InputError("data", "be a file on this machine, or a table", without_secrets(data), fix)


def find_files(data: Any, folder: Path) -> list[LogFile]:
    """Return the files that are meant by a path, a pattern, a list of them, or "-" for standard input."""
    if isinstance(data, str | os.PathLike) and os.fspath(data) == "-":
        return [_recognised(_copied("standard input", sys.stdin.buffer, folder), folder)]
    refuse_url(data)
    paths = _matching(data)
    if not paths:
        raise InputError("data", "name at least one file", data, "the list is empty")
    return [_recognised(_found(path, folder, index), folder) for index, path in enumerate(paths)]


def check_there(data: Any) -> None:
    """Refuse paths of files that do not exist; other data are checked when they are read."""
    for each in data if isinstance(data, list | tuple) else [data]:
        if isinstance(each, str | os.PathLike) and os.fspath(each) != "-":
            for path in _matching(each):
                if not os.path.exists(path):
                    raise _absent(path)


def _absent(path: str) -> NotFoundError:
    return NotFoundError(path, "be a file that is there", "no such file", "check the spelling and the folder")


def _matching(data: Any) -> list[str]:
    """Return the paths that a path, a pattern or a list of them stands for."""
    if not isinstance(data, str | os.PathLike):
        return [path for each in data for path in _matching(each)]
    path = os.fspath(data)
    if os.path.exists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(each for each in glob.glob(path, recursive=True) if not os.path.isdir(each))
    if not found:
        raise InputError(path, "match at least one file", "none", "check the pattern and the folder")
    return found


def _found(path: str, folder: Path, index: int) -> LogFile:
    if os.path.isdir(path):
        raise InputError(path, "be a file", "a folder", "name the files in it by a pattern, such as folder/*.csv")
    try:
        with open(path, "rb") as stream:
            if not os.path.isfile(path):  # a pipe can be read only once
                return _copied(path, stream, folder)
    except FileNotFoundError:
        raise _absent(path) from None
    except (OSError, ValueError) as error:
        received = getattr(error, "strerror", None) or str(error)
        raise InputError(path, "be a file that can be read", received, "check its permissions") from error
    real = os.path.abspath(path)
    if glob.has_magic(real):  # DuckDB would take a file named "votes [2].csv" for a pattern
        link = folder / f"log-{index}"
        link.symlink_to(real)
        real = str(link)
    return LogFile(path, real)


def _copied(name: str, stream: IO[bytes], folder: Path) -> LogFile:
    target = folder / f"copy-{len(list(folder.iterdir()))}"
    with open(target, "wb") as file:
        shutil.copyfileobj(stream, file, HEAD)
    return LogFile(name, str(target))


def _recognised(file: LogFile, folder: Path) -> LogFile:
    """Find out by its first bytes what a file is, and copy it in UTF-8 if it is in another encoding."""
    with open(file.path, "rb") as stream:
        start = stream.read(16)
    if start.startswith(b"PAR1"):
        return replace(file, kind="parquet")
    packed = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), "none")
    file = replace(file, compression=packed)
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            fix = "save or unpack it as one of these first"
            raise InputError(file.name, "be CSV, JSON lines or Parquet", what, fix)
    try:
        with file.open() as stream:
            head = stream.read(HEAD)
            while packed != "none" and stream.read(HEAD):
                pass  # to the checksum at the end
    except OSError as error:
        raise file.damaged(error) from error
    if head.startswith(b"PAR1"):
        raise InputError(file.name, "be Parquet without another compression", packed, "unpack it first")
    encoding = _encoding(file, head)
    file = replace(file, is_utf8=not head.isascii()) if encoding == "utf-8" else file.rewritten(folder, encoding)
    text, _ = file.head()
    if not text.strip():
        raise InputError(file.name, "have rows", "an empty file", "was it written to the end?")
    return replace(file, kind=_kind(text))


def _kind(text: str) -> str:
    if re.match(r"\s*\[\s*(\{|\])", text):
        return "json array"
    return "json" if text.lstrip().startswith("{") else "csv"


def _encoding(file: LogFile, head: bytes) -> str:
    """Return the encoding of a text, UTF-8 if it can be, or refuse what is no text."""
    if b"\0" in head:
        even, odd = head[::2].count(0), head[1::2].count(0)
        for mark, encoding in _BYTE_ORDER_MARKS.items():
            if head.startswith(mark):
                return encoding
        if max(even, odd) > 0.2 * len(head) and min(even, odd) < 0.01 * len(head):
            return "utf-16-be" if even > odd else "utf-16-le"
    elif sum(map(head.count, _CONTROL)) <= 0.01 * len(head):
        try:
            codecs.getincrementaldecoder("utf-8")().decode(head, final=len(head) < HEAD)  # or a letter is cut in two
        except UnicodeDecodeError:
            return _LATIN
        return "utf-8"
    raise InputError(file.name, "be CSV, JSON lines or Parquet", head[:12], "these bytes are no text")


def _undecoded(error: UnicodeError) -> bytes:
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end]
