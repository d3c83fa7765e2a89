"""Settings shared by all tests."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("bestarm", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("bestarm")
