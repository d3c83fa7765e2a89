"""What is used of numba and NumPy without their promise: it works, it is fenced, and it can be done without."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache
from packaging.specifiers import SpecifierSet

from bestarm.kernels.jit import private
from bestarm.kernels.jit.cache import KERNELS, source_key
from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.jit.private import FusedLibrary
from places import ROOT


@kernel
def _twice(x: float) -> float:
    return 2.0 * x


@inlined_kernel
def _thrice(x: float) -> float:
    return _twice(x) + x


@kernel
def _sum(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    total = 0.0
    for place in range(values.size):
        total += _twice(values[place]) + _thrice(values[place])
    return total


def _compiled_anew(function: Any) -> Any:
    """An entry as `entry_kernel` makes it, but never from the cache on disk: that has no fused kernels."""
    found: Any = entry_kernel(function)
    found._cache = NullCache()
    return found


@_compiled_anew
def _entry(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    return _sum(values) + _twice(values[0])


def _only_result(function: Any) -> Any:
    [result] = function.overloads.values()
    return result


fenced = pytest.mark.skipif(private.PLAIN, reason="BESTARM_PLAIN does without")


@fenced
def test_an_entry_gives_what_python_gives_and_fused_kernels_have_no_code_of_their_own() -> None:
    assert _entry(np.array([1.0, 10.0])) == 57.0
    for fused in (_twice, _thrice, _sum):
        result = _only_result(fused)
        assert isinstance(result.library, FusedLibrary)
        assert not numba.core.registry.cpu_target.target_context.codegen()._engine.is_symbol_defined(
            result.fndesc.llvm_func_name
        )
    assert not isinstance(_only_result(_entry).library, FusedLibrary)


@fenced
def test_only_what_is_marked_is_inlined_though_numba_hands_the_mark_down() -> None:
    _entry(np.array([1.0]))
    assert _only_result(_thrice).fndesc.inline
    assert not _only_result(_twice).fndesc.inline
    assert not _only_result(_sum).fndesc.inline


@fenced
def test_a_fused_kernel_called_from_python_is_an_error_not_a_crash() -> None:
    _entry(np.array([1.0]))
    with pytest.raises(TypeError, match="not callable"):
        _twice(1.0)


def test_the_newest_numba_that_is_allowed_is_plain_only_if_it_was_asked_to_be() -> None:
    """A new version may be allowed in pyproject.toml as soon as this, and `make test-newest`, pass with it."""
    assert (os.environ.get("BESTARM_PLAIN", "0") not in ("", "0")) == private.PLAIN
    assert private._probe() == "they work"


def test_numba_is_bounded_by_the_version_after_the_one_that_is_tested() -> None:
    """To move the bound: raise it here and in constraints.txt, and see `make test-newest` and `make bench`."""
    root = ROOT
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [bounds] = [SpecifierSet(line.removeprefix("numba")) for line in project["dependencies"] if "numba" in line]
    [tested] = re.findall(r"^numba==(\d+)\.(\d+)", (root / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    major, minor = map(int, tested)
    assert f"<{major}.{minor + 1}" in map(str, bounds), f"make test-newest has only shown that {major}.{minor} works"
    assert numba.__version__ in bounds


PROGRAM = """
from bestarm.kernels.jit import private
from bestarm.kernels.jit.compile import CACHE_FOLDER, entry_kernel, inlined_kernel, kernel

@kernel
def twice(x):
    return 2.0 * x

@inlined_kernel
def thrice(x):
    return twice(x) + x

@entry_kernel
def entry(x):
    return thrice(x) + twice(x)

print(private.PLAIN, CACHE_FOLDER.name.endswith("-plain"), entry(3.0))
"""
# Numba with other insides, as bestarm meets them: no such module, no such function, another signature.
BROKEN = {
    "module": "None",
    "function": "types.ModuleType('numba._dynfunc')",
    "signature": "types.SimpleNamespace(make_function=lambda one: one)",
}
REPLACED = """
import sys, types
import numba
kept = sys.modules["numba._dynfunc"]
sys.modules["numba._dynfunc"] = {}
from bestarm.kernels.jit import private
sys.modules["numba._dynfunc"] = kept
"""


def run(program: str, folder: Path, **variables: str) -> tuple[str, str]:
    script = folder / "program.py"
    script.write_text(program)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), **variables}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def test_plain_does_without_all_of_it(tmp_path: Path) -> None:
    out, said = run(PROGRAM + "print(entry(3.0), twice(1.0))", tmp_path, BESTARM_PLAIN="1")
    assert out.splitlines() == ["True True 15.0", "15.0 2.0"]
    assert said == ""


def test_a_probe_is_made_once_for_a_cache(tmp_path: Path) -> None:
    out, _ = run(PROGRAM, tmp_path, BESTARM_PLAIN="0")
    assert out == "False False 15.0"
    [note] = (tmp_path / "cache").glob("*/private-interfaces")
    assert note.read_text() == "they work"
    note.write_text("a reason")  # so that the next process can be seen to read it
    out, said = run(PROGRAM, tmp_path, BESTARM_PLAIN="0")
    assert out == "True True 15.0"
    assert f"bestarm compiles slowly with numba {numba.__version__}: a reason" in said


@pytest.mark.parametrize("name", BROKEN)
def test_where_numba_has_other_insides_kernels_are_compiled_the_ordinary_way(name: str, tmp_path: Path) -> None:
    out, said = run(REPLACED.format(BROKEN[name]) + PROGRAM, tmp_path, BESTARM_PLAIN="0")
    assert out == "True True 15.0"
    assert "bestarm compiles slowly" in said


COLD = """
import json, sys
import bestarm as ba
bandit = ba.Bandit([ba.Gaussian(1.0), ba.Gaussian(0.0)], 0.1, ba.adversaries.Point(0.0))
trials = ba.simulate(bandit, "mean-se", delta=0.2, trials=5, seed=1, max_pulls=500)
print(json.dumps(trials.arm_pulls.tolist()))
"""


@pytest.mark.slow
def test_cold_processes_that_share_a_cache_give_the_same_trials(tmp_path: Path) -> None:
    """All of them probe, compile and write at the same time; then one reads what they have left."""
    script = tmp_path / "cold.py"
    script.write_text(COLD)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(script)]
    started = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(4)
    ]
    ended = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0] * 4, ended
    warm = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert warm.stderr == ""  # nothing is compiled
    assert {out for out, _ in ended} == {warm.stdout}


# --------------------------------------------------------------------------------------------------- PCG64's own state


@fenced
def test_the_words_of_a_generator_lie_in_it_and_share_no_line_of_the_cache_with_another_object() -> None:
    bits = private.RoomyPCG64(3)
    words = private.generator_words(bits)
    assert words is not None
    first = words.ctypes.data
    assert first - id(bits) >= 64
    assert id(bits) + bits.__sizeof__() - (first + words.nbytes) >= 64
    state = bits.state["state"]
    assert words.tolist() == [word for x in (state["state"], state["inc"]) for word in (x % 2**64, x >> 64)]


class Elsewhere(np.random.PCG64):
    """A generator that says its state is elsewhere: at a place that holds no address, or at none that may be read."""

    place = 0

    @property
    def ctypes(self) -> Any:
        return super().ctypes._replace(state_address=self.place)


@pytest.mark.parametrize("place", ["nowhere", "in front", "behind", "no address", "another state"])
def test_a_generator_that_keeps_its_state_elsewhere_is_left_alone(place: str) -> None:
    bits = Elsewhere(3)
    before = bits.state
    start, size = id(bits), bits.__sizeof__()
    bits.place = {
        "nowhere": 8,
        "in front": start - 8,
        "behind": start + size,
        "no address": start,  # a count of references
        "another state": np.random.PCG64.ctypes.__get__(bits).state_address + 8,
    }[place]
    assert private.generator_words(bits) is None
    assert bits.state == before


# ---------------------------------------------------------------------------------------------------------------- cache


def test_the_key_of_the_cache_sees_every_source_in_every_room(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    keys = [source_key(folder)]
    assert keys == [source_key()]
    sources = sorted(folder.rglob("*.py"))
    assert len({source.parent for source in sources}) > 5
    for source in sources:
        source.write_text(source.read_text() + "\n")
        keys.append(source_key(folder))
    sources[0].rename(folder / "jit" / "other.py")
    keys.append(source_key(folder))
    assert len(set(keys)) == len(sources) + 2
