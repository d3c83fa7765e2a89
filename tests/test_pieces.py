"""Kernels that only other kernels call are compiled as pieces of them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba.core.caching import NullCache

from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel
from bestarm.kernels.jit.pieces import PIECES, PieceLibrary


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
    """An entry as `entry_kernel` makes it, but never from the cache on disk: that has no pieces."""
    found: Any = entry_kernel(function)
    found._cache = NullCache()
    return found


@_compiled_anew
def _entry(values: np.ndarray[Any, np.dtype[np.float64]]) -> float:
    return _sum(values) + _twice(values[0])


def _only_result(function: Any) -> Any:
    [result] = function.overloads.values()
    return result


def test_an_entry_gives_what_python_gives_and_its_pieces_have_no_code_of_their_own() -> None:
    assert PIECES, "this version of numba lacks what pieces need: compilation takes twice as long"
    assert _entry(np.array([1.0, 10.0])) == 57.0
    for piece in (_twice, _thrice, _sum):
        result = _only_result(piece)
        assert isinstance(result.library, PieceLibrary)
        assert not numba.core.registry.cpu_target.target_context.codegen()._engine.is_symbol_defined(
            result.fndesc.llvm_func_name
        )
    assert not isinstance(_only_result(_entry).library, PieceLibrary)


def test_only_what_is_marked_is_inlined_though_numba_hands_the_mark_down() -> None:
    _entry(np.array([1.0]))
    assert _only_result(_thrice).fndesc.inline
    assert not _only_result(_twice).fndesc.inline
    assert not _only_result(_sum).fndesc.inline


def test_a_piece_called_from_python_is_an_error_not_a_crash() -> None:
    _entry(np.array([1.0]))
    with pytest.raises(TypeError, match="not callable"):
        _twice(1.0)


ORDINARY = """
import sys
from importlib import import_module
sys.modules["numba._dynfunc"], kept = None, import_module("numba") and sys.modules["numba._dynfunc"]
from bestarm.kernels.jit import pieces
assert not pieces.PIECES
sys.modules["numba._dynfunc"] = kept
from bestarm.kernels.jit.compile import entry_kernel, inlined_kernel, kernel

@kernel
def twice(x):
    return 2.0 * x

@inlined_kernel
def thrice(x):
    return twice(x) + x

@entry_kernel
def entry(x):
    return thrice(x) + twice(x)

print(entry(3.0), twice(1.0))
"""


def test_where_numba_has_no_such_parts_kernels_are_compiled_the_ordinary_way(tmp_path: Path) -> None:
    script = tmp_path / "ordinary.py"
    script.write_text(ORDINARY)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout == "15.0 2.0\n", done.stderr
