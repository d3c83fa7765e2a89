"""A tournament over K keys: who has the largest, who has it without one arm, and who may exceed a given value.

A tree is an array of 2 P floats for P >= K, a power of two: leaf P + i holds the key of arm i (-infinity beyond K),
every other node the larger of its children 2 j and 2 j + 1. Changing a key costs O(log K), as does each question. Ties
go to the lowest arm.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel

Tree = NDArray[np.float64]


def new_trees(arms: int, number: int) -> NDArray[np.float64]:
    """Return trees over the same arms, all keys -infinity."""
    leaves = 1
    while leaves < arms:
        leaves *= 2
    return np.full((number, 2 * leaves), -np.inf)


@kernel
def forget_keys(trees: Tree) -> None:
    """Make all keys -infinity again."""
    for row in range(trees.shape[0]):
        for node in range(trees.shape[1]):
            trees[row, node] = -np.inf


@inlined_kernel
def set_key(trees: Tree, row: int, arm: int, key: float) -> None:
    """Give an arm another key."""
    node = (trees.shape[1] >> 1) + arm
    trees[row, node] = key
    while node > 1:
        larger = max(trees[row, node], trees[row, node ^ 1])
        node >>= 1
        if trees[row, node] == larger:
            break  # nothing changes further up
        trees[row, node] = larger


@inlined_kernel
def _first_below(trees: Tree, row: int, node: int) -> int:
    leaves = trees.shape[1] >> 1
    while node < leaves:
        node = 2 * node if trees[row, 2 * node] == trees[row, node] else 2 * node + 1
    return node - leaves


@inlined_kernel
def first_of(trees: Tree, row: int) -> int:
    """Return the arm with the largest key."""
    return _first_below(trees, row, 1)


@kernel
def first_but(trees: Tree, row: int, arm: int) -> int:
    """Return the arm with the largest key, leaving one out."""
    node = (trees.shape[1] >> 1) + arm
    found = node ^ 1
    node >>= 1
    while node > 1:
        other = node ^ 1
        # One to the left of all that was looked at so far wins a tie.
        if trees[row, other] > trees[row, found] or (other < node and trees[row, other] == trees[row, found]):
            found = other
        node >>= 1
    return _first_below(trees, row, found)
