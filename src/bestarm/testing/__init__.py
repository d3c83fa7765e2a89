"""The conformance suites, for methods and stores of your own: `check_method` and `check_store`."""

from bestarm.testing.check import Report, check_method
from bestarm.testing.rules import BrokenRuleError
from bestarm.testing.stores import check_store

__all__ = ["BrokenRuleError", "Report", "check_method", "check_store"]
