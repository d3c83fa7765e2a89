"""Access to pieces from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def alone(piece: Function) -> Function:
    """Compile a piece on its own, so that a test can call it."""
    njit: Any = numba.njit
    return cast(Function, njit(error_model="numpy")(cast(Any, piece).py_func))
