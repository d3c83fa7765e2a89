"""The documentation site: strict, complete, and opened from a folder in Chromium it asks for nothing outside."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import bestarm
from places import ROOT

LOADS = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "link": "href",
    "form": "action",
}
# Addresses in the theme's scripts, for what no page has: diagrams, a link to the repository, a very old browser.
DORMANT = {"unpkg.com/mermaid", "unpkg.com/resize-observer-polyfill", "api.github.com"}
CREDITS = {"lunrjs.com", "tartarus.org", "bit.ly", "clipboardjs.com"}  # in comments and messages


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if path.name != "404.html")


class Reader(HTMLParser):
    """What a page would load, and its anchors."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.classes: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in LOADS and given.get(LOADS[tag]):
            self.loads.append(str(given[LOADS[tag]]))
        self.loads += (given.get("srcset") or "").split()
        self.anchors.add(given.get("id") or "")
        self.classes |= set((given.get("class") or "").split())


def test_nothing_is_loaded_from_outside(site: Path, pages: list[Path]) -> None:
    assert len(pages) > 30
    for page in pages:
        read = Reader(page.read_text(encoding="utf-8"))
        assert [address for address in read.loads if re.match(r"(https?:)?//", address)] == [], page
        assert read.loads
        assert "mermaid" not in read.classes
    for path in [*pages, *site.rglob("*.css")]:
        text = path.read_text(encoding="utf-8")
        assert re.findall(r"""(?:url\(|@import)\s*["']?(?:https?:)?//[^)]*""", text) == [], path
    used = [
        *site.glob("assets/*.js"),
        *site.glob("assets/javascripts/*.js"),
        *site.glob("assets/javascripts/workers/*.js"),
    ]
    assert len(used) == 3
    scripts = " ".join(path.read_text(encoding="utf-8") for path in used)  # others are for search in other languages
    found = set(re.findall(r"https?://([\w.-]+(?:/[\w-]+)?)", scripts))
    known = DORMANT | CREDITS
    assert {address for address in found if not any(address.startswith(name) for name in known)} == set()


def test_every_public_name_is_on_a_page(pages: list[Path]) -> None:
    anchors = set().union(*(Reader(page.read_text(encoding="utf-8")).anchors for page in pages))
    missing = []
    for name in bestarm.__all__:
        value = getattr(bestarm, name)
        if name == "__version__" or (inspect.isclass(value) and issubclass(value, Exception)):
            continue  # errors have a page of their own, see below
        wanted = [name]
        if inspect.ismodule(value):
            members = getattr(value, "__all__", None) or [
                member
                for member, found in vars(value).items()
                if not member.startswith("_") and getattr(found, "__module__", "") == value.__name__
            ]
            wanted += [f"{name}.{member}" for member in members]
            assert len(wanted) > 2
        missing += [full for full in wanted if not {f"bestarm.{full}", _home(full)} & anchors]
    assert missing == []


def _home(name: str) -> str:
    """Return the full name where an object is defined: `datasets.pkis2` is a module too."""
    value = bestarm
    for part in name.split("."):
        value = getattr(value, part)
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__name__', '')}"


def test_every_error_has_a_section() -> None:
    page = (ROOT / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("*.py"))
    classes = re.findall(r"^class (\w+(?:Error|Warning))\(", sources, re.M)
    assert {"InputError", "StoreError", "DecidedError", "LateError"} <= set(classes)
    for name in classes:
        assert f"\n## {name}\n" in page
        section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
        assert "**What to do:**" in section, name


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_open_from_a_folder_and_fit_the_screen(width: int, browser: Any, pages: list[Path]) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, offline=True)
    page = context.new_page()
    messages: list[str] = []
    requests: set[str] = set()
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.add(request.url.split(":")[0]))
    wide = []
    for path in pages:
        page.goto(path.as_uri())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wide.append(path.name)
        assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)"), path
    context.close()
    assert wide == []
    assert messages == []
    assert requests <= {"file", "data", "about"}


def test_the_search_works_from_a_folder(browser: Any, site: Path) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    page = context.new_page()
    page.goto((site / "index.html").as_uri())
    query = page.locator("[data-md-component=search-query]")
    query.click()
    query.press_sequentially("elimination_radius")
    first = page.locator(".md-search-result__link").first
    first.wait_for(timeout=20_000)
    assert "reference/api/theory.html" in first.get_attribute("href")
    context.close()
