"""The conformance suite, for methods of your own: `check_method`."""

from bestarm.testing.check import Report, check_method
from bestarm.testing.rules import BrokenRuleError

__all__ = ["BrokenRuleError", "Report", "check_method"]
