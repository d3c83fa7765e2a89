"""What adding something to the package takes: files are put into a copy of it, and nothing else is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import bestarm

PACKAGE = Path(bestarm.__file__).parent

METHOD = '''"""Elimination with medians and a shorter exploration."""

from bestarm.kernels.rule import MEDIAN
from bestarm.methods._base import ALPHA, EXPLORATION, Method, elimination_rule

METHOD = Method(
    name="quick-median",
    summary="median-se under another name",
    source="this test",
    promise="nothing is replaced",
    options=(ALPHA, EXPLORATION),
    rule=lambda problem, options: elimination_rule(problem, options, epsilon=problem.epsilon, estimator=MEDIAN),
)
'''
COMMAND = '''"""`bestarm hello`."""

from bestarm.cli.commands import Command


def hello() -> None:
    """Say hello."""
    print("hello")


COMMAND = Command(hello, rank=99)
'''
ARM = '''

def Coin(mean: float) -> CompiledArm:
    """Rewards -1 and 1."""
    return Discrete([-1.0, 1.0], [(1.0 - mean) / 2.0, (1.0 + mean) / 2.0])

'''
ADVERSARY = '''

def Nothing() -> Adversary:
    """Contaminated rewards are 0."""
    return Point(0.0)
'''
ATTACK = '    "nothing": ("oblivious", lambda arms, epsilon: adversaries.Nothing()),\n'
EXPERIMENT = """        Experiment("exp10", "no figure", "Two arms", FOUR[:2], (SE_CBAI,), DELTAS),
"""

LOOK = """
import json, bestarm as ba
from bestarm.simulation.attack_bench import attack_methods
from bestarm.bandits import ATTACKS
from bestarm.scenarios.models import BY_MEANS, LAWS
from bestarm.paper import EXPERIMENTS
arm = ba.Coin(0.5)
print(json.dumps({
    "methods": list(ba.METHODS), "rows": list(attack_methods()), "arm": [arm.mean, "Coin" in ba.__all__],
    "file": ["coin" in LAWS, BY_MEANS.get("coin")], "adversary": ba.adversaries.Nothing().power,
    "attack": "nothing" in ATTACKS, "experiments": list(EXPERIMENTS),
}))
"""

CONTAMINATION = '''"""A share of each arm's rewards, and five more."""

from bestarm.contamination import Share


class ShareAndBurst(Share):
    """At most a share epsilon of each arm's rewards is replaced, and five more."""

    name = "share-and-burst"
    words = "at most a share epsilon of each arm's rewards so far was replaced, and five more, chosen in any way"
    burst = 5


MODEL = ShareAndBurst()
'''
ASK = """
import json, bestarm as ba
import pandas as pd
from scipy.stats import binom
question = {"delta": 0.1, "epsilon": 0.05, "bounds": (0, 1)}
found = {}
for kind in ("share-of-arm", "share-and-burst"):
    finder = ba.Identifier(["A", "B"], **question, contamination=kind)
    finder.tell_many(["A", "B"] * 200, [1.0, 0.0] * 200)
    rows = pd.DataFrame({"arm": ["A", "B"] * 200, "reward": [1.0, 0.0] * 200})
    log = ba.identify_log(rows, arm="arm", reward="reward", **question, contamination=kind)
    fakes = ba.adversaries.Quota(ba.adversaries.Point([0.0, 1.0]), "random")
    bandit = ba.Bandit([ba.Bernoulli(0.8), ba.Bernoulli(0.3)], 0.05, fakes)
    trials = ba.simulate(bandit, "certified", delta=0.1, bounds=(0, 1), trials=200, seed=5, contamination=kind)
    found[kind] = {
        "live": [finder.result.best, finder.result.pulls, str(finder.result)],
        "log": [log.best, log.replaced, str(log)],
        "trials": [trials.decided, float(trials.mean_pulls), bool(trials.wrong <= binom.isf(0.001, 200, 0.1))],
        "covered": kind in fakes.contaminations,
    }
print(json.dumps(found))
"""


def inserted(path: Path, text: str, before: str) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count(before) == 1
    path.write_text(source.replace(before, text + before), encoding="utf-8")


def copied(folder: Path) -> tuple[Path, Callable[..., str]]:
    """Return a copy of the package, and a function that runs Python with it."""
    copy = folder / "bestarm"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "NUMBA_CACHE_DIR": str(folder / "kernels"),
        "COLUMNS": "100",
    }

    def run(*words: str) -> str:
        words = (sys.executable, *words)
        done = subprocess.run(words, env=environment, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return copy, run


def test_a_method_an_arm_an_adversary_an_experiment_and_a_command_are_found_by_themselves(tmp_path: Path) -> None:
    """Files touched: a method's own (its kernel's would be a second), and one for each of the others."""
    copy, run = copied(tmp_path)
    (copy / "methods" / "quick_median.py").write_text(METHOD, encoding="utf-8")
    (copy / "cli" / "hello.py").write_text(COMMAND, encoding="utf-8")
    inserted(copy / "bandits" / "arms.py", ARM, "# Every law of this file by name")
    adversaries = copy / "bandits" / "adversaries.py"
    adversaries.write_text(adversaries.read_text(encoding="utf-8") + ADVERSARY, encoding="utf-8")
    inserted(copy / "bandits" / "attacks.py", ATTACK, '    "bursts": (powers.BURSTS')
    inserted(copy / "paper" / "experiments.py", EXPERIMENT, "    )\n}\n")

    found = json.loads(run("-c", LOOK))
    assert found["methods"] == [*bestarm.METHODS, "quick-median"]
    assert found["rows"][-1] == "quick-median"
    assert found["arm"] == [0.5, True]
    assert found["file"] == [True, "mean"]
    assert found["adversary"] == "oblivious"
    assert found["attack"]
    assert found["experiments"][-1] == "exp10"
    assert run("-m", "bestarm", "hello") == "hello\n"
    assert "hello" in run("-m", "bestarm", "--help")


def test_a_contamination_model_is_one_file(tmp_path: Path) -> None:
    """Files touched: its own. Live, in logs, plans, simulations and help texts it is there, and its promise holds."""
    copy, run = copied(tmp_path)
    (copy / "contamination" / "share_and_burst.py").write_text(CONTAMINATION, encoding="utf-8")
    words = "at most a share epsilon of each arm's rewards so far was replaced, and five more, chosen in any way"

    found = json.loads(run("-c", ASK))
    few, many = found["share-of-arm"], found["share-and-burst"]
    assert few["live"][0] == many["live"][0] == few["log"][0] == many["log"][0] == "A"
    assert many["live"][1] > few["live"][1]
    assert words in many["live"][2]
    assert words in many["log"][2]
    assert (few["log"][1], many["log"][1]) == (10, 15)
    assert many["trials"][1] > few["trials"][1]
    assert few["trials"][2]
    assert many["trials"][0] > 150
    assert many["trials"][2]
    assert many["covered"]

    for command in ("plan", "simulate", "attack", "identify"):
        assert "share-and-burst: at most a share epsilon" in " ".join(run("-m", "bestarm", command, "--help").split())
    given = ("--contamination", "share-and-burst", "--methods", "certified", "--trials", "5")
    plan = run("-m", "bestarm", "plan", "--means", "0.9,0.1", "--bounds", "0,1", "--epsilon", "0.05", *given)
    assert f"contamination   share-and-burst: {words}" in plan
    assert "certified" in plan


def test_no_room_lists_what_it_finds() -> None:
    """The names of methods, contamination models and commands stand in their own files only."""
    names = {
        "methods/registry.py": "median",
        "contamination/registry.py": "malicious",
        "cli/app.py": "plan",
        "__init__.py": "LogNormal",
    }
    for registry, name in names.items():
        assert name not in (PACKAGE / registry).read_text(encoding="utf-8")
