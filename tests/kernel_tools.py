"""Kernels that Python can call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


def alone(kernel: Function) -> Function:
    """Compile a kernel on its own, so that a test can call it."""
    njit: Any = numba.njit
    return cast(Function, njit(error_model="numpy")(cast(Any, kernel).py_func))
