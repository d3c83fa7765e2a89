"""The kinds of contamination, each in plain words: what is assumed of the rewards that were replaced.

Verdicts, help texts and plans all take their words from here; docs/explanation/certified.md, section 3, has the same in
symbols. Nothing is imported, so that `--help` need not load the compiler.
"""

CONTAMINATIONS: dict[str, str] = {
    "prescient": (
        "each reward is replaced with probability at most epsilon, whatever was replaced before it, by a coin of its "
        "own that sees no reward; the value put in its place may depend on everything"
    ),
    "malicious": (
        "each reward is replaced with probability at most epsilon, whatever came before it, by a coin that may see "
        "that reward, but no later one"
    ),
    "share-of-arm": (
        "of the rewards of every single arm so far at most a share epsilon was replaced, from the option share_from "
        "on, chosen in any way"
    ),
    "share-of-all": (
        "of all rewards so far at most a share epsilon was replaced, from the option share_from on (for each arm), "
        "chosen in any way, even all on one arm"
    ),
    "sources": (
        "of the sources (raters, devices, ...) so far at most a share epsilon is dishonest, from the option share_from "
        "on, in any way"
    ),
}

# What is assumed of sources besides, where each enters a pair by what it says first of the two, or by the difference.
INDEPENDENT = "sources are independent of each other"
FIRST = "which of two arms a source rewards first, if any, does not depend on what it would say of them"
BOTH = "the arms that a source was asked about were fixed before its first reward"
