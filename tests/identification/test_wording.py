"""One voice: sentences about a verdict are made by `identification/wording`, and other modules only show them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import bestarm
from bestarm.identification.wording.verdict import Words

SOURCE = Path(bestarm.__file__).parent
WORDING = SOURCE / "identification" / "wording"
ROOMS = ("identification", "live", "log", "cli")
# What only a verdict says.
PHRASES = (
    *("highest mean of", "is named", "be named", "named among", "single out", "single it out", "singled out"),
    *("comes first", "is ahead", "ruled out", "undecided so far", "wrong with probability", "probability at most"),
    *("is claimed", "contradict", "no mean fits", "overturn it", "overturn this", "would decide it", "p-value {"),
    *("p = {", "the question to ask", "The answer stands"),
)
HELP = ("help", "epilog", "short_help")


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the strings of a module, but no docstrings and no help of commands: those explain, and say nothing."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.keyword) and node.arg in HELP:
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.JoinedStr):
            parts = (str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield node.lineno, "".join(parts)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        yield from texts(node)


def found(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [f"{path.name}:{line}: {text}" for line, text in texts(tree) if any(phrase in text for phrase in PHRASES)]


@pytest.mark.parametrize("room", ROOMS)
def test_nothing_but_wording_phrases_a_verdict(room: str) -> None:
    files = [path for path in sorted((SOURCE / room).rglob("*.py")) if WORDING not in path.parents]
    assert files
    assert [sentence for path in files for sentence in found(path)] == []


def test_the_phrases_are_those_of_the_wording() -> None:
    said = " ".join(text for path in WORDING.glob("*.py") for _, text in texts(ast.parse(path.read_text("utf-8"))))
    assert [phrase for phrase in PHRASES if phrase not in said] == []


def test_a_result_and_its_words_say_the_same() -> None:
    finder = bestarm.Identifier(["A", "B"], delta=0.1, epsilon=0.05, bounds=(0, 1))
    finder.tell_many(["A", "B"] * 100, [1.0, 0.0] * 100)
    words = Words(finder.result)
    assert str(finder.result) == words.everything() == words.verdict()
    assert words.claim("A") == "A has the highest mean of 2 arms"
    assert words.first == "A"
