"""How every kernel is compiled: without the GIL, without checks, cached on disk under a key that can't go stale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

from bestarm.kernels.jit.cache import cache_folder
from bestarm.kernels.jit.private import ENTRY, FUSED, INLINED, PLAIN

Function = TypeVar("Function", bound=Callable[..., Any])

CACHE_FOLDER = cache_folder(plain=PLAIN)


def _compiled(function: Function, options: dict[str, Any], **more: Any) -> Function:
    config: Any = numba.config
    njit: Any = numba.njit  # takes more options than its stub knows
    before = config.CACHE_DIR
    config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        compiled = njit(nogil=True, error_model="numpy", **options, **more)(function)
    finally:
        config.CACHE_DIR = before
    return cast(Function, compiled)


def kernel(function: Function) -> Function:
    """Compile a function that other kernels call, as a part of them: Python can't call it.

    A kernel may not create an array, because nobody counts references to it (private.py); NumPy creates arrays.
    """
    return _compiled(function, FUSED)


def inlined_kernel(function: Function) -> Function:
    """Compile like `kernel`, into the body of each caller: for code that is short or runs at every pull.

    An array is seven words on the stack at each call, a generator ten: a draw took 34 ns with calls and 10 ns without.
    """
    return _compiled(function, INLINED)


def fast_kernel(function: Function) -> Function:
    """Compile like `kernel`, and allow sums and products in any order, several terms at a time."""
    return _compiled(function, FUSED, fastmath={"reassoc", "nsz", "nnan", "ninf", "contract"})


def entry_kernel(function: Function) -> Function:
    """Compile a function that Python calls, on its first call, with all its callees; keep the machine code on disk."""
    return _compiled(function, ENTRY, cache=True)
