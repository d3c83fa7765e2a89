"""Hooks of MkDocs: README as the home page, pages of the Python interface, links to files outside docs/.

Pages are written for readers of the repository: links to other pages and files are relative. Files outside docs/ that
pages link to become pages of the site: a page of the root as it is, a source file as a page that shows it.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))  # mkdocs runs this file, and not as a module of the package docs
from docs import api  # noqa: E402

LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
ORDERED = ("tutorial", "guide", "explanation", "reference")
OUTPUT = re.compile(r"^```text\n(.*?)^```$", re.M | re.S)
NAME = re.compile(r"(?<!\[)`ba\.([\w.]+)`(?!\])")
LANGUAGES = {".py": "python", ".toml": "toml", ".yml": "yaml"}


def site_path(path: str) -> str:
    """Return the path of the page that a file of the repository has in the site."""
    if path == "README.md":
        return "index.md"
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"project/{path}" if path.endswith(".md") else f"project/{path}.md"


def repository_path(page: str) -> str:
    """Return the file of the repository that a page of the site comes from."""
    if page == "index.md":
        return "README.md"
    if page.startswith("project/"):
        path = page.removeprefix("project/")
        return path if (ROOT / path).exists() else path.removesuffix(".md")
    return f"docs/{page}"


def targets(path: str, text: str) -> set[str]:
    """Return the files of the repository outside docs/ that a page links to."""
    found = {os.path.normpath(Path(path).parent / link) for _, link, _ in LINK.findall(text)}
    return {target for target in found if not target.startswith(("docs/", "..")) and (ROOT / target).is_file()}


def page_text(path: str) -> str:
    """Return the text of the page for a file of the root: a page as it is, another file in a block of code."""
    text = (ROOT / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    language = LANGUAGES.get(Path(path).suffix, "text")
    return f'# {Path(path).name}\n\n`{path}`\n\n````{language} linenums="1"\n{text}````\n'


def on_config(config: Any) -> Any:
    """Add pages that mkdocs.yml does not list, and those of the Python interface, to the navigation."""
    for section in config.nav:
        ((title, entries),) = section.items()
        listed = [entry for entry in entries if isinstance(entry, str)] if isinstance(entries, list) else []
        folder = listed[0].split("/")[0] if listed else ""
        if folder in ORDERED:
            entries += sorted({f"{folder}/{path.name}" for path in (ROOT / "docs" / folder).glob("*.md")} - set(listed))
        if title == "Reference":
            pages = [f"reference/api/{area.slug}.md" for area, _ in api.areas()]
            entries.append({"Python interface": ["reference/api/index.md", *pages]})
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are not in docs/."""
    made = {"reference/api/index.md": api.index()}
    made |= {f"reference/api/{area.slug}.md": api.page(area, names) for area, names in api.areas()}
    unread = {"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"}
    for file in files.documentation_pages():
        unread |= targets(f"docs/{file.src_uri}", file.content_string)
    while unread:
        path = unread.pop()
        made[site_path(path)] = page_text(path)
        if path.endswith(".md"):
            unread |= {target for target in targets(path, made[site_path(path)]) if site_path(target) not in made}
    for page, text in made.items():
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Files) -> str:
    """Rewrite links between files of the repository as links between pages of the site."""
    uri = page.file.src_uri
    if uri.startswith("reference/api/"):
        return markdown
    source = repository_path(uri)
    if uri.startswith("project/") and not source.endswith(".md"):
        return markdown  # a source file has no links

    def rewritten(match: re.Match[str]) -> str:
        target = os.path.normpath(Path(source).parent / match[2])
        if not (ROOT / target).is_file():
            return match[0]
        there = target.removeprefix("docs/") if target.endswith((".png", ".svg")) else site_path(target)
        return match[1] + os.path.relpath(there, Path(uri).parent) + match[3]

    return OUTPUT.sub(_with_wrapping, _with_references(LINK.sub(rewritten, markdown)))


def _with_references(markdown: str) -> str:
    """Link the public names in a page's text to the reference."""
    parts = re.split(r"(^```.*?^```$)", markdown, flags=re.M | re.S)
    for index in range(0, len(parts), 2):
        parts[index] = NAME.sub(lambda found: _reference(found[0], found[1]), parts[index])
    return "".join(parts)


def _reference(code: str, name: str) -> str:
    return f"[{code}][bestarm.{name}]" if f"bestarm.{name}" in api.known() else code


def _with_wrapping(match: re.Match[str]) -> str:
    """Wrap long sentences on the screen, but not tables."""
    text = match[1]
    if max(map(len, text.splitlines()), default=0) <= 120 or "---" in text or "  " in text:
        return match[0]
    return f"```{{.text .wrap}}\n{text}```"
