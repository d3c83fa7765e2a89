"""What adding something to the package takes: files are put into a copy of it, and nothing else is touched."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
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


def inserted(path: Path, text: str, before: str) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count(before) == 1
    path.write_text(source.replace(before, text + before), encoding="utf-8")


def test_a_method_an_arm_an_adversary_an_experiment_and_a_command_are_found_by_themselves(tmp_path: Path) -> None:
    """Files touched: a method's own (its kernel's would be a second), and one for each of the others."""
    copy = tmp_path / "bestarm"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "methods" / "quick_median.py").write_text(METHOD, encoding="utf-8")
    (copy / "cli" / "hello.py").write_text(COMMAND, encoding="utf-8")
    inserted(copy / "bandits" / "arms.py", ARM, "# Every law of this file by name")
    adversaries = copy / "bandits" / "adversaries.py"
    adversaries.write_text(adversaries.read_text(encoding="utf-8") + ADVERSARY, encoding="utf-8")
    inserted(copy / "bandits" / "attacks.py", ATTACK, '    "bursts": ("bursts"')
    inserted(copy / "paper" / "experiments.py", EXPERIMENT, "    )\n}\n")

    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "COLUMNS": "100"}

    def run(*words: str) -> str:
        words = (sys.executable, *words)
        done = subprocess.run(words, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

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


def test_no_room_lists_what_it_finds() -> None:
    """The names of methods and commands stand in their own files only."""
    for registry, name in (("methods/registry.py", "median"), ("cli/app.py", "plan"), ("__init__.py", "LogNormal")):
        assert name not in (PACKAGE / registry).read_text(encoding="utf-8")
