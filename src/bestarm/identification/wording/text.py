"""How labels, numbers and counts are written in a sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from bestarm.problem import Label

_MOST_LABELS = 10
_MOST_LETTERS = 80  # of a label


def quoted(label: Label | None, most: int = _MOST_LETTERS) -> str:
    """Return a label in quotes, and not too long.

    >>> quoted("A"), len(quoted("A" * 200))
    ("'A'", 83)
    """
    text = repr(label)
    return text if len(text) <= most else f"{text[:most]}..."


def short(label: Label | None, most: int) -> str:
    """Return a label without quotes, with at most so many letters.

    >>> short("a very long label", 8)
    'a very …'
    """
    text = str(label)
    return text if len(text) <= most else text[: most - 1] + "…"


def printable(text: str) -> str:
    r"""Return a text on one line, with characters that cannot be seen, or turn others around, written as escapes.

    >>> printable("two\nlines\u202e")
    'two\\nlines\\u202e'
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def listed(labels: Sequence[Label], most: int = _MOST_LABELS) -> str:
    """Return the first few of many labels in quotes, and how many more there are.

    >>> listed(["A", "B", "C"], 2)
    "'A', 'B' and 1 more"
    """
    return with_rest([quoted(label) for label in labels[:most]], len(labels))


def with_rest(texts: Sequence[str], number: int) -> str:
    """Return texts with commas between them, and how many of `number` are not among them.

    >>> with_rest(["A", "B"], 5)
    'A, B and 3 more'
    >>> with_rest(["A", "B"], 2)
    'A and B'
    """
    *before, last = texts if len(texts) == number else [*texts, f"{number - len(texts):,} more"]
    return f"{', '.join(before)} and {last}" if before else last


def named_in_cell(labels: Sequence[Label], most: int = _MOST_LABELS) -> str:
    r"""Return the first few labels in quotes, for a cell of a table; each on one line, and not too long.

    >>> named_in_cell(["two\nlines", "B", "C"], 2)
    "'two lines', 'B', ..."
    """
    said = ", ".join(repr(in_cell(label)) for label in labels[:most])
    return said if len(labels) <= most else f"{said}, ..."


def in_cell(label: Label, most: int = 40) -> str:
    """Return a label on one line, without quotes, with at most so many letters."""
    text = " ".join(str(label).split())
    return text if len(text) <= most else text[: most - 3] + "..."


def counted(number: int, thing: str) -> str:
    """Return a number of things.

    >>> counted(1, "reward"), counted(2500, "reward")
    ('1 reward', '2,500 rewards')
    """
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def share_shown(share: float) -> str:
    """Return a share up to which something holds, with three digits and never rounded up.

    >>> share_shown(0.0000125), share_shown(0.115), share_shown(0.05239), share_shown(0.1), share_shown(0.0)
    ('0.0000125', '0.115', '0.0523', '0.1', '0')
    """
    if share <= 0.0:
        return "0"
    decimals = 2 - math.floor(math.log10(share))
    text = f"{math.floor(share * 10.0**decimals + 1e-6) / 10.0**decimals:.{max(decimals, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def rounded_down(value: float) -> float:
    """Return a number >= 0 with two digits, from below.

    >>> rounded_down(8.49), rounded_down(0.01999), rounded_down(123.0), rounded_down(0.0)
    (8.4, 0.019, 120.0, 0.0)
    """
    if value == 0.0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return round(math.floor(value / unit + 1e-9) * unit, 12)


def roughly(number: int) -> str:
    """Return a forecast, rounded up to two digits.

    >>> roughly(189_742), roughly(87), roughly(0)
    ('190,000', '87', '0')
    """
    unit = 10 ** max(len(str(number)) - 2, 0)
    return f"{-(-number // unit) * unit:,}"


def percent(share: float) -> str:
    """Return a share in percent.

    >>> percent(0.05)
    '5 %'
    """
    return f"{100.0 * share:.4g} %"


def number_shown(value: float, decimals: int | None = None) -> str:
    """Return a number for a table: a dash if there is none; four digits of it, or so many decimals.

    >>> number_shown(2.0 / 3.0), number_shown(0.0987, 5), number_shown(math.nan), number_shown(-math.inf)
    ('0.6667', '0.09870', '–', '−∞')
    """
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}" if decimals is None else f"{value:,.{decimals}f}"


def even_decimals(values: Iterable[float | None]) -> int:
    """Return the decimals that all numbers of a column are shown with: four digits of the largest.

    Where another is so small that it would be lost, there are up to two decimals for it.

    >>> even_decimals([0.0987, 0.2029, None]), even_decimals([1234.5, 1230.0]), even_decimals([20_000.0, 0.31])
    (4, 0, 2)
    """
    sizes = [abs(value) for value in values if value is not None and math.isfinite(value) and value != 0.0]
    if not sizes:
        return 0
    largest, smallest = (math.floor(math.log10(size)) for size in (max(sizes), min(sizes)))
    return min(max(3 - largest, min(1 - smallest, 2), 0), 8)


def capital(sentence: str) -> str:
    """Return a sentence with a capital letter at its beginning."""
    return sentence[:1].upper() + sentence[1:]
