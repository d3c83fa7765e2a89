"""The files of a log: what each is by its first bytes, how DuckDB is told to read it, and on which line a row is.

DuckDB reads the rows; five things it leaves to us (measured with 2.0):

- its dialect sniffer takes a file with a bad row near the top for one column, so the delimiter is found here;
- encodings other than UTF-8 need an extension that has to be downloaded, so such files are written again in UTF-8;
- a zst file cut short is read up to the cut without a word, so its frames are walked over first; the checksum of a gz
  file is not looked at, so it is unpacked once before (300 MB a second);
- the line it reports for a rejected row counts a quoted line break as none; the byte it reports is right.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import json
import os
import re
import shutil
import sys
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from bestarm.errors import InputError

HEAD = 1 << 20  # bytes looked at to find out what a file is
_DELIMITERS = (",", ";", "\t", "|", ":", "^", "~", " ")  # of equally good ones, the first
_OTHERS = {
    b"PK\x03\x04": "a zip or Excel file",
    b"\xd0\xcf\x11\xe0": "an old Excel file",
    b"%PDF": "a PDF file",
    b"SQLite format": "an SQLite database",
    b"BZh": "a bzip2 file",
    b"\xfd7zXZ": "an xz file",
    b"ARROW1": "an Arrow file",
}
_BOMS = (
    (b"\xff\xfe\x00\x00", "utf-32"),
    (b"\x00\x00\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """How a CSV file is written."""

    delimiter: str
    quote: str
    escape: str
    skip: int = 0  # blank lines before the first row


@dataclass
class LogFile:
    """A file of a log, ready to be read by DuckDB.

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
    columns : tuple of str
        Names of the columns; of a CSV file, the cells of its first row.
    """

    name: str
    path: str
    kind: str = "csv"
    compression: str = "none"
    dialect: Dialect = field(default_factory=lambda: Dialect(",", '"', '"'))
    columns: tuple[str, ...] = ()
    types: dict[str, str] = field(default_factory=dict)  # of Parquet
    header: bool = True
    is_utf8: bool = False  # there are letters beyond ASCII at the top, and they are UTF-8
    notes: tuple[str, ...] = ()

    def open(self) -> IO[bytes]:
        """Open what is read, decompressed."""
        if self.compression == "gzip":
            return gzip.open(self.path, "rb")  # type: ignore[return-value]
        if self.compression == "zstd":
            return pa.input_stream(self.path, compression="zstd")  # type: ignore[no-any-return]
        return open(self.path, "rb")

    def scan(self) -> str:
        """Return what DuckDB selects from; the columns of a CSV file are c0, c1, ...; JSON has the one column line."""
        path, packed = quoted(self.path), f"compression='{self.compression}', hive_partitioning=false"
        if self.kind == "parquet":
            return f"read_parquet({path}, file_row_number=true, hive_partitioning=false)"
        if self.kind == "json array":
            return f"(SELECT json AS line FROM read_json_objects({path}, format='array', {packed}))"
        if self.kind == "json":
            # An object a line: neither a delimiter nor a quote, so that a row is a line whatever is in it.
            return (
                f"read_csv({path}, auto_detect=false, header=false, delim='\x01', quote='', escape='', "
                f"columns={{'line': 'VARCHAR'}}, store_rejects=true, {packed})"
            )
        names = ", ".join(f"'c{index}': 'VARCHAR'" for index in range(len(self.columns)))
        written = f"delim={quoted(self.dialect.delimiter)}, quote={quoted(self.dialect.quote)}"
        return (
            f"read_csv({path}, auto_detect=false, header={str(self.header).lower()}, skip={self.dialect.skip}, "
            f"{written}, escape={quoted(self.dialect.escape)}, columns={{{names}}}, store_rejects=true, {packed})"
        )

    def column(self, name: str) -> str:
        """Return a column as SQL."""
        if self.kind == "parquet":
            return identifier(name)
        if self.kind == "csv":
            return f"c{self.columns.index(name)}"
        pointer = "/" + name.replace("~", "~0").replace("/", "~1")
        return f"CASE WHEN json_valid(line) THEN json_extract_string(line, {quoted(pointer)}) END"

    def whole_row(self) -> str:
        """Return the row as SQL: all cells of a CSV file, the line of JSON, the number of the row of Parquet."""
        if self.kind == "parquet":
            return "[CAST(file_row_number + 1 AS VARCHAR)]"
        if self.kind == "csv":
            return f"[{', '.join(f'c{place}' for place in range(len(self.columns)))}]"
        return "[CAST(line AS VARCHAR)]"

    def lines(self, rows: Iterable[list[str]]) -> Iterator[int | None]:
        """Yield the line of each of some rows, in the order of the file; None where it has none.

        A row is found again by its cells: the first with the same ones is as bad.
        """
        if self.kind == "parquet":
            yield from (int(row[0]) for row in rows)
            return
        if self.kind == "json array":
            yield from (None for _ in rows)
            return
        numbered = self._numbered()
        for row in rows:
            yield next((line for line, cells in numbered if cells == row), None)

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        with self.open() as stream:
            text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
            if self.kind == "json":
                yield from ((number, [line.rstrip("\r\n")]) for number, line in enumerate(text, 1))
                return
            reader = _reader(text, self.dialect)
            line = 1
            try:
                for cells in reader:
                    yield line, cells[: len(self.columns)]
                    line = reader.line_num + 1
            except csv.Error:  # a cell of more than 128 KiB
                return

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


def quoted(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def find_files(data: Any, folder: Path) -> list[LogFile]:
    """Return the files that are meant by a path, a pattern, a list of them, or "-" for standard input."""
    if isinstance(data, str | os.PathLike):
        if os.fspath(data) == "-":
            return [_standard_input(folder)]
        paths = _matching(os.fspath(data))
    else:
        paths = [path for each in data for path in _matching(os.fspath(each))]
    if not paths:
        raise InputError("data", "name at least one file", data, "the list is empty")
    return [_found(path, folder, index) for index, path in enumerate(paths)]


def check_there(data: Any) -> None:
    """Refuse a path, pattern or list of them that is not there; anything else is for others to judge."""
    for each in data if isinstance(data, list | tuple) else [data]:
        if isinstance(each, str | os.PathLike) and os.fspath(each) != "-":
            for path in _matching(os.fspath(each)):
                if not os.path.exists(path):
                    raise _absent(path)


def _absent(path: str) -> InputError:
    return InputError(path, "be a file that is there", "no such file", "check the spelling and the folder")


def _matching(path: str) -> list[str]:
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
        with open(path, "rb"):
            pass
    except FileNotFoundError:
        raise _absent(path) from None
    except (OSError, ValueError) as error:
        received = getattr(error, "strerror", None) or str(error)
        raise InputError(path, "be a file that can be read", received, "check its permissions") from error
    real = os.path.abspath(path)
    if not os.path.isfile(real):  # a pipe can be read once only
        return _copied(path, folder)
    if glob.has_magic(real):  # DuckDB would take a file named "votes [2].csv" for a pattern
        link = folder / f"log-{index}"
        link.symlink_to(real)
        real = str(link)
    return LogFile(path, real)


def _standard_input(folder: Path) -> LogFile:
    target = folder / "standard-input"
    with open(target, "wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file, HEAD)
    return LogFile("standard input", str(target))


def _copied(path: str, folder: Path) -> LogFile:
    target = folder / f"copy-{len(list(folder.iterdir()))}"
    with open(path, "rb") as source, open(target, "wb") as file:
        shutil.copyfileobj(source, file, HEAD)
    return LogFile(path, str(target))


def recognise(
    file: LogFile, folder: Path, wanted: Iterable[str], *, encoding: str = "", newlines: bool = False
) -> None:
    """Find out what a file is, and write it again in UTF-8 if it is not.

    Parameters
    ----------
    file : LogFile
        What it is, is written into it.
    folder : path
        Where there is room for copies.
    wanted : texts
        Names of columns that the user gave: the delimiter is the one with which they are there.
    encoding : str
        What it was found to be in after all.
    newlines : bool
        Whether to write it again with one kind of line break.
    """
    start = _start(file)
    if not start:
        raise InputError(file.name, "have rows", "an empty file", "was it written to the end?")
    if start.startswith(b"PAR1"):
        file.kind = "parquet"
        return
    if start.startswith(b"\x1f\x8b"):
        file.compression = "gzip"
    elif start.startswith(b"\x28\xb5\x2f\xfd"):
        file.compression = "zstd"
        if not _is_whole_zst(file.path):
            raise InputError(file.name, "be a whole zst file", "one cut short", "get it again")
    for magic, what in _OTHERS.items():
        if start.startswith(magic):
            raise InputError(
                file.name, "be CSV, JSON lines or Parquet", what, "save or unpack it as one of these first"
            )
    try:
        with file.open() as stream:
            head = stream.read(HEAD)
            while file.compression == "gzip" and stream.read(HEAD):
                pass  # to the checksum at the end
    except (EOFError, OSError, zlib.error, pa.ArrowException) as error:
        raise damaged(file, error) from error
    if not head.strip(b" \t\r\n\xef\xbb\xbf"):
        raise InputError(file.name, "have rows", "an empty file", "was it written to the end?")
    if head.startswith(b"PAR1"):
        raise InputError(file.name, "be Parquet without another compression", file.compression, "unpack it first")
    encoding = encoding or _encoding(file, head)
    if encoding != "utf-8" or newlines:
        _write_again(file, folder, encoding, newlines)
        with file.open() as stream:
            head = stream.read(HEAD)
    file.is_utf8 = encoding == "utf-8" and not head.isascii()
    text = head.decode("utf-8-sig", errors="ignore")
    _read_head(file, text, len(head) == HEAD, tuple(wanted))


def damaged(file: LogFile, error: Exception) -> InputError:
    """Return the error for a compressed file that can't be unpacked."""
    kind = {"gzip": "gz", "zstd": "zst"}.get(file.compression, "readable")
    return InputError(
        file.name, f"be a whole {kind} file", first_line(error), "it is damaged or cut short; get it again"
    )


def first_line(error: Exception) -> str:
    """Return the first line of the message of another library."""
    return str(error).strip().split("\n")[0][:100] or type(error).__name__


def _start(file: LogFile) -> bytes:
    with open(file.path, "rb") as stream:
        return stream.read(16)


def _is_whole_zst(path: str) -> bool:
    """Walk over the blocks of each frame, without unpacking (RFC 8878, section 3.1)."""
    size = os.path.getsize(path)
    with open(path, "rb") as stream:
        while stream.tell() < size:
            magic = int.from_bytes(stream.read(4), "little")
            if 0x184D2A50 <= magic <= 0x184D2A5F:  # a frame to be skipped
                stream.seek(int.from_bytes(stream.read(4), "little"), os.SEEK_CUR)
                continue
            descriptor = (stream.read(1) or b"\0")[0]
            is_single, has_checksum = bool(descriptor & 0x20), bool(descriptor & 0x04)
            content = (1 if is_single else 0, 2, 4, 8)[descriptor >> 6]
            stream.seek((0 if is_single else 1) + (0, 1, 2, 4)[descriptor & 3] + content, os.SEEK_CUR)
            is_last = False
            while not is_last:
                header = stream.read(3)
                if len(header) < 3:
                    return False
                block = int.from_bytes(header, "little")
                is_last = bool(block & 1)
                stream.seek(1 if (block >> 1) & 3 == 1 else block >> 3, os.SEEK_CUR)  # one byte, repeated: type 1
            stream.seek(4 if has_checksum else 0, os.SEEK_CUR)
        return stream.tell() == size


def _encoding(file: LogFile, head: bytes) -> str:
    for mark, encoding in _BOMS:
        if head.startswith(mark):
            return encoding
    if b"\0" in head:
        even, odd = head[::2].count(0), head[1::2].count(0)
        if max(even, odd) > 0.2 * len(head) and min(even, odd) < 0.01 * len(head):
            return "utf-16-be" if even > odd else "utf-16-le"
        raise _rubbish(file, head)
    odd_bytes = sum(head.count(byte) for byte in range(32) if byte not in b"\t\r\n\f") + head.count(127)
    if odd_bytes > 0.01 * len(head):
        raise _rubbish(file, head)
    return "utf-8" if _is_utf8(head) else "cp1252"


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(head) == HEAD and error.start >= len(head) - 3  # a letter cut in two
    return True


def _rubbish(file: LogFile, head: bytes) -> InputError:
    return InputError(file.name, "be CSV, JSON lines or Parquet", head[:12], "these bytes are no text")


def _write_again(file: LogFile, folder: Path, encoding: str, newlines: bool) -> None:
    """Write a file again in UTF-8. Latin-1 is read as Windows-1252, which has quotes and dashes in its gaps."""
    target = folder / f"utf8-{len(list(folder.iterdir()))}"
    errors = "c1-control" if encoding == "cp1252" else "strict"
    try:
        with file.open() as stream, open(target, "w", encoding="utf-8", newline="\n" if newlines else "") as written:
            text = io.TextIOWrapper(stream, encoding=encoding, errors=errors, newline=None if newlines else "")
            while part := text.read(HEAD):
                written.write(part)
    except UnicodeError as error:
        raise InputError(file.name, f"be in {encoding.upper()}", first_line(error), "save it as UTF-8") from error
    except (EOFError, OSError, pa.ArrowException) as error:
        raise damaged(file, error) from error
    shown = {"cp1252": "Latin-1 (Windows-1252)"}.get(encoding, encoding.upper())
    if encoding != "utf-8":
        file.notes = (f"{file.name} is not in UTF-8; it was read as {shown}.",)
    file.path, file.compression = str(target), "none"


def _control(error: UnicodeError) -> tuple[str, int]:
    """Read the five bytes that Windows-1252 leaves open as Latin-1 does."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


def _register() -> None:
    import codecs

    codecs.register_error("c1-control", _control)


_register()


def _read_head(file: LogFile, text: str, is_cut: bool, wanted: tuple[str, ...]) -> None:
    first = text.lstrip()[:1]
    if first == "[" and _looks_like_json(text):
        file.kind = "json array"
    elif first == "{":
        file.kind = "json"
    if file.kind != "csv":
        file.columns = _keys(text, is_cut)
        return
    file.dialect, records = _dialect(text, is_cut, wanted)
    file.columns = tuple(cell.strip() for cell in records[0])
    if (
        not file.columns[-1]
        and len(file.columns) > 1
        and len(records) > 1
        and not any(row[-1:] == [""] for row in records[1:])
    ):
        file.columns = file.columns[:-1]  # a delimiter at the end of the header alone


def _looks_like_json(text: str) -> bool:
    return re.match(r"\s*\[\s*(\{|\])", text) is not None


def _keys(text: str, is_cut: bool) -> tuple[str, ...]:
    keys: dict[str, None] = {}
    lines = text.splitlines()[: -1 if is_cut else None]
    for line in lines[:1000]:
        try:
            row = json.loads(line.strip().strip("[],") if line.strip() not in ("[", "]") else "null")
        except ValueError:
            continue
        if isinstance(row, dict):
            keys.update(dict.fromkeys(row))
    if not keys:
        decoder = json.JSONDecoder()
        try:  # an array on one line, or over several lines a row
            start = text.index("{")
            for _ in range(100):
                row, end = decoder.raw_decode(text, start)
                keys.update(dict.fromkeys(row))
                start = text.index("{", end)
        except ValueError:
            pass
    return tuple(keys)


def _reader(lines: Iterable[str], dialect: Dialect) -> Any:
    doubled = dialect.escape == dialect.quote
    return csv.reader(
        lines,
        delimiter=dialect.delimiter,
        quotechar=dialect.quote,
        doublequote=doubled,
        escapechar=None if doubled else dialect.escape,
    )


def _dialect(text: str, is_cut: bool, wanted: tuple[str, ...]) -> tuple[Dialect, list[list[str]]]:
    """Return how a text is written: the delimiter by which most rows have as many cells as the first."""
    body = text.lstrip("\r\n")
    skip = len(text[: len(text) - len(body)].splitlines())
    quote, escape = '"', '"'
    if re.search(r"(^|[,;\t|])'[^'\n]*'($|[,;\t|])", body, re.MULTILINE) and '"' not in body:
        quote = escape = "'"
    elif '\\"' in body and '""' not in body.replace(',""', ""):
        escape = "\\"
    best: tuple[tuple[bool, float, int], Dialect, list[list[str]]] | None = None
    for delimiter in _DELIMITERS:
        dialect = Dialect(delimiter, quote, escape, skip)
        records = []
        try:
            for row in _reader(io.StringIO(body, newline=""), dialect):
                if row:
                    records.append(row)
                if len(records) > 1000:
                    break
        except csv.Error:
            pass
        if is_cut and 1 < len(records) <= 1000:
            records.pop()
        if not records or (len(records[0]) < 2 and delimiter != ","):
            continue
        header = [cell.strip().casefold() for cell in records[0]]
        has_wanted = bool(wanted) and all(name.strip().casefold() in header for name in wanted)
        same = sum(len(row) == len(records[0]) for row in records) / len(records)
        mark = (has_wanted, same if len(records[0]) > 1 else 0.0, len(records[0]) if delimiter != " " else 0)
        if best is None or mark[:2] > best[0][:2]:
            best = mark, dialect, records
    assert best is not None
    return best[1], best[2]
