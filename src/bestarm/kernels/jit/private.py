"""The private interfaces of numba and NumPy that bestarm uses: nothing else in the package uses any.

Each part is probed before it is used, and has a fallback. BESTARM_PLAIN=1 in the environment switches all of them off:
results are the same, and compiling takes twice as long.

Fused kernels. Numba optimises a function together with its callees and emits machine code for it, and does all that
again in each of its callers, up to the one that Python calls. In a call graph ten levels deep, this takes most of the
time. A fused kernel is typed and lowered once, and no more: the entry at the top collects its callees and optimises
them in one go. (Measured within an hour: 66 s for a first simulation before, 34 s with fused kernels, which run at
least as fast.)

No reference counts (`_nrt`): arrays belong to the caller, who outlives the call. Passing a NamedTuple of arrays down
three calls would cost some forty atomic operations (measured: an insert took 340 ns with them and 55 ns without).

A hint to fetch memory, the note that kernels are being compiled, and the address where PCG64 keeps its state.
"""

from __future__ import annotations

import ctypes
import logging
import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.cache import cache_folder

_WORKS = "they work"

_dynfunc: Any = None
_Library: Any = object
_Compiler: Any = object
_FOUND = False
with suppress(ImportError, AttributeError):
    _dynfunc = import_module("numba._dynfunc")
    _Library = import_module("numba.core.codegen").JITCodeLibrary
    _Compiler = import_module("numba.core.compiler").Compiler
    _FOUND = True


# ------------------------------------------------------------------------------------------------------ fused kernels


class FusedLibrary(_Library):  # type: ignore[misc]
    """The code of a fused kernel as it was lowered, and the libraries that it calls."""

    _shared_module: Any

    def finalize(self) -> None:
        """Let a program have several copies of the kernel: each entry brings its own."""
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        self._finalized = True

    def _collect(self, seen: set[Any], found: list[Any]) -> None:
        """Append all libraries that this kernel needs, each one after those that it needs itself."""
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                if isinstance(library, FusedLibrary):
                    library._collect(seen, found)
                found.append(library)

    def _get_module_for_linking(self) -> Any:
        """Return this kernel and all that it needs as one module; numba asks this of the callees of an entry."""
        self._ensure_finalized()
        if self._shared_module is None:
            libraries: list[Any] = []
            self._collect(set(), libraries)
            module = self._final_module.clone()
            # Callers first: LLVM drops what nothing has used so far, and would miss it when a later module uses it.
            for library in reversed(libraries):
                if hasattr(self, "_reload_init"):  # from numba 0.62 on
                    self._reload_init.update(library._reload_init)
                is_fused = isinstance(library, FusedLibrary)
                other = library._final_module if is_fused else library._get_module_for_linking()
                module.link_in(other, preserve=True)
            self._shared_module = module
        return self._shared_module


class FusedCompiler(_Compiler):  # type: ignore[misc]
    """Numba's compiler, which stops once it has lowered the function."""

    inlined = False  # to be set here: numba hands the option down from each function to those that it calls

    def _compile_core(self) -> Any:
        state = self.state
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        state.flags.forceinline = self.inlined
        state.library = FusedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        result = super()._compile_core()
        entry = _not_callable(result)
        state.targetctx.insert_user_function(entry, result.fndesc, [result.library])
        return result._replace(entry_point=entry)


class InlinedCompiler(FusedCompiler):
    """The same for a kernel that becomes part of the body of each caller."""

    inlined = True


def _not_callable(result: Any) -> Any:
    """Return a stand-in for the machine code of a fused kernel: a function that raises a TypeError."""
    # Python's PyObject_Call, with the first argument that numba passes to its functions: no object that can be called.
    address = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
    description = result.fndesc
    keep = (result.library,)
    return _dynfunc.make_function(
        description.lookup_module(), description.qualname, "", address, result.environment, keep
    )


# ----------------------------------------------------------------------------------------------------- a hint to fetch


def _define_hint(typing_context: Any, array: Any, index: Any, offset: Any) -> Any:
    """Ask for the cache line that lies some bytes behind the beginning of an element."""
    from llvmlite import ir
    from numba.core import types

    def lower(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        values = context.make_array(signature.args[0])(context, builder, arguments[0])
        word, short, void = ir.IntType(64), ir.IntType(32), ir.VoidType()
        slot = builder.add(builder.mul(arguments[1], values.itemsize), arguments[2])
        address = builder.add(builder.ptrtoint(values.data, word), slot)
        pointer = builder.inttoptr(address, ir.IntType(8).as_pointer())
        hint_type = ir.FunctionType(void, [pointer.type, short, short, short])
        hint = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], hint_type)
        builder.call(hint, [pointer, short(0), short(3), short(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return types.void(array, types.int64, types.int64), lower


# --------------------------------------------------------------------------------------------------------------- probe

_UNCOUNTED: dict[str, Any] = {"_nrt": False, "no_cfunc_wrapper": True}
_FUSED: dict[str, Any] = {**_UNCOUNTED, "pipeline_class": FusedCompiler}
_INLINED: dict[str, Any] = {**_UNCOUNTED, "pipeline_class": InlinedCompiler}
_intrinsic: Any = numba.extending.intrinsic


def _probe() -> str:
    """Compile a little program with all of the above and run it; return what is wrong, or that all is well."""
    if not _FOUND:
        return "numba has other insides"
    try:
        njit: Any = numba.njit
        hint_to = _intrinsic(_define_hint)

        def double(x: float) -> float:
            return 2.0 * x

        twice: Any = njit(error_model="numpy", nogil=True, **_FUSED)(double)

        def triple(values: Any, index: int) -> float:
            hint_to(values, index, 0)
            return float(twice(values[index]) + values[index])

        thrice: Any = njit(error_model="numpy", nogil=True, **_INLINED)(triple)

        def add(values: Any) -> float:
            return float(thrice(values, 1) + twice(values[0]))

        found = njit(error_model="numpy", nogil=True, **_UNCOUNTED)(add)(np.array([1.0, 10.0]))
    except Exception as error:  # whatever another version of numba may raise
        return f"{type(error).__name__}: {error}"
    return _WORKS if found == 32.0 else f"a sum of 32 was {found}"


def _remembered_probe(folder: Path) -> str:
    """Return the outcome of the probe in the cache of compiled code, if it has one: a probe takes half a second."""
    file = folder / "private-interfaces"
    with suppress(OSError):
        return file.read_text(encoding="utf-8")
    outcome = _probe()
    with suppress(OSError):  # a cache that can't be written to
        folder.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}-{os.getpid()}")
        draft.write_text(outcome, encoding="utf-8")
        draft.replace(file)
    return outcome


def _is_plain() -> bool:
    if os.environ.get("BESTARM_PLAIN", "0") not in ("", "0"):
        return True
    outcome = _remembered_probe(cache_folder(plain=False))
    if outcome != _WORKS:
        logging.getLogger("bestarm").warning("bestarm compiles slowly with numba %s: %s", numba.__version__, outcome)
    return outcome != _WORKS


PLAIN = _is_plain()

# Options of numba.njit.
FUSED: dict[str, Any] = {} if PLAIN else _FUSED
INLINED: dict[str, Any] = {} if PLAIN else _INLINED
ENTRY: dict[str, Any] = {} if PLAIN else _UNCOUNTED


def _no_hint(array: NDArray[Any], index: int, offset: int) -> None:
    """Do nothing."""


hint: Any = numba.njit(_no_hint) if PLAIN else _intrinsic(_define_hint)


# ---------------------------------------------------------------------------------------------- a note about compiling


def _announce() -> None:
    """Let the logger `bestarm` say, once per process, that kernels are being compiled, if they are.

    Numba calls the listener when it compiles, and never for code that is on disk or compiled already, so a warm call
    costs nothing. It is a logger, so that users can silence or redirect it.
    """
    event: Any = import_module("numba.core.event")

    class Note(event.Listener):  # type: ignore[misc]
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told and event.data["dispatcher"].py_func.__module__.startswith("bestarm."):
                self.told = True
                note = "bestarm is compiling (once for each kind of run, up to half a minute) ..."
                logging.getLogger("bestarm").warning(note)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Note())


if not PLAIN:
    with suppress(ImportError, AttributeError):  # another version of numba may have no such events: nothing is said
        _announce()


# ---------------------------------------------------------------------------------------------------- PCG64's own state


class RoomyPCG64(np.random.PCG64):
    """NumPy's PCG64 with room behind it, so that no other object shares a cache line with its state.

    The state is the last of its fields, and changes with every draw. If Python puts generators side by side, two
    threads wait for each other all the time: together they were 1.6 times as fast as one.
    """

    __slots__ = tuple(f"_unused_{place}" for place in range(16))


def generator_words(bits: np.random.PCG64) -> NDArray[np.uint64] | None:
    """Return the words where a generator keeps its state: two of state, two of increment; None if that is not known.

    NumPy does not promise the layout, so it is tried out: the supposed address must lie in the memory of the generator
    itself, or it is not followed; and a state set the official way must show there. (A generator also keeps the unused
    half of a 64-bit draw; no law draws 32 bits.) The words must not outlive the generator.
    """
    if PLAIN:
        return None
    words, own = 4 * ctypes.sizeof(ctypes.c_uint64), range(id(bits), id(bits) + bits.__sizeof__())
    address = bits.ctypes.state_address
    if address not in own or address + ctypes.sizeof(ctypes.c_void_p) not in own:
        return None
    index = ctypes.c_uint64.from_address(address).value
    if index not in own or index + words - 1 not in own:
        return None
    inside = np.ctypeslib.as_array((ctypes.c_uint64 * 4).from_address(index))
    known = 0x0123456789ABCDEF0011223344556677, 0x89ABCDEF0123456700FF11EE22DD33CC | 1
    before = bits.state
    bits.state = {**before, "state": {"state": known[0], "inc": known[1]}, "has_uint32": 0, "uinteger": 0}
    low = 2**64 - 1
    shows = inside.tolist() == [known[0] & low, known[0] >> 64, known[1] & low, known[1] >> 64]
    bits.state = before
    return inside if shows else None
