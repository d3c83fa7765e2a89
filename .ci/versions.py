"""Print constraints for pip: the oldest versions of the compiler and its libraries that pyproject.toml allows.

`oldest` pins the lower bounds of numba, NumPy and SciPy; `newest` pins nothing, so that upper bounds decide.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PINNED = ("numba", "numpy", "scipy")

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
if sys.argv[1] == "oldest":
    for requirement in project["dependencies"]:
        found = re.match(r"([\w-]+)>=([\d.]+)", requirement)
        if found and found[1] in PINNED:
            print(f"{found[1]}=={found[2]}.*")
