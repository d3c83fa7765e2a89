"""The catalogue of methods."""

from bestarm.methods._base import Method, Option, forced_pulls, too_long
from bestarm.methods.own import OwnMethod
from bestarm.methods.registry import DEFAULT, METHODS, get_method

__all__ = ["DEFAULT", "METHODS", "Method", "Option", "OwnMethod", "forced_pulls", "get_method", "too_long"]
