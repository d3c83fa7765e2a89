"""Import paths of the version before still work, and say where the module is now."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bestarm.moved import MOVED

IMPORT = """
import sys, warnings
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    import bestarm.{old} as old
import bestarm.{new} as new
assert old is new and new.__name__ == new.__spec__.name == "bestarm.{new}", new.__spec__
print(*(f"{{one.category.__name__}}: {{one.message}}" for one in said if one.filename == "<string>"), sep="\\n")
"""


@pytest.mark.parametrize("old", MOVED)
def test_an_old_path_leads_to_the_module_and_warns(old: str) -> None:
    new = MOVED[old]
    words = [sys.executable, "-c", IMPORT.format(old=old, new=new)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert f"DeprecationWarning: bestarm.{old} is now bestarm.{new}" in done.stdout.splitlines()


def test_paths_that_never_were_are_not_found() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'bestarm\.nowhere'"):
        __import__("bestarm.nowhere")
