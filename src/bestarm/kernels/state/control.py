"""The control record of a method: the fields that every method has, and those of each family."""

from __future__ import annotations

import numpy as np

CHAMPIONS = 2  # certified: arms that the others are compared with
FIRST_CHECK = 1  # certified: the round after which pairs are first compared

_EVERY = [
    ("t", "i8"),  # rewards told
    ("pending", "i8"),  # rewards asked for, not yet told
    ("done", "i8"),  # 1: an arm was named, 2: none can be
    ("best", "i8"),  # -1 until decided
    ("limit", "i8"),  # why no winner was named
]
_ROUNDS = [
    ("rounds", "i8"),  # completed
    ("behind", "i8"),  # active arms that the current round has yet to pull
    ("active", "i8"),  # arms that are still in
    ("cursor", "i8"),  # where in the list of active arms to look for the next one of the round
]

gap_dtype = np.dtype(
    [
        *_EVERY,
        ("fewest", "i8"),  # the smallest number of pulls of an arm
        ("at_fewest", "i8"),  # how many arms have it
        ("first_fewest", "i8"),  # the lowest of them
        ("explored", "i8"),  # no arm needs forced exploration
        ("leader", "i8"),
        ("challenger", "i8"),
        ("ahead", "i8"),  # the challengers' keys hold up to this t (shortcuts/look_ahead.py)
        ("ahead_root", "f8"),  # and are upper ends with this root of the logarithm
    ]
)
elimination_dtype = np.dtype(
    [
        *_EVERY,
        *_ROUNDS,
        ("quiet", "i8"),  # no arm can be eliminated up to this round (shortcuts/quiet_bounds.py)
        ("stretch", "i8"),  # rounds of the last quiet stretch that was found
    ]
)
certified_dtype = np.dtype(
    [
        *_EVERY,
        *_ROUNDS,
        ("next_check", "i8"),  # no pair is compared before this round
        ("located", "i8"),  # the round at which locations are renewed
        ("champions", "i8", (CHAMPIONS,)),
        ("room", "i8"),  # how many rewards of an arm there is room for, a power of two
    ]
)
