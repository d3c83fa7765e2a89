"""Put doctests without a heading into a section "Examples" of their docstring, so that they are shown as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object


def headed(text: str) -> str:
    """Return a docstring with a heading above the first doctest, if it has none."""
    first = text.find(">>> ")
    if first < 0 or "\nExamples\n---" in text[:first]:
        return text
    start = text.rfind("\n\n", 0, first) + 2  # of the paragraph that the doctest begins, or belongs to
    if text[start:first].strip():
        return text
    before, example = text[:start], text[start:]
    section = re.search(r"\n\n(?=(Parameters|Returns|Attributes|Raises|Notes)\n-{3,})", example)
    rest = ""
    if section:
        example, rest = example[: section.start()], example[section.start() + 2 :] + "\n\n"
    return f"{before}{rest}Examples\n--------\n{example}"


class ExamplesExtension(Extension):
    """Add the heading to every docstring."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = headed(obj.docstring.value)
