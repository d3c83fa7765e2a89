"""Documentation that is checked: generated pages are current, the README's example prints what it says."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from bestarm.methods import METHODS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_generated_pages_are_current() -> None:
    code = (
        "from docs.generate import PAGES\n"
        "for path, page in PAGES.items():\n"
        "    if path.read_text(encoding='utf-8') != page(): print(path.name)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "", "run `make docs`"


def test_the_promises_on_the_page_of_guarantees_are_those_of_the_catalogue() -> None:
    page = (ROOT / "docs" / "explanation" / "guarantees.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"<!-- promises.*?-->\n(.*?)<!-- end of promises -->", page, re.S)
    rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()[2:]]
    found = {name: (promise, proved) for names, promise, proved in rows for name in re.findall(r"`([^`]+)`", names)}
    assert set(found) == set(METHODS)
    for name, (promise, proved) in found.items():
        options = {option.name: option.default for option in METHODS[name].options}
        assert promise == METHODS[name].promised(options)
        assert proved == ("yes" if METHODS[name].certifies else "no")


READING = re.compile(r"\breadings?\s+((?:#?\d+(?:\s*(?:,|and|to)\s*)?)+)", re.I)
LISTED = re.compile(r"\(#\d+(?:, #\d+)*\)")


def readings_cited() -> dict[int, set[str]]:
    """Numbers of readings that the sources name, as "reading #5", "readings 5 and 6" or "(#5, #6)", with the files."""
    cited: dict[int, set[str]] = {}
    for folder in ("src", "tests", "docs", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix not in (".py", ".md", ".toml", ".template") or not path.is_file():
                continue
            text = path.read_text(encoding="utf-8")
            groups = READING.findall(text) + LISTED.findall(text)
            for number in re.findall(r"\d+", " ".join(groups)):
                cited.setdefault(int(number), set()).add(str(path.relative_to(ROOT)))
    return cited


def test_every_reading_that_is_cited_has_a_row() -> None:
    page = (ROOT / "docs" / "explanation" / "readings.md").read_text(encoding="utf-8")
    rows = [int(number) for number in re.findall(r"^\| (\d+) \|", page, re.M)]
    assert rows == list(range(1, len(rows) + 1))
    cited = readings_cited()
    assert {5, 11, 16, 21} <= set(cited)  # the search finds something
    assert {number: files for number, files in cited.items() if number not in rows} == {}


def test_the_example_of_the_readme_prints_what_it_says() -> None:
    example, printed = re.findall(r"```(?:python|text)\n(.*?)```", README, re.S)[:2]
    assert len(example.strip().splitlines()) <= 12
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(example, "README.md", "exec"), {})
    assert out.getvalue() == printed


@pytest.mark.parametrize(
    "name",
    [
        "guide/workers",
        "guide/studies",
        "tutorial/choosing-a-prompt",
        pytest.param("guide/contamination", marks=pytest.mark.slow),
    ],
)
def test_the_examples_of_a_guide_print_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    examples = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.S)
    assert len(examples) == page.count("```python")
    for example, printed in examples:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(example, f"{name}.md", "exec"), names)
        assert out.getvalue() == printed


@pytest.mark.parametrize("name", ["own-method", "own-arm", "own-adversary", "own-experiment"])
def test_a_guide_to_something_of_your_own_runs_when_pasted_into_an_empty_folder(name: str, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "guide" / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", page, re.S)
    assert len(blocks) == page.count("```python")
    (tmp_path / "mine.py").write_text("\n".join(code for code, _ in blocks), encoding="utf-8")
    run = [sys.executable, "mine.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.stdout == "".join(printed for _, printed in blocks), done.stderr


def test_the_method_of_the_guide_is_30_lines() -> None:
    page = (ROOT / "docs" / "guide" / "own-method.md").read_text(encoding="utf-8")
    (body,) = re.findall(r"^class TopTwo:\n(?:(?: .*)?\n)+", page, re.M)[:1]
    assert len([line for line in body.splitlines() if line.strip()]) <= 30


@pytest.mark.parametrize("name", ["guide/rigged-contest", "guide/unknown-sigma-epsilon"])
def test_the_commands_of_a_guide_print_what_it_says(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python and shell in turns, in one folder; each block with its output below it."""
    command = tmp_path / "bin" / "bestarm"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m bestarm "$@"\n')
    command.chmod(0o755)
    environment = {**os.environ, "PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONIOENCODING": "utf-8"}
    environment.pop("COLUMNS", None)
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```(python|sh)\n(.*?)```\n\n```text\n(.*?)```", page, re.S)
    assert len(blocks) == page.count("```python") + page.count("```sh")
    for language, code, printed in blocks:
        words = [sys.executable, "-c", code] if language == "python" else ["sh", "-c", code]
        done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)
        assert done.stdout == printed, done.stderr


def test_the_readme_names_the_two_commands_and_shows_a_picture() -> None:
    assert "make run" in README
    assert "make test" in README
    (picture,) = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert (ROOT / picture).stat().st_size > 10_000


@pytest.mark.parametrize(
    "page", sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("**/*.md") if ".venv" not in path.parts)
)
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [target.split("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert [target for target in targets if target and not ((ROOT / page).parent / target).exists()] == []


def test_the_page_of_readings_names_those_that_the_report_judges_by() -> None:
    from bestarm.paper import READINGS

    page = (ROOT / "docs" / "explanation" / "readings.md").read_text(encoding="utf-8")
    guide = (ROOT / "docs" / "guide" / "reproduce.md").read_text(encoding="utf-8")
    for reading in READINGS:
        assert f"`{reading.name}`" in page
        assert f"`{reading.name}`" in guide
