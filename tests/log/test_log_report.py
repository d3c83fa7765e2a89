"""The report on a log: what is on the page is what the result says, whatever the labels are, on any screen."""

from __future__ import annotations

import hashlib
import html
import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from bestarm.errors import InputError
from bestarm.identification.finding import Finding
from bestarm.identification.pictures import WINNER
from bestarm.identification.wording.log_page import PageWords
from bestarm.identification.wording.log_verdict import LogWords
from bestarm.identification.wording.text import share_shown
from bestarm.log.picture import FOUND, ranked_rows
from bestarm.log.report import check_place, draw, write_report
from bestarm.log.result import LogResult
from bestarm.log.rewards import Rewards
from bestarm.log.trust import with_findings
from bestarm.log.verdict import identify_log
from contest import BEST, law, write_contests

COMMAND = "bestarm identify votes.csv --epsilon 0.01 --bounds 1,5 --report <page>.html"
ODD = (
    "<script>alert('x')</script>",
    'a "quoted" & ' + "very " * 200 + "long label",
    "$5 or $x^{$",
    "日本語",
    "a | *b*\n# c",
)


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write_contests(tmp_path_factory.mktemp("logs"), "winner", "none", "sources")


@pytest.fixture(scope="module")
def results(logs: dict[str, Path]) -> dict[str, LogResult]:
    columns: dict[str, Any] = {"arm": "caption", "reward": "stars", "bounds": (1, 5)}
    random = np.random.default_rng(19)
    wild = Rewards(("A", "B"), tuple(np.sort(random.normal(mean, 3, 2000)) for mean in (0, 2)), None)
    return {
        "winner": identify_log(logs["winner"], epsilon=0.01, **columns),
        "none": identify_log(logs["none"], epsilon=0.08, bounds=(1, 5)),
        "sources": identify_log(logs["sources"], source="voter", epsilon=0.015, **columns),
        "alarm": identify_log(wild, epsilon=0.01, sigma=1.0),
        "odd": odd_result(),
        "replay": identify_log(logs["winner"], epsilon=0.01, sequential=True, contamination="share-of-arm", **columns),
    }


def odd_result() -> LogResult:
    random = np.random.default_rng(3)
    labels = [*ODD, *(f"caption {index}" for index in range(495))]
    shares = np.where(np.arange(500) == 0, 0.9, 0.2 + 0.3 * random.random(500))
    frame = pd.DataFrame({"arm": np.repeat(labels, 60), "reward": random.binomial(1, np.repeat(shares, 60)) * 1.0})
    frame.loc[3, "reward"] = np.nan
    return identify_log(frame, epsilon=0.0001, bounds=(0, 1), missing="replaced")


@pytest.fixture(scope="module")
def pages(results: dict[str, LogResult], logs: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    for name, result in results.items():
        for ending in ("html", "md"):
            place = folder / f"{name}.{ending}"
            write_report(result, place, command=COMMAND, logs=[logs[name]] if name in logs else ())
    return folder


def words_of(path: Path) -> str:
    """Return the text of a page, tags and escapes taken off."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return re.sub(r"\\([\\`*_\[\]<>|~#$&{}])", r"\1", text)
    return html.unescape(re.sub(r"<[^>]+>", " ", text.partition("<main>")[2]))


# ------------------------------------------------------------------------------------------------------------- contents


@pytest.mark.parametrize("ending", ["html", "md"])
@pytest.mark.parametrize("name", ["winner", "none", "sources"])
def test_the_numbers_are_those_of_the_result(
    name: str, ending: str, pages: Path, results: dict[str, LogResult], logs: dict[str, Path]
) -> None:
    words, result = words_of(pages / f"{name}.{ending}"), results[name]
    sentence = str(result)
    assert sentence[0].upper() + sentence[1:] in words
    assert result.overturn is not None
    assert result.tolerance is not None
    for row in result.arms:
        assert f"{result.means[row.label]:.3f}" in words
        assert f"{row.lower:.3f} to {row.upper:.3f}" in words
        assert f"{row.pulls:,}" in words
    decimals = 3 - math.floor(math.log10(max(map(abs, result.leads.values()))))  # four digits of the largest
    for lead in result.leads.values():
        assert f" {lead:.{decimals}f} " in words
    assert f"{share_shown(result.tolerance)} ({share_shown(100 * result.tolerance)} %)" in words
    assert f"{result.overturn:,} {'dishonest sources' if name == 'sources' else 'replaced rewards'}" in words
    assert f"at most {100 * result.epsilon:g} % (that is, {result.replaced:,})" in words
    assert hashlib.sha256(logs[name].read_bytes()).hexdigest() in words
    assert COMMAND in words
    for part in result.promise.split("; "):
        assert part[1:] in words
    for sentence in result.health.sentences():
        assert sentence in words
    for version in ("bestarm 0.", "Python 3.", "numpy 2."):
        assert version in words


def test_the_answer_comes_first_and_says_no_more_than_is_proved(pages: Path, results: dict[str, LogResult]) -> None:
    winner, none, sources = (words_of(pages / f"{name}.html") for name in ("winner", "none", "sources"))
    order = ["The answer", "The picture", "What if more is fake?", "What inspection found", "The arms", "The question"]
    order += ["Data health", "What it rests on", "How to repeat it"]
    places = [winner.index(f" {heading} ") for heading in order]
    assert places == sorted(places)
    assert winner.split(" The answer ")[1].startswith(f"\n  {results['winner'].lines[0]}")
    assert "More might overturn it, or might not." in winner
    assert none.split(" The answer ")[1].startswith(f"\n  {results['none'].lines[0]}")
    assert "'B' would be singled out as the best if epsilon were at most 0.0043 (0.43 %), or with at most 129" in none
    assert "give it as the source" in none
    assert "That the arms are equally good" in none
    assert "of the 3,490 sources, at most 1.5 % (that is, 52) are dishonest" in sources
    assert "a source counts once for an arm" in sources
    assert "The column 'caption' was taken for the arm" in none
    assert "Nothing had to be guessed" in winner


@pytest.mark.parametrize("name", ["winner", "sources", "none"])
def test_the_table_over_epsilon_is_the_sensitivity(name: str, pages: Path, results: dict[str, LogResult]) -> None:
    result = results[name]
    text = (pages / f"{name}.md").read_text(encoding="utf-8")
    part = text[text.index("| epsilon |") : text.index("The marked line")]
    rows = [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in part.strip().splitlines()[2:]]
    for row in result.sensitivity:
        mine = next(line for line in rows if float(line[0].split(" to ")[-1]) >= row.epsilon)
        assert mine[2] == (f"{row.best} is named" if row.best is not None else mine[2])
        assert mine[2].startswith("none: ") == (row.best is None)
        assert mine[3].split(", ")[0].split(" and ")[0] == row.candidates[0]
    own = next(line for line in rows if line[0] == f"{result.epsilon:g}")
    assert own[1] == f"{result.replaced:,}"
    assert f"| **{result.epsilon:g}** |" in part


def test_an_alarm_is_seen_and_takes_all_claims_back(pages: Path, results: dict[str, LogResult]) -> None:
    words, result = words_of(pages / "alarm.html"), results["alarm"]
    assert "contradict the assumptions, so no probability is claimed. Do not rely on it." in words
    assert '<div class="answer doubted">' in (pages / "alarm.html").read_text(encoding="utf-8")
    assert "Green" not in words
    for index, alarm in enumerate(result.alarms):
        assert words.count(alarm[1:]) == (2 if index else 3)  # with the answer (the first in its lines) and assumptions
    for claim in ("hold together", "leads by at least", "p-value", "overturn", "right together"):
        assert claim not in words
    assert "no mean fits" in words
    assert "if all of this is true, which it is not" in words
    assert result.plot().axes[0].get_title(loc="left").startswith("mean of each arm")
    assert len(draw(result).axes) == 2  # intervals and curve


def test_a_replay_says_what_it_used_and_claims_no_lines_together(pages: Path, results: dict[str, LogResult]) -> None:
    words, result = words_of(pages / "replay.html"), results["replay"]
    assert f"{result.pulls:,} were used, and {result.ignored:,} ignored" in words
    assert "they came after the decision" in words
    assert "right together" not in words
    assert "sequential" in words
    assert f"could there be more than {result.overturn} replaced reward" in words
    bare = replace(result, sensitivity=())
    assert len(draw(bare).axes) == 2
    assert LogWords(bare).overturn() == f"{result.overturn} replaced reward{'s' * (result.overturn != 1)} on an arm"


def test_methods_that_prove_nothing_are_said_to(results: dict[str, LogResult], tmp_path: Path) -> None:
    bare = replace(results["replay"], method="mean-se", proved=False, leads={}, p_value=None, tolerance=None)
    write_report(bare, tmp_path / "page.html")
    words = words_of(tmp_path / "page.html")
    assert "mean-se proves nothing about how often this is wrong" in words
    assert "nobody has proved it" in words
    assert "hold together" not in words


def test_few_rewards_say_what_would_help_and_good_enough_how_near(tmp_path: Path) -> None:
    random = np.random.default_rng(17)
    tapes = tuple(np.sort(random.choice(np.arange(1.0, 6.0), 400, p=law(mean))) for mean in (3.2, 3.0, 1.5))
    log = Rewards(("A", "B", "C"), tapes, None)
    result = identify_log(log, epsilon=0.001, bounds=(1, 5))
    assert result.more
    result.report(tmp_path / "open.md")
    words = words_of(tmp_path / "open.md")
    for label, number in result.more.items():
        assert f"{number:,} of {label!r}" in words
    assert "nothing is known of the file" in words
    near = identify_log(log, epsilon=0.0, bounds=(1, 5), good_enough=1.0)
    near.report(tmp_path / "near.md")
    words = words_of(tmp_path / "near.md")
    assert f"{near.best!r} is within 1 of the highest mean of 3 arms" in words
    assert "no reward was replaced at all" in words
    assert "to overturn" not in words


# ------------------------------------------------------------------------------ without an epsilon, and with inspection


@pytest.fixture(scope="module")
def bare(logs: dict[str, Path]) -> LogResult:
    """The clean contest, about which no epsilon was given."""
    result = identify_log(logs["winner"], arm="caption", reward="stars", bounds=(1, 5))
    return replace(result, inspected=False, findings=(), doubts=())


def finding(rows: int, text: str) -> Finding:
    return Finding("busy sources", rows, 12, 0.1, text, details="They reward one arm, again and again")


def test_without_an_epsilon_none_is_said_to_be_asked_about(bare: LogResult, tmp_path: Path) -> None:
    for ending in ("html", "md"):
        bare.report(tmp_path / f"page.{ending}")
        words = words_of(tmp_path / f"page.{ending}")
        places = [words.index(line) for line in (*bare.lines, "What if more is fake?", "The question")]
        assert places == sorted(places)
        assert words.lstrip("# \n").startswith("winner.csv: which caption has the highest mean stars?")
        assert "epsilon = 0" not in words
        assert "epsilon is 0" not in words
        assert "The marked line" not in words
        claim = f"the claim is that 'A' is the best, or there are more than {bare.overturn:,} replaced rewards"
        assert f"No epsilon was given: {claim}." in words
        assert "Intervals and leads are those if nothing is fake." in words
        assert re.search(r"p-value \S+ if nothing is fake", words)
        assert "The log was not inspected" in words
    assert len(draw(bare).axes) == 3  # no curve over epsilon


def test_what_was_found_is_marked_and_only_what_is_trusted_is_green(bare: LogResult, tmp_path: Path) -> None:
    assert bare.overturn is not None
    few, many = finding(bare.overturn, "12 voters look like bots"), finding(bare.overturn + 1, "13 voters rush")
    pages = {}
    for name, found in {"clean": [], "survived": [few], "doubted": [few, many]}.items():
        result = with_findings(bare, found)
        result.report(tmp_path / f"{name}.html")
        pages[name] = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        colours = {line.get_color() for panel in draw(result).axes for line in panel.lines}
        assert (WINNER in colours) == result.trusted == (name != "doubted")
        lines = [line.get_xdata() for line in draw(result, arms=False).axes[0].lines if line.get_color() == FOUND]
        assert sorted(float(np.ravel(line)[0]) for line in lines) == [each.rows for each in found]
    for name, page in pages.items():
        assert ('<div class="answer named">' in page) == ("Green: the arm that is named" in page) == (name != "doubted")
    assert "Nothing in the file looks made up." in pages["clean"].partition('id="found"')[2]
    part = pages["doubted"].partition('id="found"')[2].partition("<h2")[0]
    assert "12 voters look like bots. They reward one arm, again and again. The answer survives that." in part
    assert "again and again. More than this answer survives: do not rely on the answer." in part
    assert '<div class="answer doubted">' in pages["doubted"]
    assert "Orange: the arm that is named, not to be relied on." in pages["doubted"]


@pytest.mark.parametrize("rate", [0.0603, 0.0617, 0.0642, 0.0664])
def test_a_lead_is_never_rounded_up(rate: float) -> None:
    counts = {"A": (20_000, round(20_000 * rate)), "B": (20_000, 1000)}
    table = pd.DataFrame(
        [(arm, all_, good) for arm, (all_, good) in counts.items()], columns=["page", "visits", "bought"]
    )
    result = identify_log(table, arm="page", successes="bought", visits="visits")
    (said,) = [text for text in PageWords(result).remarks() if text.startswith("It leads every other page by at least")]
    assert float(said.split()[8]) <= 100.0 * result.leads["B"] < float(said.split()[8]) + 0.1


def test_nobody_named_is_never_green(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    log = Rewards(("A", "B"), tuple(np.sort(random.choice(np.arange(1.0, 6.0), 200, p=law(3.0))) for _ in "AB"), None)
    result = identify_log(log, bounds=(1, 5))
    assert result.best is None
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '<div class="answer none">' in page
    assert "Green" not in page
    assert WINNER not in {line.get_color() for panel in draw(result).axes for line in panel.lines}


# ------------------------------------------------------------------------------------------- whatever is in the log


def test_labels_are_text_and_nothing_else(pages: Path) -> None:
    page = (pages / "odd.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;" in page
    assert "very " * 30 not in page
    assert max(map(len, re.sub(r'"data:[^"]*"', "", page).splitlines())) < 20_000
    text = (pages / "odd.md").read_text(encoding="utf-8")
    assert "\\<script\\>" in text
    assert re.search(r"(?<!\\)<", text.split("```")[0]) is None
    tables = [line for line in text.splitlines() if line.startswith("| ")]
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in tables} <= {3, 5, 7}


def test_of_many_arms_fifty_are_listed_and_the_leader_is_the_first(pages: Path, results: dict[str, LogResult]) -> None:
    page = (pages / "odd.html").read_text(encoding="utf-8")
    table = page.partition('id="arms"')[2].partition("</table>")[0]
    assert table.count("<tr") == 51
    assert "These are 50 of 500 arms: the other 450 are left out." in page
    assert "Of 500 arms, the first 25 are drawn" in page
    rows = ranked_rows(results["odd"])
    assert len(rows) == 500
    assert rows[0].label == results["odd"].leader == ODD[0]
    left = [row.label in results["odd"].candidates for row in rows]
    assert left == sorted(left, reverse=True)


@pytest.mark.parametrize("name", ["winner", "none", "sources", "alarm", "odd", "replay"])
def test_the_page_refers_to_nothing_outside(name: str, pages: Path) -> None:
    page = (pages / f"{name}.html").read_text(encoding="utf-8")
    assert re.search(r"https?://", page) is None
    for address in re.findall(r"(?:src|href|srcset|action|data|poster)\s*=\s*[\"']([^\"']*)", page):
        assert address.startswith(("data:", "#"))
    assert "url(" not in page
    assert "@import" not in page
    assert "<script" not in page
    assert re.search(r"\son\w+\s*=", re.sub(r'"[^"]*"', "", page)) is None
    assert page.count("<h1") == 1
    assert "$" not in re.sub(r'"data:[^"]*"', "", page).replace("$5 or $x^{$", "")


def test_the_same_result_gives_the_same_bytes(
    pages: Path, results: dict[str, LogResult], logs: dict[str, Path]
) -> None:
    before = {path.name: path.read_bytes() for path in pages.glob("winner.*")}
    assert set(before) == {"winner.html", "winner.md", "winner.png"}
    assert before["winner.png"][:8] == b"\x89PNG\r\n\x1a\n"
    for ending in ("html", "md"):
        results["winner"].report(pages / f"winner.{ending}", command=COMMAND, logs=[logs["winner"]])
    assert {path.name: path.read_bytes() for path in pages.glob("winner.*")} == before


def test_files_are_those_that_the_result_names_unless_told(
    results: dict[str, LogResult], logs: dict[str, Path], tmp_path: Path
) -> None:
    results["winner"].report(tmp_path / "a b.md")
    text = (tmp_path / "a b.md").read_text(encoding="utf-8")
    assert hashlib.sha256(logs["winner"].read_bytes()).hexdigest() in text
    assert "](a%20b.png)" in text
    assert "identify\\_log with the settings below" in text
    write_report(results["alarm"], tmp_path / "none.HTML", logs=[Path("-")])
    assert "There is no file to fingerprint" in (tmp_path / "none.HTML").read_text(encoding="utf-8")


def test_a_place_where_nothing_can_be_written_is_refused(results: dict[str, LogResult], tmp_path: Path) -> None:
    result = results["alarm"]
    with pytest.raises(InputError, match=r"report must end in \.html or \.md"):
        result.report(tmp_path / "page.pdf")
    with pytest.raises(InputError, match="report must be in a folder that is there"):
        result.report(tmp_path / "missing" / "page.html")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match="report must be a file"):
        check_place(tmp_path / "folder.html")
    (tmp_path / "page.png").mkdir()
    with pytest.raises(InputError, match="report must be a file that can be written"):
        result.report(tmp_path / "page.md")
    with pytest.raises(InputError, match="logs must be files that can be read"):
        result.report(tmp_path / "page.html", logs=[tmp_path / "gone.csv"])
    assert not (tmp_path / "page.html").exists()
    assert not (tmp_path / "page.md").exists()


def test_the_picture_shows_intervals_leads_and_the_curve(results: dict[str, LogResult]) -> None:
    result = results["winner"]
    intervals, leads, survival, curve = result.plot().axes
    assert next(tick.get_text() for tick in intervals.get_yticklabels()) == "A (3,750)"
    marks = [line.get_xdata() for line in leads.lines if line.get_marker() == "|"]
    assert [float(np.ravel(mark)[0]) for mark in marks] == pytest.approx(sorted(result.leads.values()))
    points = [
        (int(x), int(y))
        for line in curve.lines[:-1]
        for x, y in zip(np.ravel(line.get_xdata()), np.ravel(line.get_ydata()), strict=True)
    ]
    assert sorted(points) == [(place, len(row.candidates)) for place, row in enumerate(result.sensitivity)]
    evidence = survival.lines[0]
    assert list(np.ravel(evidence.get_xdata())) == [number for number, _ in result.survival]
    assert list(np.ravel(evidence.get_ydata())) == [max(value, 1e-12) for _, value in result.survival]
    assert survival.get_xlim()[0] == 0.0
    assert len(draw(result, tall=True).axes) == 4
    assert len(draw(result, arms=False).axes) == 2
    assert len(draw(result, curve=False, survival=False).axes) == 2
    named = [line for line in curve.lines if line.get_label() == "a winner is named"]
    assert np.size(named[0].get_xdata()) == sum(row.best == BEST for row in result.sensitivity)
    assert math.isclose(curve.get_ylim()[1], 1.08 * 8)


# -------------------------------------------------------------------------------------------------------------- browser


@pytest.mark.parametrize("name", ["winner", "none", "sources", "alarm", "odd"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_opens_offline_and_fits_the_screen(width: int, name: str, browser: Any, pages: Path) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844}, offline=True, java_script_enabled=True, color_scheme="dark"
    )
    page = context.new_page()
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: messages.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url.split(":")[0]))
    page.goto((pages / f"{name}.html").as_uri())
    page.wait_for_load_state("load")
    assert messages == []
    assert set(requests) <= {"file", "data"}
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    images = page.evaluate("[...document.images].map(image => [image.naturalWidth, image.alt, image.clientWidth])")
    shown = {"alarm": 2, "odd": 2}  # no evidence over the number of fakes: it is not enough even without any
    assert len(images) == shown.get(name, 3)
    assert all(natural > 0 and alt and 0 < shown <= width for natural, alt, shown in images)
    cut = "[...document.querySelectorAll('p, li, td, pre')].filter(e => e.getBoundingClientRect().right > innerWidth)"
    assert page.evaluate(f"{cut}.map(e => e.textContent)") == []  # tables are stacked, so that nothing scrolls sideways
    answer = page.locator(".answer").bounding_box()
    assert answer["y"] + answer["height"] < 1100  # without much scrolling
    context.close()


def test_the_page_is_printed_on_few_sheets(browser: Any, pages: Path) -> None:
    page = browser.new_page()
    page.goto((pages / "winner.html").as_uri())
    sheets = re.findall(rb"/Type\s*/Page\b", page.pdf(prefer_css_page_size=True))
    assert 2 <= len(sheets) <= 4
    page.close()
