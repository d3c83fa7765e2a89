"""A hint to the processor: fetch what will soon be needed into the cache while there is other work to do.

Of a thousand arms, the next one to be pulled is seldom in the nearest cache. A hint has no effect on any result.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel
from bestarm.kernels.jit.memory import LINE


def _define_hint(typing_context: Any, array: Any, index: Any, offset: Any) -> Any:
    """Ask for the line of the cache that is some bytes behind the beginning of an element."""

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        word, short, void = ir.IntType(64), ir.IntType(32), ir.VoidType()
        place = builder.add(builder.mul(arguments[1], values.itemsize), arguments[2])
        address = builder.add(builder.ptrtoint(values.data, word), place)
        pointer = builder.inttoptr(address, ir.IntType(8).as_pointer())
        hint_type = ir.FunctionType(void, [pointer.type, short, short, short])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], hint_type)
        builder.call(hint, [pointer, short(0), short(3), short(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), lower


_hint: Any = intrinsic(_define_hint)


@inlined_kernel
def fetch(array: NDArray[Any], index: int, lines: int) -> None:
    """Have some lines of the cache fetched, from an element of an array on."""
    for line in range(lines):
        _hint(array, index, LINE * line)
