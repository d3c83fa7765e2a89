"""The cache of compiled kernels: a folder under a key of all their sources, so that none can go stale."""

from __future__ import annotations

import hashlib
import os
import shutil
from pathlib import Path

import numba

KERNELS = Path(__file__).parent.parent

_GENERATIONS_KEPT = 3


def source_key(folder: Path = KERNELS) -> str:
    """Return a digest of all kernel sources and of the compiler's version.

    Numba's own cache only checks the file of the compiled function. A caller that has inlined a kernel of another file
    would go on running the old code after an edit or an upgrade. So the key covers the whole folder, with all rooms.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for source in sorted(folder.rglob("*.py")):
        digest.update(source.relative_to(folder).as_posix().encode())
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]


def cache_folder(*, plain: bool) -> Path:
    """Return the folder for this generation of the kernels: beside the sources, or in the user's cache."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    if chosen:
        parent = Path(chosen)
    else:
        parent = KERNELS / "__pycache__"
        if not os.access(parent if parent.exists() else parent.parent, os.W_OK):
            parent = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "bestarm"
    folder = parent / f"kernels-{source_key()}{'-plain' if plain else ''}"
    if not folder.exists():
        _drop_old(parent)
    return folder


def _drop_old(parent: Path) -> None:
    """Remove all but the latest generations; other processes may be doing the same."""
    ages: list[tuple[float, Path]] = []
    for path in parent.glob("kernels-*"):
        try:
            ages.append((path.stat().st_mtime, path))
        except FileNotFoundError:
            continue
    for _, stale in sorted(ages)[: -_GENERATIONS_KEPT + 1]:
        shutil.rmtree(stale, ignore_errors=True)
