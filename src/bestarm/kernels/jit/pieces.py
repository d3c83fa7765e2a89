"""Kernels that only other kernels call, compiled as pieces of their callers.

Numba optimises a function together with all that it calls and emits machine code for it, and does all that again in
each of its callers, up to the one that Python calls. Of a call graph ten levels deep, that is most of the time. A piece
is typed and lowered, once, and left at that: the entry at the top collects its pieces and optimises them in one go.
(Measured within an hour: 66 s for a first simulation before, 34 s with pieces, which run at least as fast.)

This reaches into parts of numba that come without a promise. Should another version lack them, kernels are
compiled the ordinary way, only slower.
"""

from __future__ import annotations

import ctypes
from contextlib import suppress
from importlib import import_module
from typing import Any

JITCodeLibrary: Any = object
Compiler: Any = object
PIECES = False
with suppress(ImportError):
    _dynfunc = import_module("numba._dynfunc")
    JITCodeLibrary = import_module("numba.core.codegen").JITCodeLibrary
    Compiler = import_module("numba.core.compiler").Compiler
    PIECES = all(hasattr(JITCodeLibrary, name) for name in ("_get_module_for_linking", "_ensure_finalized"))


class PieceLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of a piece as it was lowered, and the libraries that it calls."""

    _shared_module: Any

    def finalize(self) -> None:
        """Let a program have several copies of the piece: each entry brings its own."""
        for function in self._final_module.functions:
            if not function.is_declaration:
                function.linkage = "linkonce_odr"
        self._finalized = True

    def _collect(self, seen: set[Any], found: list[Any]) -> None:
        """Append all libraries that this piece needs, each one after those that it needs itself."""
        for library in self._linking_libraries:
            if library not in seen:
                seen.add(library)
                if isinstance(library, PieceLibrary):
                    library._collect(seen, found)
                found.append(library)

    def _get_module_for_linking(self) -> Any:
        """Return this piece and all that it needs as one module: numba's question to the callees of an entry."""
        self._ensure_finalized()
        if self._shared_module is None:
            libraries: list[Any] = []
            self._collect(set(), libraries)
            module = self._final_module.clone()
            # Callers first: LLVM leaves out what nothing asks for yet, and would miss it when somebody does later.
            for library in reversed(libraries):
                self._reload_init.update(library._reload_init)
                is_piece = isinstance(library, PieceLibrary)
                other = library._final_module if is_piece else library._get_module_for_linking()
                module.link_in(other, preserve=True)
            self._shared_module = module
        return self._shared_module


class PieceCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, which stops once it has lowered the function."""

    inlined = False  # to be set here: numba hands the option down from each function to those that it calls

    def _compile_core(self) -> Any:
        state = self.state
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        state.flags.forceinline = self.inlined
        state.library = PieceLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        result = super()._compile_core()
        entry = _not_callable(result)
        state.targetctx.insert_user_function(entry, result.fndesc, [result.library])
        return result._replace(entry_point=entry)


class InlinedPieceCompiler(PieceCompiler):
    """The same for a piece that becomes part of the body of each caller."""

    inlined = True


def _not_callable(result: Any) -> Any:
    """Return what numba takes for the machine code of a piece: a function of its own that raises a TypeError."""
    # Python's PyObject_Call, with the first argument that numba passes to its functions: no object that can be called.
    address = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value
    description = result.fndesc
    keep = (result.library,)
    return _dynfunc.make_function(
        description.lookup_module(), description.qualname, "", address, result.environment, keep
    )


PIECE: dict[str, Any] = {"pipeline_class": PieceCompiler} if PIECES else {}
INLINED_PIECE: dict[str, Any] = {"pipeline_class": InlinedPieceCompiler} if PIECES else {"inline": "always"}
