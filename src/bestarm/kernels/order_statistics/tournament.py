"""A tournament over K keys: which arm has the largest, which has it among the others, and which exceed a value.

A tree is an array of 2 P floats for P >= K, a power of four: leaf P + i holds the key of arm i (-infinity beyond K),
node 1 is the root, and every node j above the leaves holds the largest of its children 4 j, ..., 4 j + 3. (Other
numbers are not nodes.) Changing a key costs O(log K), and so does each question. Ties go to the lowest arm.
With four children instead of two, half as many steps wait for each other; with eight, there are more comparisons.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.jit.compile import inlined_kernel, kernel

Tree = NDArray[np.float64]

BITS = 2
CHILDREN = 1 << BITS


def new_trees(arms: int, number: int) -> NDArray[np.float64]:
    """Return trees over the same arms, all keys -infinity."""
    leaves = CHILDREN
    while leaves < arms:
        leaves *= CHILDREN
    return np.full((number, 2 * leaves), -np.inf)


@inlined_kernel
def first_leaf(trees: Tree) -> int:
    """Return the node that holds the key of arm 0."""
    return trees.shape[1] >> 1


@kernel
def forget_keys(trees: Tree) -> None:
    """Reset all keys to -infinity."""
    for row in range(trees.shape[0]):
        for node in range(trees.shape[1]):
            trees[row, node] = -np.inf


@inlined_kernel
def key_of(trees: Tree, row: int, node: int) -> float:
    """Return the key of a node; the index is unsigned, so numba makes no allowance for negative ones."""
    return trees[np.uint64(row), np.uint64(node)]


@inlined_kernel
def _larger(a: float, b: float) -> float:
    return a if a > b else b  # one instruction: there are no nans here, which `max` would look for


@inlined_kernel
def _largest(trees: Tree, row: int, first: int) -> float:
    """Return the largest of four siblings."""
    a = _larger(key_of(trees, row, first), key_of(trees, row, first + 1))
    b = _larger(key_of(trees, row, first + 2), key_of(trees, row, first + 3))
    return _larger(a, b)


@inlined_kernel
def set_key(trees: Tree, row: int, arm: int, key: float) -> None:
    """Give an arm another key."""
    node = first_leaf(trees) + arm
    trees[row, node] = key
    while node > 1:
        node >>= BITS
        largest = _largest(trees, row, node << BITS)
        if trees[row, node] == largest:
            break  # nothing changes further up
        trees[row, node] = largest


@kernel
def set_inner(trees: Tree, row: int, arms: int) -> None:
    """Set all nodes above the leaves, whose keys have been written."""
    first = first_leaf(trees)
    last = first + arms - 1
    while first > 1:
        first >>= BITS
        last >>= BITS
        for node in range(first, last + 1):
            trees[row, node] = _largest(trees, row, node << BITS)


@kernel
def first_of(trees: Tree, row: int) -> int:
    """Return the arm with the largest key."""
    leaves = first_leaf(trees)
    node = 1
    while node < leaves:
        largest = key_of(trees, row, node)
        node <<= BITS
        found = node + CHILDREN - 1
        for child in range(CHILDREN - 2, -1, -1):
            found = node + child if key_of(trees, row, node + child) == largest else found
        node = found
    return node - leaves


@inlined_kernel
def first_and_second(trees: Tree, row: int) -> tuple[int, float]:
    """Return the arm with the largest key, and the largest key of all others."""
    leaves = first_leaf(trees)
    node = 1
    second = -np.inf
    while node < leaves:
        largest = key_of(trees, row, node)
        node <<= BITS
        found = node + CHILDREN - 1
        last = key_of(trees, row, found)
        for child in range(CHILDREN - 2, -1, -1):
            key = key_of(trees, row, node + child)
            # Of two that are equal, the lower is the first, and the other counts among the others.
            second = _larger(second, last if key == largest else key)
            last = largest if key == largest else last
            found = node + child if key == largest else found
        node = found
    return node - leaves, second
