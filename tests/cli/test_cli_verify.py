"""`bestarm identify --certificate` and `bestarm verify` on files: what is printed, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import bestarm


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    random = np.random.default_rng(4)
    variant = random.integers(0, 2, 4000)
    converted = random.random(4000) < np.array([0.1, 0.2])[variant]
    frame = pd.DataFrame({"variant": np.array(["old", "new"])[variant], "converted": converted.astype(int)})
    frame.to_csv(tmp_path / "visits.csv", index=False)
    frame.sample(frac=1, random_state=1)[["converted", "variant"]].to_parquet(tmp_path / "visits.parquet")
    done = bestarm("identify", tmp_path / "visits.csv", "--certificate", tmp_path / "new.json")
    assert done.returncode == 0
    assert f"written: {tmp_path / 'new.json'}" in done.stderr
    return tmp_path


def test_a_certificate_holds_for_the_same_rows_in_another_file(visits: Path) -> None:
    done = bestarm("verify", visits / "new.json", visits / "visits.parquet")
    assert (done.returncode, done.stderr) == (0, "")
    shown = " ".join(done.stdout.split())
    assert shown.startswith("The certificate holds: new converts best: ")
    assert ", from the same 4,000 visits. This stands unless more than " in shown
    assert "Checked here, without trusting who sent it" in shown
    assert "This cannot be checked from here: that the file is the log as it was recorded" in shown


def test_a_forged_best_ends_with_1(visits: Path) -> None:
    text = (visits / "new.json").read_text(encoding="utf-8")
    (visits / "new.json").write_text(text.replace('"best": "new"', '"best": "old"'), encoding="utf-8")
    done = bestarm("verify", visits / "new.json", visits / "visits.csv")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "The certificate does not hold for this log."
    assert lines[1] == "- verdict.best: the certificate says 'old', the log gives 'new'."
    assert "its checksum does not fit" in " ".join(done.stdout.split())


def test_other_rows_end_with_1_and_many_differences_are_counted(visits: Path) -> None:
    frame = pd.read_csv(visits / "visits.csv")
    frame[1:].to_csv(visits / "visits.csv", index=False)
    done = bestarm("verify", visits / "new.json", visits / "visits.csv")
    assert done.returncode == 1
    assert "- The log has other rows: 3,999, where the certificate has 4,000." in done.stdout
    assert "more differences (--format json has all)" in done.stdout
    found = json.loads(bestarm("verify", visits / "new.json", visits / "visits.csv", "--format", "json").stdout)
    assert found["holds"] is False
    assert len(found["reasons"]) > 8


def test_what_cannot_be_read_ends_with_2(visits: Path) -> None:
    (visits / "cut.json").write_text((visits / "new.json").read_text(encoding="utf-8")[:200], encoding="utf-8")
    for words in (
        (visits / "cut.json", visits / "visits.csv"),
        (visits / "visits.csv", visits / "new.json"),  # the wrong way round
        (visits / "none.json", visits / "visits.csv"),
        (visits / "new.json", visits / "none.csv"),
    ):
        done = bestarm("verify", *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1


def test_a_place_that_cannot_be_written_is_bad_input_before_the_log_is_read(visits: Path) -> None:
    done = bestarm("identify", visits / "none.csv", "--certificate", visits / "no folder" / "new.json")
    assert done.returncode == 2
    assert "certificate must be a file in a folder that is there" in done.stderr
