"""Documentation that is checked: generated pages are current, the README's example prints what it says."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from bestarm.methods import METHODS
from places import ROOT

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


def test_the_examples_of_the_readme_are_short() -> None:
    examples = re.findall(r"```python\n(.*?)```", README, re.S)
    assert len(examples) == 3  # a file of visits, its answer, an experiment
    assert all(len(example.strip().splitlines()) <= 12 for example in examples)


WRITTEN = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
SLOW = {"attacks", "cluster", "contamination", "planning", "reproduce", "rigged-contest", "studies"}  # many seconds
SLOW |= {"own-method", "own-scenario"}
SHOWN = ("bibtex", "json", "text")  # what is printed, or looked at: the only blocks besides those that run


def needs(path: Path) -> list[Any]:
    """What has to be installed for a page: Ibis is in an environment of its own, that of `make test-warehouse`."""
    has_ibis = importlib.util.find_spec("ibis") is not None
    return [pytest.mark.skipif(not has_ibis, reason="needs Ibis: make test-warehouse")] * (path.stem == "warehouse")


def pages_with_examples() -> list[Any]:
    return [
        pytest.param(str(path.relative_to(ROOT)), marks=[*[pytest.mark.slow] * (path.stem in SLOW), *needs(path)])
        for path in WRITTEN
        if re.search(r"^ *```(python|sh|toml)$", path.read_text(encoding="utf-8"), re.M)
    ]


@pytest.mark.parametrize("page", pages_with_examples())
def test_the_examples_of_a_page_run_and_print_what_it_says(page: str) -> None:
    """`python -m docs.examples --write PAGE` writes what they print into the page."""
    words = [sys.executable, "-W", "error", "-m", "docs.examples", page]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_every_block_of_code_is_one_that_runs_or_says_why_not() -> None:
    from docs.examples import BLOCK

    run = 0
    for path in WRITTEN:
        text = path.read_text(encoding="utf-8")
        found = list(BLOCK.finditer(text))
        fences = re.findall(r"^( *)```(\S*)$", text, re.M)[::2]
        assert [(indent, kind) for indent, kind in fences if kind not in SHOWN] == [("", m["language"]) for m in found]
        for match in found:
            note = match["note"] or ""
            assert note == "" or re.match(r"not run: \w.{10}|a file of its own$|saved as \S+$", note), path
            for named in re.findall(r"tests/[\w/]+\.py", note):
                assert (ROOT / named).exists()
            run += not note.startswith("not run")
    assert run > 40


@pytest.mark.parametrize(
    "name", [pytest.param("own-method", marks=pytest.mark.slow), "own-arm", "own-adversary", "own-experiment"]
)
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


def test_the_readme_names_the_two_commands_and_shows_a_picture() -> None:
    assert "make run" in README
    assert "make test" in README
    (picture,) = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert (ROOT / picture).stat().st_size > 10_000


@pytest.mark.parametrize(
    "page",
    sorted(
        str(path.relative_to(ROOT))
        for path in ROOT.glob("**/*.md")
        if not str(path.relative_to(ROOT)).startswith(".venv")
    ),
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


NAMED = re.compile(r"`((?:[\w.-]+/)*[\w-]+\.(?:py|toml|yml|template|txt))`")
OWN = {"scenario.toml", "clicks.toml"}  # files that readers write


def test_files_that_pages_name_are_there() -> None:
    """A page may name a file by the end of its path: `radii.py`, `kernels/radii.py`."""
    folders = ("src", "tests", "docs", "benchmarks")
    paths = [f"/{path.relative_to(ROOT)}" for name in folders for path in (ROOT / name).rglob("*") if path.is_file()]
    paths += [f"/{path.name}" for path in ROOT.iterdir()]
    missing = {
        (str(page.relative_to(ROOT)), name)
        for page in WRITTEN
        for name in NAMED.findall(page.read_text(encoding="utf-8"))
        if name not in OWN and not any(path.endswith(f"/{name}") for path in paths)
    }
    assert missing == set()


UNWRAPPED = {"methods.md", "cli.md", "CHANGELOG.md"}  # generated, or written by many


def test_lines_of_pages_are_short() -> None:
    """Prose has at most 160 characters in a line, a table row at most 600; printed output is exempt."""
    for page in WRITTEN:
        prose = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
        for line in prose.splitlines() if page.name not in UNWRAPPED else ():
            assert len(line) <= (600 if line.startswith(("|", "![")) else 160), (page, line)


def test_the_map_draws_every_room_in_its_layer() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    (drawing,) = re.findall(r"```text\n(.*?)```", (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8"), re.S)
    drawn = re.split(r"^ \d+ ", drawing, flags=re.M)[1:]
    rooms = [re.findall(r"\w+", layer) for layer in contract["layers"]]
    assert len(drawn) == len(rooms)
    for layer, names in zip(drawn, rooms, strict=True):
        assert [name for name in names if not re.search(rf"\b{name}\b", layer)] == []


def test_functions_of_the_tour_are_where_it_says() -> None:
    page = (ROOT / "docs" / "explanation" / "engine.md").read_text(encoding="utf-8")
    rows = re.findall(r"\| \[\S+\]\(\.\./\.\./(\S+)\) \| `(\w+)` \|$", page, re.M)
    assert len(rows) >= 6
    for file, function in rows:
        assert f"\ndef {function}(" in (ROOT / file).read_text(encoding="utf-8"), (file, function)


def test_names_in_the_glossary_are_there() -> None:
    import bestarm as ba

    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    homes: dict[str, Any] = {"ba": ba, "Result": ba.Result, "ArmRow": ba.ArmRow, "Trials": ba.Trials}
    found = re.findall(r"`(ba|Result|ArmRow|Trials)\.([\w.]+)`", page)
    assert len(found) > 30
    for home, name in found:
        value = homes[home]
        for part in name.split("."):
            fields = getattr(value, "__dataclass_fields__", {})
            assert hasattr(value, part) or part in fields, f"{home}.{name}"
            value = getattr(value, part, None)
    options = {option.name for method in METHODS.values() for option in method.options}
    assert set(re.findall(r"option `(\w+)`", page, re.I)) <= options
    assert set(re.findall(r'`method="([\w-]+)"`', page)) == set(METHODS) - {"certified"}


# ---------------------------------------------------------------------------------------- references that point nowhere


CERTIFIED = ROOT / "docs" / "explanation" / "certified.md"
SECTIONS = re.compile(r"(?<!RFC \d{4}, )\bsections? (\d+(?:(?:,| and| to|, and) \d+)*)(?!\.\d)", re.I)
# Papers that nobody has: "notes 4(a)", "design: the house", "evidence.md section 3".
LOST = re.compile(r"\bnotes \d|\b(?:notes|design|evidence)\.md\b|\bdesign:", re.I)
MADE_WITH_THE_SITE = {"index.md", "adversaries.md"}


def written() -> dict[str, str]:
    """Return the text of each file that people write and read, but for this one."""
    paths = [path for folder in ("src", "tests", "docs", "benchmarks") for path in (ROOT / folder).rglob("*")]
    paths = [*paths, *ROOT.glob("*.md"), ROOT / "mkdocs.yml"]
    return {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
        for path in paths
        if path.suffix in (".py", ".md", ".toml", ".template", ".yml") and path.is_file() and path != Path(__file__)
    }


def sections_cited(text: str) -> set[int]:
    return {int(number) for group in SECTIONS.findall(text) for number in re.findall(r"\d+", group)}


def test_the_sections_that_are_cited_exist() -> None:
    """Whoever says "section 9" means that of the page on the certified method, the only one with numbers."""
    there = {int(number) for number in re.findall(r"^## (\d+)\. ", CERTIFIED.read_text(encoding="utf-8"), re.M)}
    assert there == set(range(1, len(there) + 1))
    files = written()
    assert sections_cited(files["src/bestarm/log/evidence.py"]) >= {3, 4, 13}  # they are found
    assert {name: sections_cited(text) - there for name, text in files.items() if sections_cited(text) - there} == {}


def test_sections_are_found_in_all_the_ways_they_are_cited() -> None:
    assert sections_cited("section 9; (sections 3 to 6 and 13), Section 5. sections 9, 10 and 12") == {
        *(3, 5, 6, 9, 10, 12, 13)
    }
    assert sections_cited("as in RFC 8878, section 3.1, and in this section") == set()


def test_nothing_refers_to_papers_that_are_not_here() -> None:
    assert {name: LOST.findall(text) for name, text in written().items() if LOST.search(text)} == {}
    for lost in ("see notes 4(a)", "notes.md", "in design.md", "# design: the house", "evidence.md section 3"):
        assert LOST.search(lost)


def test_every_page_that_is_named_is_there() -> None:
    there = {path.name for path in (*(ROOT / "docs").rglob("*.md"), *(ROOT / "benchmarks").rglob("*.md"))}
    there |= {path.name for path in ROOT.glob("*.md")} | MADE_WITH_THE_SITE
    files = {name: text for name, text in written().items() if not name.startswith("tests/")}  # which make pages
    named = {name: set(re.findall(r"[\w-]+\.md\b(?!\.)", text)) - there for name, text in files.items()}
    assert {name: pages for name, pages in named.items() if pages} == {}
