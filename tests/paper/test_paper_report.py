"""The command from end to end: files, output, exit codes, and the report in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape
from typer.testing import CliRunner

from bestarm.cli.app import app
from bestarm.errors import InputError
from bestarm.paper import CLAIMS, EXPERIMENTS, READINGS
from bestarm.paper.claims import OVERALL

CHOSEN = ("exp4", "exp7")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    out = tmp_path_factory.mktemp("reproduce")
    words = ["reproduce", *CHOSEN, "--trials", "20", "--workers", "1", "--out", str(out), "--format", "json"]
    done = subprocess.run([sys.executable, "-m", "bestarm", *words], capture_output=True, text=True, check=False)
    return out, done


def test_claims_go_to_stdout_and_no_bar_to_a_file(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    out, done = made
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert len(rows) == sum(claim.experiment in CHOSEN for claim in CLAIMS)
    assert {row["verdict"] for row in rows} <= set(OVERALL)
    assert [row["experiment"] for row in rows] == sorted(row["experiment"] for row in rows)
    told = [line for line in done.stderr.splitlines() if not line.startswith("compiling") and " so far" not in line]
    assert told == [f"report: {out / 'report.html'}"]


def test_tables_and_figures_are_written(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    out, done = made
    points, trials = pd.read_parquet(out / "points.parquet"), pd.read_parquet(out / "trials.parquet")
    assert len(points) == 5 * sum(len(EXPERIMENTS[name].curves) for name in CHOSEN)
    assert len(trials) == points["trials"].sum()
    assert (points["trials"] == np.where(points["variant"] == "certified", 4, 20)).all()
    assert pd.read_csv(out / "points.csv")["mean_pulls"].tolist() == pytest.approx(points["mean_pulls"].tolist())
    assert pd.read_csv(out / "trials.csv.gz")["pulls"].tolist() == trials["pulls"].tolist()
    assert pd.read_csv(out / "claims.csv")["verdict"].tolist() == [row["verdict"] for row in json.loads(done.stdout)]
    readings = pd.read_csv(out / "readings.csv")
    assert set(readings["reading"]) == {reading.name for reading in READINGS} - {
        "same parameters",
        "beta = 1.1",
        "beta = e/2",
    }
    assert (readings.loc[readings["reading"] == "ours", "trials"] == 20).all()
    by_reading = pd.read_csv(out / "claims-by-reading.csv")
    assert set(by_reading["verdict"]) <= {"holds", "does not hold", "open"}
    for name in ("points", "readings", "claims", "claims-by-reading"):
        table = pd.read_parquet(out / f"{name}.parquet")
        assert len(table) == len(pd.read_csv(out / f"{name}.csv"))
        latex = (out / f"{name}.tex").read_text(encoding="utf-8")
        assert latex.count("\\\\\n") == len(table) + 2  # a row each, the head and the caption
        assert not re.search(r"(?<!\\)[%#_]", latex)
    for name in (*CHOSEN, *(f"{name}-{kind}" for name in CHOSEN for kind in ("ours", "readings"))):
        assert (out / "figures" / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
        assert (out / "figures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<svg")


@pytest.mark.slow
def test_resuming_a_finished_run_repeats_its_claims(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    out, done = made
    before = {path: path.stat().st_mtime_ns for path in out.glob("points/*/*")}
    words = ["reproduce", *CHOSEN, "--trials", "20", "--out", str(out), "--format", "json", "--resume"]
    again = CliRunner().invoke(app, words)
    assert again.exit_code == 0
    assert again.stdout == done.stdout
    assert {path: path.stat().st_mtime_ns for path in out.glob("points/*/*")} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["exp0"], "experiments must be one of exp1"),
        (["exp1", "--trials", "0"], "trials must be a whole number >= 1"),
        (["exp1", "--seed", "-1"], "seed must be a whole number"),
        (["exp1", "--resume"], "out must hold a run to resume"),
        (["exp1", "--resume", "--overwrite"], "overwrite must not be given with resume"),
        (["exp2", "--epsilon", "0.1"], "epsilon must not be given for exp2"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(words: list[str], message: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", *words, "--out", str(tmp_path / "out")])
    assert isinstance(done.exception, InputError)
    assert str(done.exception).startswith(message)
    assert not (tmp_path / "out").exists()


# ----------------------------------------------------------------------------------------------------------- browser


LUMINANCE = """
([element, over]) => {
  const channels = colour => colour.match(/[0-9.]+/g).slice(0, 3).map(Number)
    .map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const bright = colour => { const [r, g, b] = channels(colour); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const ink = bright(getComputedStyle(document.querySelector(element)).color);
  const paper = bright(getComputedStyle(document.querySelector(over)).backgroundColor);
  return (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
}
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_report_opens_offline_and_fits_the_screen(
    width: int, scheme: str, browser: Any, made: tuple[Path, subprocess.CompletedProcess[str]]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme, offline=True)
    page = context.new_page()
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("request", lambda request: requests.append(request.url.split(":")[0]))
    page.goto((made[0] / "report.html").as_uri())
    page.wait_for_load_state("load")
    assert messages == []
    assert set(requests) <= {"file", "data"}
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    images = page.evaluate("[...document.images].map(image => [image.naturalWidth > image.naturalHeight, image.alt])")
    assert len(images) == 3 * len(CHOSEN)
    assert [wide for wide, _ in images[: len(CHOSEN)]] == [width > 700] * len(CHOSEN)  # stacked panels on a phone
    assert all(alt for _, alt in images)
    verdicts = page.locator("table.claims tbody tr").count()
    assert verdicts == len(json.loads(made[1].stdout))
    assert sum(map(int, page.locator(".counts b").all_inner_texts())) == verdicts
    links = page.evaluate("[...document.querySelectorAll('nav a')].map(link => link.hash.slice(1))")
    assert len(links) == len(set(links)) >= 6
    assert page.evaluate("names => names.every(name => document.getElementById(name))", links)
    order = page.evaluate(
        "['figures', 'claims', 'readings', 'numbers', 'settings'].map(name => "
        "document.getElementById(name).getBoundingClientRect().top)"
    )
    assert order == sorted(order)
    for element in ("body", ".soft", ".holds", ".fails", ".some", ".open"):
        assert page.evaluate(LUMINANCE, [element, "body"]) >= 4.5
    context.close()


def test_report_names_settings_numbers_and_choices(made: tuple[Path, subprocess.CompletedProcess[str]]) -> None:
    text = (made[0] / "report.html").read_text(encoding="utf-8")
    for words in ("20 trials per point", "seed 7", "5,152", "ranks 1, 10, 40, 120", "No sigma covers", "kl(δ, 1-δ) T*"):
        assert words in text
    assert "$" not in text
    for symbol in ("τ is", "δ is", "ε the", "σ the", "T = (2/α²) log(1/δ), with α = ε/2", "H is", "U, the part"):
        assert text.index(symbol) < text.index('id="figures"')
    for reading in ("no exploration", "within 20", "strongest inhibitor", "first author's code"):
        assert f"<b>{escape(reading)}</b>: " in text
    assert "By construction: The constant of the bound is not given" in text
    assert "H, T* and the bounds are for normal arms" in text[text.index('id="numbers-exp7"') :]
    assert "H, T* and the bounds are for normal arms" not in text[: text.index('id="numbers-exp7"')]
    assert text.count("Lead of the best arm over the next in the means of what is observed") >= len(CHOSEN)


def test_the_report_of_all_experiments_stays_below_three_megabytes(
    made: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    """With SVGs as matplotlib writes them it is 9.2 MB. Figures are most of it, and each experiment has as many."""
    size = len((made[0] / "report.html").read_bytes())
    assert size * len(EXPERIMENTS) / len(CHOSEN) < 3e6


def test_stored_results_alone_have_a_table_and_a_report(tmp_path: Path) -> None:
    words = ["reproduce", "stored-2022", "--trials", "3", "--out", str(tmp_path / "out"), "--format", "csv"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.exception
    assert done.stdout.splitlines()[0].startswith("arms,method,delta,theirs,ours")
    assert len(pd.read_csv(tmp_path / "out" / "stored-2022.csv")) == 14
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="stored-2022">' in text
    assert "1,483.09" in text
    assert not (tmp_path / "out" / "points.csv").exists()


def test_a_variation_has_figure_table_and_report_but_no_verdict(tmp_path: Path) -> None:
    words = ["reproduce", "exp7", "--epsilon", "0.05", "--means", "3,6", "--sigma", "2", "--grid", "0.2,0.1"]
    done = CliRunner().invoke(app, [*words, "--trials", "5", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.exception
    head, _, *rows = done.stdout.splitlines()
    assert head.split()[:3] == ["method", "delta", "epsilon"]
    assert len(rows) == 5 * 2
    assert not (tmp_path / "out" / "claims.csv").exists()
    assert {path.name for path in (tmp_path / "out" / "figures").glob("*.png")} == {
        "exp7-variation.png",
        "exp7-variation-ours.png",
    }
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "a variation of exp7: means = [3.0, 6.0], sigma = 2, epsilon = 0.05, grid = [0.2, 0.1]" in text
    assert 'id="claims"' not in text


@pytest.mark.slow
def test_a_resumed_run_leaves_nothing_that_its_report_does_not_speak_of(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    for words in (["exp9"], ["exp7", "--epsilon", "0.05", "--grid", "0.2", "--resume"]):
        done = CliRunner().invoke(app, ["reproduce", *words, "--trials", "2", "--out", out])
        assert done.exit_code == 0, done.exception
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert not {"claims.csv", "readings.csv"} & names
    assert {path.stem for path in (tmp_path / "out" / "figures").iterdir()} == {"exp7-variation", "exp7-variation-ours"}


@pytest.mark.parametrize("names", [[], ["exp1", "exp2"], ["all"], ["pkis2-full"]])
def test_one_experiment_at_a_time_is_varied(names: list[str], tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["reproduce", *names, "--epsilon", "0.05", "--out", str(tmp_path / "out")])
    assert "to be varied" in str(done.exception)
    assert not (tmp_path / "out").exists()
