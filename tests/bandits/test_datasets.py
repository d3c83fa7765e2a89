"""Loaders of real data: both layouts, every damage refused with its reason, and where a file may come from."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import importlib
import io
import math
import pickle
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pooch
import pytest

import bestarm as ba
from bestarm.bandits.datasets import captions, source
from places import DATA, ROOT, needs_files

screen_module = importlib.import_module("bestarm.bandits.datasets.pkis2")  # the attribute of that name is the function
SCREEN_PIN = screen_module.PIN


OLD = """target_id,rank,funny,somewhat_funny,unfunny,count,score,precision,contest,caption
7,1,3,1,0,4,2.75,0.2,700,"Yes, but
is it art?"
9,2,0,2,2,4,1.5,0.2,700,NA
8,3,0,1,3,4,1.25,0.2,700,«Encore» – again
"""
NEW = """rank,caption,mean,precision,votes,not_funny,somewhat_funny,funny
0,"Worse, at first",1.25,0.2,4,3,1,0
1,Better,2.75,0.2,4,0,1,3
2,As bad,1.25,0.2,8,6,2,0
"""
SCREEN = """\ufeffRegno,Compound,Chemotype,Smiles,>90,>80,>70,ACVRL1,ABL1-phosphorylated
G1,A,"x, y",C,0,0,0,50,0
G1,B,x,C,0,0,0,0,10
G2,C,x,C,1,1,1,100,20
G3,D,x,C,0,0,0,50,99.95
"""


@pytest.fixture(autouse=True)
def _nothing_of_this_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No folder of the user, an empty cache, and an address that nobody answers at."""
    monkeypatch.delenv("BESTARM_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(source, "cache_folder", lambda: tmp_path / "cache")
    aside(monkeypatch, "http://127.0.0.1:9")  # the discard port: nobody listens there


def aside(monkeypatch: pytest.MonkeyPatch, host: str, contest: str = OLD, screen: str = SCREEN) -> None:
    """Let contest 700 and the screen be pinned at an address of our own."""
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in (contest, screen)]
    monkeypatch.setitem(captions.PINS, 700, ("700_summary_KLUCB.csv", source.Pin(f"{host}/captions.csv", digests[0])))
    monkeypatch.setattr(screen_module, "PIN", source.Pin(f"{host}/screen.csv", digests[1]))


def written(folder: Path, text: str | bytes, name: str = "file.csv") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


# ------------------------------------------------------------------------------------------------------ caption contest


def test_the_old_layout_is_read_with_commas_and_line_breaks_in_captions(tmp_path: Path) -> None:
    contest = ba.datasets.caption_contest(700, path=written(tmp_path, OLD))
    assert contest.contest == 700
    assert contest.captions == ("Yes, but\nis it art?", "NA", "«Encore» – again")
    assert contest.counts.tolist() == [[0, 1, 3], [2, 2, 0], [3, 1, 0]]
    assert contest.means.tolist() == [2.75, 1.5, 1.25]
    assert (contest.size, contest.ratings) == (3, 12)
    assert repr(contest) == "<caption contest 700: 3 captions, 12 ratings>"


@pytest.mark.parametrize("text", [NEW, "\n".join(row.split(",", 1)[1] for row in NEW.splitlines()) + "\n"])
def test_the_new_layout_is_read_with_and_without_ranks_and_put_in_order_of_the_means(tmp_path: Path, text: str) -> None:
    contest = ba.datasets.caption_contest(800, path=written(tmp_path, text))
    assert contest.captions == ("Better", "Worse, at first", "As bad")  # a tie stays in the order of the file
    assert contest.counts.tolist() == [[0, 1, 3], [3, 1, 0], [6, 2, 0]]


def test_the_data_can_not_be_changed_and_pickles(tmp_path: Path) -> None:
    contest = ba.datasets.caption_contest(700, path=written(tmp_path, OLD))
    for array in (contest.counts, contest.means):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
    again = pickle.loads(pickle.dumps(contest))
    assert again.captions == contest.captions
    assert again.counts.tolist() == contest.counts.tolist()


def test_labels_are_distinct_where_the_same_words_were_handed_in_twice() -> None:
    words = ("Moo", "Moo", "Moo [2]", "Moo", "Baa")
    contest = ba.datasets.CaptionContest(700, words, np.ones((5, 3), np.int64))
    assert contest.labels == ("Moo", "Moo [3]", "Moo [2]", "Moo [4]", "Baa")
    assert ba.Identifier(contest.labels, delta=0.1, epsilon=0.0, bounds=(1, 3)).labels == contest.labels


def test_a_bandit_of_captions_draws_ratings_as_often_as_they_were_given(tmp_path: Path) -> None:
    contest = ba.datasets.caption_contest(700, path=written(tmp_path, OLD))
    bandit = contest.bandit()
    assert bandit.means.tolist() == [2.75, 1.5, 1.25]
    assert (bandit.sigma, bandit.reach(), bandit.epsilon) == (1.0, (1.0, 3.0), 0.0)
    stream = bandit.stream(3)
    drawn = np.array([stream.pull(0) for _ in range(4000)])
    assert set(drawn) == {2.0, 3.0}
    assert abs((drawn == 3.0).mean() - 0.75) < 4.0 * math.sqrt(0.75 * 0.25 / 4000)


def test_a_bandit_can_be_of_some_captions_and_have_an_adversary(tmp_path: Path) -> None:
    contest = ba.datasets.caption_contest(700, path=written(tmp_path, OLD))
    assert contest.bandit(captions=2).means.tolist() == [2.75, 1.5]
    assert contest.bandit(captions=[2, 0]).means.tolist() == [1.25, 2.75]
    bandit = contest.bandit(0.25, ba.adversaries.Point([1.0, 3.0]), captions=np.array([0, 1]))
    assert bandit.epsilon == 0.25
    assert bandit.adversary == ba.adversaries.Point([1.0, 3.0])


@pytest.mark.parametrize("places", [1, 4, 0, 2.5, True, [0], [0, 0], [0, 3], [-1, 0], [0, 1.5], "ab", {}, [[0], [1]]])
def test_captions_that_are_not_there_are_refused(tmp_path: Path, places: object) -> None:
    contest = ba.datasets.caption_contest(700, path=written(tmp_path, OLD))
    with pytest.raises(ba.InputError, match="captions must be a number from 2 to 3"):
        contest.bandit(captions=places)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must have rows, got 'an empty file'"),
        (" \n", "must have rows, got 'an empty file'"),
        (OLD.splitlines()[0] + "\n", "must have rows, got 'a header alone'"),
        (OLD.replace("unfunny", "sad"), "must have the columns unfunny, got"),
        (NEW.replace("not_funny", "sad"), "must have the columns not_funny, got"),
        (NEW.replace("votes", "crowd"), "must have the columns votes, got"),
        ("a,b\n1,2\n", "must have the columns caption, unfunny, somewhat_funny, funny, count, score, got"),
        (OLD.split("\n", 1)[1], "must have the columns caption"),
        (OLD.replace(",4,2.75", ",5,2.75"), "have counts with the sum 5 in row 1, got [0.0, 1.0, 3.0]"),
        (NEW.replace("0.2,8,6", "0.2,9,6"), "have counts with the sum 9 in row 3"),
        (OLD.replace("4,1.5", "4,1.51"), "have 1.5, the mean of its ratings, as score in row 2, got 1.51"),
        (OLD.replace("0,2,2,4", "-1,3,2,4"), "have counts that are whole numbers >= 0 in row 2, got [2.0, 3.0, -1.0]"),
        (OLD.replace("0,2,2,4", "0.5,1.5,2,4"), "have counts that are whole numbers >= 0 in row 2"),
        (OLD.replace("0,2,2,4", "0,2,x,4"), "have a number as unfunny in row 2, got 'x'"),
        (OLD.replace("0,2,2,4", "0,2,inf,4"), "have a number as unfunny in row 2, got 'inf'"),
        (OLD.replace("0,2,2,4,1.5", "0,0,0,0,0"), "have at least one rating in row 2"),
        (OLD.replace(",700,NA", ",701,NA"), "be of contest 700 in row 2, got '701'"),
        (OLD.replace("700,NA", "700"), "have a caption in row 2"),
        (OLD.replace("4,1.5,0.2,700,NA", "4"), "have a number as score in row 2, got ''"),
        (OLD.replace("NA", "N,A"), "must be a CSV file, got"),
        ("".join(f"{row},x\n" if place else f"{row}\n" for place, row in enumerate(NEW.splitlines())), "as many cells"),
    ],
)
def test_a_damaged_contest_is_refused_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    assert text != OLD
    file = written(tmp_path, text)
    with pytest.raises(ba.InputError) as refused:
        ba.datasets.caption_contest(700, path=file)
    assert str(refused.value).startswith(str(file))
    assert reason in str(refused.value)


def test_a_mean_written_with_three_decimals_is_a_mean(tmp_path: Path) -> None:
    rounded = OLD.replace("4,2.75", "7,2.857").replace("7,1,3,1,0", "7,1,6,1,0")
    assert ba.datasets.caption_contest(700, path=written(tmp_path, rounded)).means[0] == 20 / 7


@pytest.mark.parametrize("text", [OLD, NEW])
def test_a_contest_cut_short_within_a_row_is_refused_wherever_it_is_cut(tmp_path: Path, text: str) -> None:
    ends = {place + 1 for place, letter in enumerate(text) if letter == "\n"}
    ends.remove(text.find("but\n") + 4) if "but\n" in text else None  # a line break that is part of a caption
    for length in range(len(text)):
        if length not in ends:
            with pytest.raises(ba.InputError):
                ba.datasets.caption_contest(700, path=written(tmp_path, text[:length]))


def test_a_file_that_is_not_in_utf_8_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, OLD.replace("–", "-").encode("latin-1"))
    with pytest.raises(ba.InputError, match=r"must be in UTF-8, got b'\\xab': at byte \d+"):
        ba.datasets.caption_contest(700, path=file)


@pytest.mark.parametrize("contest", [0, -651, 651.5, "651", None, True, math.nan])
def test_a_contest_without_a_number_is_refused(contest: object) -> None:
    with pytest.raises(ba.InputError, match="contest must be a whole number >= 1"):
        ba.datasets.caption_contest(contest)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------------------- PKIS2


def test_compounds_that_inhibit_are_ranked_and_complete_inhibition_is_finite(tmp_path: Path) -> None:
    found = ba.datasets.pkis2(path=written(tmp_path, SCREEN))
    assert found.kinase == "ACVRL1"
    assert found.compounds == found.labels == ("C", "A", "D")
    assert found.inhibition.tolist() == [100.0, 50.0, 50.0]
    assert found.values == pytest.approx([math.log(1000.0), math.log(2.0), math.log(2.0)], rel=1e-12)
    assert repr(found) == "<PKIS2, kinase ACVRL1: 3 compounds>"
    other = ba.datasets.pkis2("ABL1-phosphorylated", path=written(tmp_path, SCREEN))
    assert other.compounds == ("D", "C", "B")
    assert other.values == pytest.approx([math.log(1000.0), math.log(1.25), math.log(1 / 0.9)], rel=1e-12)


def test_a_bandit_of_compounds_is_gaussian(tmp_path: Path) -> None:
    found = ba.datasets.pkis2(path=written(tmp_path, SCREEN))
    bandit = found.bandit(0.5, 0.1, ba.adversaries.Point(0.0), compounds=[2, 0])
    assert bandit.arms == (ba.Gaussian(found.values[2], 0.5), ba.Gaussian(found.values[0], 0.5))
    assert (bandit.sigma, bandit.epsilon, bandit.best) == (0.5, 0.1, 1)
    assert found.bandit().means.tolist() == found.values.tolist()
    assert found.bandit().sigma == 1.0
    with pytest.raises(ba.InputError, match="compounds must be a number from 2 to 3"):
        found.bandit(compounds=4)
    with pytest.raises(ba.InputError, match="sigma must be"):
        found.bandit(sigma=0.0)


@pytest.mark.parametrize(
    ("kinase", "hint"), [("acvrl1", "close names: ACVRL1"), ("ABL1", "ABL1-phosphorylated"), ("?!", "no name is close")]
)
def test_an_unknown_kinase_is_refused_with_close_names(tmp_path: Path, kinase: str, hint: str) -> None:
    with pytest.raises(ba.InputError, match="kinase must be one of the 2 in the table") as refused:
        ba.datasets.pkis2(kinase, path=written(tmp_path, SCREEN))
    assert hint in str(refused.value)


@pytest.mark.parametrize("kinase", ["Compound", ">90", None, 7])
def test_what_is_no_kinase_is_refused(tmp_path: Path, kinase: object) -> None:
    with pytest.raises(ba.InputError, match="kinase must be"):
        ba.datasets.pkis2(kinase, path=written(tmp_path, SCREEN))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "must have rows"),
        (SCREEN.splitlines()[0] + "\n", "must have rows, got 'a header alone'"),
        (SCREEN.replace("Compound", "Name"), "must have the columns Compound"),
        ("Regno,Compound,Smiles\n1,2,3\n", "must have one column per kinase"),
        (SCREEN.replace("G1,B", "G1,A"), "have a compound that is not in a row before in row 2, got 'A'"),
        (SCREEN.replace("G1,B", "G1,"), "name a compound in row 2"),
        (SCREEN.replace("100,20", "100.5,20"), "have ACVRL1 from 0 to 100 percent in row 3, got 100.5"),
        (SCREEN.replace("0,10\n", "0,-10\n"), "have ABL1-phosphorylated from 0 to 100 percent in row 2, got -10.0"),
        (SCREEN.replace("0,10\n", "0,\n"), "have a number as ABL1-phosphorylated in row 2, got ''"),
        (SCREEN.replace("0,10\n", "0\n"), "have a number as ABL1-phosphorylated in row 2, got ''"),
        (SCREEN[:-1], "must end with a line break"),
    ],
)
def test_a_damaged_screen_is_refused_with_the_reason(tmp_path: Path, text: str, reason: str) -> None:
    assert text != SCREEN
    with pytest.raises(ba.InputError) as refused:
        ba.datasets.pkis2(path=written(tmp_path, text))
    assert reason in str(refused.value)


# ------------------------------------------------------------------------------------------------------- where from


class Shop(http.server.BaseHTTPRequestHandler):
    """Serves both files, and remembers what was asked for."""

    files: dict[str, bytes]
    asked: list[str]

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        body = self.files.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Shop]]:
    class Today(Shop):
        files = {"/captions.csv": OLD.encode(), "/screen.csv": SCREEN.encode()}  # noqa: RUF012
        asked: list[str] = []  # noqa: RUF012

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Today)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    aside(monkeypatch, f"http://127.0.0.1:{server.server_port}")
    yield Today
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_download_is_kept_and_not_repeated(
    shop: type[Shop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    level = pooch.get_logger().level
    monkeypatch.setattr(pooch.get_logger(), "handlers", [caplog.handler])  # it stands apart from all other loggers
    assert ba.datasets.caption_contest(700).ratings == 12
    assert ba.datasets.pkis2().size == 3
    assert shop.asked == ["/captions.csv", "/screen.csv"]
    names = ["700_summary_KLUCB.csv", "journal.pone.0181585.s004.csv"]
    assert sorted(file.name for file in (tmp_path / "cache").iterdir()) == names
    assert ba.datasets.caption_contest(700).ratings == 12
    assert ba.datasets.pkis2().size == 3
    assert len(shop.asked) == 2
    assert (caplog.messages, pooch.get_logger().level) == ([], level)


def test_a_download_with_another_checksum_is_refused_and_not_kept(shop: type[Shop], tmp_path: Path) -> None:
    shop.files["/captions.csv"] = OLD.replace("NA", "N.A.").encode()
    with pytest.raises(ba.InputError, match=r"captions\.csv must have the SHA-256 checksum [0-9a-f]{64}"):
        ba.datasets.caption_contest(700)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_cached_file_with_another_checksum_is_refused_and_left_alone(shop: type[Shop], tmp_path: Path) -> None:
    file = written(tmp_path / "cache", OLD.replace("NA", "N.A."), "700_summary_KLUCB.csv")
    before = file.read_bytes()
    with pytest.raises(ba.InputError, match="must have the SHA-256 checksum") as refused:
        ba.datasets.caption_contest(700)
    assert hashlib.sha256(before).hexdigest() in str(refused.value)
    assert str(file) in str(refused.value)
    assert file.read_bytes() == before
    assert shop.asked == []


@pytest.mark.parametrize("answers", [False, True])
def test_without_a_network_the_error_names_the_address_and_the_ways(
    request: pytest.FixtureRequest, tmp_path: Path, answers: bool
) -> None:
    if answers:  # somebody answers, but has no such file
        request.getfixturevalue("shop").files.clear()
    with pytest.raises(ba.InputError, match="path must lead to") as refused:
        ba.datasets.caption_contest(700)
    told = str(refused.value)
    assert captions.PINS[700][1].address in told
    assert all(way in told for way in ("path=", "BESTARM_DATA", str(tmp_path / "cache"), "700_summary_KLUCB.csv"))
    with pytest.raises(ba.InputError, match="path must lead to table S4 of PKIS2") as refused:
        ba.datasets.pkis2()
    assert "/screen.csv could not be fetched" in str(refused.value)


def test_the_order_of_sources_is_path_folder_cache_address(
    shop: type[Shop], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = OLD.splitlines(keepends=True)
    of_path = written(tmp_path / "mine", "".join([*rows[:3], rows[4]]), "700.csv")  # two captions, 8 ratings
    written(tmp_path / "data" / "nycc", OLD.replace("0,1,3,4", "0,1,4,5").replace("1.25", "1.2"), "700_any.csv")
    written(tmp_path / "cache", OLD, "700_summary_KLUCB.csv")
    monkeypatch.setenv("BESTARM_DATA", str(tmp_path / "data"))
    assert ba.datasets.caption_contest(700, path=of_path).ratings == 8
    assert ba.datasets.caption_contest(700, path=str(of_path.parent)).ratings == 8
    assert ba.datasets.caption_contest(700).ratings == 13
    (tmp_path / "data" / "nycc" / "700_any.csv").unlink()
    assert ba.datasets.caption_contest(700).ratings == 12
    assert shop.asked == []
    (tmp_path / "cache" / "700_summary_KLUCB.csv").unlink()
    assert ba.datasets.caption_contest(700).ratings == 12
    assert shop.asked == ["/captions.csv"]


def test_the_pinned_name_is_preferred_and_several_others_are_refused(tmp_path: Path) -> None:
    for name in ("700_A.csv", "700_B.csv"):
        written(tmp_path, NEW, name)
    with pytest.raises(ba.InputError, match=r"lead to one file .*, got \['700_A.csv', '700_B.csv'\]"):
        ba.datasets.caption_contest(700, path=tmp_path)
    written(tmp_path, OLD, "700_summary_KLUCB.csv")
    assert ba.datasets.caption_contest(700, path=tmp_path).captions[1] == "NA"


def test_other_contests_come_from_a_path_or_the_folder_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ba.InputError, match="path must lead to the ratings of caption contest 652") as refused:
        ba.datasets.caption_contest(652)
    told = str(refused.value)
    assert all(part in told for part in ("no checksum of it is pinned", "path=", "BESTARM_DATA", "652.csv"))
    written(tmp_path / "data", OLD.replace(",700,", ",652,"), "652_summary_LilUCB.csv")
    monkeypatch.setenv("BESTARM_DATA", str(tmp_path / "data"))
    assert ba.datasets.caption_contest(652).contest == 652


def test_paths_that_lead_nowhere_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ba.InputError, match="there is no such file or folder"):
        ba.datasets.caption_contest(700, path=tmp_path / "nowhere.csv")
    with pytest.raises(ba.InputError, match=r"the folder has no journal\.pone\.0181585\.s004\.csv"):
        ba.datasets.pkis2(path=tmp_path)
    with pytest.raises(ba.InputError, match="path must be a path"):
        ba.datasets.pkis2(path=3)  # type: ignore[arg-type]
    monkeypatch.setenv("BESTARM_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(ba.InputError, match="BESTARM_DATA must name a folder"):
        ba.datasets.pkis2()


def test_importing_the_package_does_not_load_pandas() -> None:
    code = (
        "import sys, bestarm\nbefore = 'pandas' in sys.modules\nbestarm.datasets.pkis2\n"
        "print(before, 'pandas' in sys.modules, 'datasets' in dir(bestarm))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True", "True"]


# ------------------------------------------------------------------------------------------------------ the real files


@needs_files
def test_contest_651_is_whole() -> None:
    contest = ba.datasets.caption_contest(651, path=DATA)
    assert (contest.size, contest.ratings) == (9250, 2_249_813)
    assert contest.captions[2] == "You have a reptile dysfunction."
    assert contest.counts[0].tolist() == [116, 53, 63]
    rated = contest.counts.sum(axis=1)
    assert (rated.min(), rated.max()) == (195, 303)
    assert contest.means[[0, 1, -1]] == pytest.approx([1.771551724137931, 1.7673469387755103, 1.0502283105022832])
    assert len(set(contest.labels)) == 9250
    bandit = contest.bandit(0.05, ba.adversaries.Point(3.0))
    assert (len(bandit.arms), bandit.best) == (9250, 0)
    assert bandit.means == pytest.approx(contest.means, rel=1e-14)
    laws = bandit.laws()
    assert laws.support.shape == (2, 3 * 9250)
    assert laws.support[1, :2].tolist() == pytest.approx([116 / 232, 169 / 232])


@needs_files
def test_acvrl1_has_189_compounds() -> None:
    found = ba.datasets.pkis2(path=DATA)
    assert found.size == 189
    assert (found.inhibition[0], found.inhibition[-1]) == (92.5, 1.0)
    assert found.values[:5].round(4).tolist() == [2.5903, 2.4889, 2.3330, 2.1203, 2.0402]


@needs_files
def test_the_pinned_checksums_are_those_of_the_files() -> None:
    contest, screen = (DATA / "nycc" / "651_summary_KLUCB.csv", DATA / "pkis2" / "journal.pone.0181585.s004.csv")
    assert hashlib.sha256(contest.read_bytes()).hexdigest() == captions.PINS[651][1].sha256
    assert hashlib.sha256(screen.read_bytes()).hexdigest() == SCREEN_PIN.sha256


@needs_files
def test_the_example_of_the_guide_prints_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "guide" / "datasets.md").read_text(encoding="utf-8")
    example, printed = re.findall(r"```(?:python|text)\n(.*?)```", page, re.S)[:2]
    monkeypatch.setenv("BESTARM_DATA", str(DATA))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(example, "datasets.md", "exec"), {})
    assert out.getvalue() == printed
