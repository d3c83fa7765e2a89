"""The catalogue of methods."""

from bestarm.methods._base import Method, Option
from bestarm.methods.registry import DEFAULT, METHODS, get_method

__all__ = ["DEFAULT", "METHODS", "Method", "Option", "get_method"]
