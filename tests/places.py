"""Where things are: the project, and data files that are not part of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# BESTARM_DATA names another folder of data, laid out in the same way.
DATA = Path(os.environ.get("BESTARM_DATA", ROOT.parent / "shared" / "data"))
PAPER = DATA.parent / "paper" / "000_843c1889b8de7c11.txt"
needs_files = pytest.mark.skipif(
    not DATA.is_dir(), reason="the data files are not at ../shared/data, nor BESTARM_DATA set"
)
