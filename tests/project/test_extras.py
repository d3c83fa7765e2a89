"""What is installed with the package itself is enough for the engine, and what is not is asked for by its name."""

from __future__ import annotations

import subprocess
import sys
import tempfile

import pytest

import bestarm as ba
from bestarm.extras import EXTRAS

REPORT = """
import pandas
log = pandas.DataFrame({"arm": ["A", "B"] * 50, "reward": [0.0, 1.0] * 50})
ba.identify_log(log, epsilon=0.0, bounds=(0, 1)).report('x.html')
"""
TRIALS = "ba.simulate(ba.Bandit([ba.Gaussian(1), ba.Gaussian(0)]), 'mean-se', delta=0.1, trials=2, seed=1)"
# Modules that are not there, as far as Python can tell.
BLOCKED = """
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
"""


def without(names: set[str], code: str) -> subprocess.CompletedProcess[str]:
    start = BLOCKED.format(names=names)
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-c", start + code]
        return subprocess.run(words, capture_output=True, text=True, check=False, cwd=folder)


def test_the_engine_needs_no_extra() -> None:
    code = """
import bestarm as ba
bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], epsilon=0.05, adversary=ba.adversaries.Uniform(0.0))
trials = ba.simulate(bandit, "certified", delta=0.1, trials=20, seed=1, workers=2)
finder = ba.Identifier(["A", "B"], delta=0.1, epsilon=0.0, bounds=(0, 1))
finder.tell_many(["A", "B"] * 200, [1.0, 0.0] * 200)
plan = ba.plan([1.0, 0.0], delta=0.1, epsilon=0.05, sigma=1.0, methods=[])
print(trials.mean_pulls > 0, finder.result.best, ba.theory.lower_bound is not None)
"""
    done = without(set(EXTRAS) | {"dask", "distributed"}, code)
    assert (done.returncode, done.stdout) == (0, "True A True\n"), done.stderr


@pytest.mark.parametrize(
    ("module", "code"),
    [
        ("pandas", "ba.Identifier(2, delta=0.1, epsilon=0, sigma=1).result.to_frame()"),
        ("pandas", "ba.attack_table"),
        ("matplotlib", "ba.Identifier(2, delta=0.1, epsilon=0, sigma=1).result.plot()"),
        ("pyarrow", TRIALS + ".save('x.parquet')"),
        ("duckdb", "ba.identify_log('x.csv', epsilon=0.1, bounds=(1, 5))"),
        ("jinja2", REPORT),
        ("pooch", "ba.datasets"),
        ("sqlalchemy", "ba.Study('sqlite:///x.db', 'x', 2, delta=0.1, epsilon=0, sigma=1)"),
    ],
)
def test_what_is_not_installed_is_asked_for_by_its_extra(module: str, code: str) -> None:
    done = without({module}, f"import bestarm as ba\n{code}")
    assert done.returncode == 1
    extra = "log" if code == REPORT else EXTRAS[module]  # the extra `paper` brings jinja2 too
    message = f"{module} is required: pip install -e '.[{extra}]' in a clone of bestarm"
    assert done.stderr.splitlines()[-1] == f"bestarm.errors.MissingExtraError: {message}"


DEMO = ["demo", "--out", "nowhere"]


@pytest.mark.parametrize(
    ("module", "words"), [("typer", DEMO), ("pandas", DEMO), ("pydantic", ["scenario", "x.toml"])], ids=str
)
def test_a_command_without_its_extra_is_one_line(module: str, words: list[str]) -> None:
    code = f"sys.argv = {['bestarm', *words]}\nfrom bestarm.cli import main\nmain()"
    done = without({module}, code)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"bestarm: {module} is required: pip install -e '.[")
    assert "Traceback" not in done.stderr


def test_the_version_is_said_once() -> None:
    from importlib.metadata import version

    assert version("bestarm") == ba.__version__
