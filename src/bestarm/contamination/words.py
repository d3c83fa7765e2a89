"""Sentences that several contamination models share: what is assumed of clean rewards, of sources and of a log."""

from __future__ import annotations

# Of clean rewards, by every method. A source may give many rewards: there only the second part is assumed.
CLEAN = "clean rewards are independent, and those of an arm have one mean"
ONE_MEAN = "clean rewards of an arm have one mean"
ORDER = "the order in which rewards are used does not depend on their values"

# Of sources, each of which enters a pair by the arm it rewards first, or by the difference.
INDEPENDENT = "sources are independent of each other"
FIRST = "which of two arms a source rewards first, if any, does not depend on what it would say of them"
BOTH = "the arms that a source was asked about were fixed before its first reward"
ONE_ARM = "each source rewarded a single arm, which does not depend on what it would say of it"

# Of the rows of a log (section 13 of docs/explanation/certified.md).
HOW_MANY = (
    "the number of rewards of each arm was fixed, or depended only on earlier rewards, and then nobody who had "
    "replaced any of those knew later ones"
)
FIXED = "the number of rewards of each arm was fixed, or did not depend on the rewards"
ROWS = f"{CLEAN}; {HOW_MANY}"
FIRST_ROW = f"{FIRST} (first by the column of time or, without one, by the order of the rows)"
REPLACED = "replaced (fake, mistaken, made up by somebody)"
