"""Seeds of trials in compiled code: what NumPy's SeedSequence and PCG64 do, bit for bit, without a Python object each.

Making a child seed and a generator takes 20 microseconds in Python, as long as a thousand pulls. Here it takes a tenth of
one. The i-th child of a SeedSequence differs from its parent by one word of entropy, i; its hash (after O'Neill, "Simple
portable C++ seed entropy", 2015) and PCG64's start (O'Neill 2014) are part of NumPy's promise that streams do not change.
"""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from bestarm.kernels.compile import inlined_kernel, kernel

POOL = 4  # words of a SeedSequence's pool
WORDS = 10  # 32-bit words of a trial's seed: eight start its generator, two seed the method's own choices

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_SHIFT = np.uint64(16)
_ONE = np.uint64(1)
_FIRST_ENTROPY, _STEP_ENTROPY = np.uint64(0x43B0D7E5), np.uint64(0x931E8875)
_FIRST_STATE, _STEP_STATE = np.uint64(0x8B51F9DD), np.uint64(0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = np.uint64(0xCA01F9DD), np.uint64(0x4973F715)
_FACTOR_HIGH, _FACTOR_LOW = np.uint64(0x2360ED051FC65DA4), np.uint64(0x4385DF649FCCF645)

Words = NDArray[np.uint64]


def entropy_words(root: np.random.SeedSequence) -> Words:
    """Return the entropy of a SeedSequence, as its children see it, in 32-bit words; a child adds its own number."""
    words = _split(root.entropy)
    words += [0] * (POOL - len(words))
    for key in root.spawn_key:
        words += _split(key)
    return np.array(words, np.uint64)


def _split(value: object) -> list[int]:
    if not isinstance(value, int | np.integer):
        assert value is not None
        return [word for part in value for word in _split(part)]  # type: ignore[attr-defined]
    rest = int(value)
    words = [rest & 0xFFFFFFFF]
    while rest > 0xFFFFFFFF:
        rest >>= 32
        words.append(rest & 0xFFFFFFFF)
    return words


@inlined_kernel
def _hash(value: np.uint64, constant: np.uint64, step: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return the hash of a 32-bit word and the constant for the next one."""
    following = (constant * step) & _LOW
    value = ((value ^ constant) * following) & _LOW
    return value ^ (value >> _SHIFT), following


@inlined_kernel
def _mix(x: np.uint64, y: np.uint64) -> np.uint64:
    value = (_MIX_LEFT * x - _MIX_RIGHT * y) & _LOW
    return value ^ (value >> _SHIFT)


@kernel
def child_words(entropy: Words, child: int, pool: Words, words: Words) -> None:
    """Write the words that the child of this number generates (32 bits each); `pool` is scratch of POOL words."""
    constant = _FIRST_ENTROPY
    for place in range(POOL):
        pool[place], constant = _hash(entropy[place], constant, _STEP_ENTROPY)
    for source in range(POOL):
        for target in range(POOL):
            if source != target:
                hashed, constant = _hash(pool[source], constant, _STEP_ENTROPY)
                pool[target] = _mix(pool[target], hashed)
    number = np.uint64(child)
    size = entropy.size
    for source in range(POOL, size + (1 if number <= _LOW else 2)):
        if source < size:
            word = entropy[source]
        elif source == size:
            word = number & _LOW
        else:
            word = number >> _HALF
        for target in range(POOL):
            hashed, constant = _hash(word, constant, _STEP_ENTROPY)
            pool[target] = _mix(pool[target], hashed)
    constant = _FIRST_STATE
    for place in range(words.size):
        words[place], constant = _hash(pool[place % POOL], constant, _STEP_STATE)


@inlined_kernel
def join(words: Words, place: int) -> np.uint64:
    """Return two words as one of 64 bits."""
    return words[place] | (words[place + 1] << _HALF)


@inlined_kernel
def _high_product(x: np.uint64, y: np.uint64) -> np.uint64:
    """Return the upper 64 bits of a product."""
    low = (x & _LOW) * (y & _LOW)
    one = (x >> _HALF) * (y & _LOW) + (low >> _HALF)
    two = (x & _LOW) * (y >> _HALF) + (one & _LOW)
    return (x >> _HALF) * (y >> _HALF) + (one >> _HALF) + (two >> _HALF)


@inlined_kernel
def _step(state: Words) -> None:
    """Take one step of PCG64: state = state * factor + increment, in 128 bits, as low and high words of each."""
    low, high = state[0], state[1]
    high = _high_product(low, _FACTOR_LOW) + high * _FACTOR_LOW + low * _FACTOR_HIGH + state[3]
    low = low * _FACTOR_LOW + state[2]
    if low < state[2]:
        high += _ONE
    state[0], state[1] = low, high


@kernel
def start(state: Words, words: Words) -> None:
    """Start a PCG64, given as `generator_words`, from the words of a seed."""
    first_high, first_low = join(words, 0), join(words, 2)
    stream_high, stream_low = join(words, 4), join(words, 6)
    state[2] = (stream_low << _ONE) | _ONE
    state[3] = (stream_high << _ONE) | (stream_low >> np.uint64(63))
    state[0], state[1] = np.uint64(0), np.uint64(0)
    _step(state)
    low = state[0] + first_low
    state[1] += first_high + (_ONE if low < first_low else np.uint64(0))
    state[0] = low
    _step(state)


def generator_words(bits: np.random.PCG64) -> Words | None:
    """Return where a generator keeps its state: two words of state, two of increment; None if that is not known.

    NumPy does not promise the layout, so it is tried out: a state set the official way must show here. (A generator
    also keeps the unused half of a 64-bit draw; no law draws 32 bits.)
    """
    known = 0x0123456789ABCDEF0011223344556677, 0x89ABCDEF0123456700FF11EE22DD33CC | 1
    before = bits.state
    bits.state = {**before, "state": {"state": known[0], "inc": known[1]}, "has_uint32": 0, "uinteger": 0}
    address = ctypes.c_uint64.from_address(bits.ctypes.state_address).value
    shared = np.ctypeslib.as_array((ctypes.c_uint64 * 4).from_address(address))
    expected = [known[0] & (2**64 - 1), known[0] >> 64, known[1] & (2**64 - 1), known[1] >> 64]
    found = shared.tolist() == expected
    bits.state = before
    return shared if found else None
