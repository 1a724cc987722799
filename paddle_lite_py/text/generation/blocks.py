"""Which blocks of a paged cache belong to which sequences."""

from __future__ import annotations

import collections
import hashlib
from collections.abc import Sequence

import numpy as np

BLOCK = 16  # tokens


class Blocks:
    """The blocks of a paged cache, with the number of sequences that use each.

    Blocks of equal beginnings are shared. What a block has stays known after its last use, until its memory is needed:
    the block that has been unused for longest is taken first. Block 0 is never given away: it takes what belongs
    nowhere.

    Arguments:
        count: number of blocks, block 0 among them.

    Examples:
        >>> blocks, prompt = Blocks(4), list(range(20))
        >>> first, found = blocks.acquire(prompt, 32)
        >>> first, found
        ([1, 2], 0)
        >>> blocks.publish(first, prompt)
        >>> blocks.acquire(prompt, 32)
        ([1, 3], 16)
        >>> blocks.acquire(prompt, 64) is None
        True
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self._uses = [0] * count
        self._unused = collections.OrderedDict[int, None].fromkeys(range(1, count))  # the next to be taken is first
        self._known: dict[bytes, int] = {}  # by the content of it and of all blocks before it
        self._keys: dict[int, bytes] = {}

    @property
    def used(self) -> int:
        """Number of blocks that sequences use."""
        return self.count - 1 - len(self._unused)

    def acquire(self, prompt: Sequence[int], total: int) -> tuple[list[int], int] | None:
        """Return blocks for a sequence, and how many tokens of the prompt are in them already; None: too few are left.

        Args:
            prompt: The beginning of the sequence.
            total: Tokens that it may grow to.
        """
        shared = [self._known[key] for key in self._found(prompt)]
        needed = needed_blocks(total) - len(shared)
        if len(self._unused) - sum(not self._uses[b] for b in shared) < needed:
            return None
        for block in shared:
            self._unused.pop(block, None)
        blocks = shared + [self._taken() for _ in range(needed)]
        for block in blocks:
            self._uses[block] += 1
        return blocks, len(shared) * BLOCK

    def _found(self, prompt: Sequence[int]) -> list[bytes]:
        keys = prefix_keys(prompt)
        return keys[: next((i for i, key in enumerate(keys) if key not in self._known), len(keys))]

    def _taken(self) -> int:
        block, _ = self._unused.popitem(last=False)
        if key := self._keys.pop(block, None):
            del self._known[key]
        return block

    def publish(self, blocks: list[int], tokens: Sequence[int]) -> None:
        """Let other sequences share the full blocks of tokens that are in the cache."""
        for block, key in zip(blocks, prefix_keys(tokens), strict=False):
            if key not in self._known:
                self._known[key], self._keys[block] = block, key

    def release(self, blocks: list[int]) -> None:
        """End the use of blocks by one sequence."""
        for block in reversed(blocks):  # the end of a sequence is of use to fewer others than its beginning
            self._uses[block] -= 1
            if not self._uses[block]:
                self._unused[block] = None
                self._unused.move_to_end(block, last=block in self._keys)


def needed_blocks(tokens: int) -> int:
    """Return the number of blocks that have room for tokens."""
    return -(-tokens // BLOCK)


def prefix_keys(tokens: Sequence[int]) -> list[bytes]:
    """Return a key for each full block, of its tokens and all before them."""
    array, keys, last = np.asarray(tokens, np.int64), [], b""
    for at in range(0, len(array) - BLOCK + 1, BLOCK):
        last = hashlib.sha256(last + array[at : at + BLOCK].tobytes()).digest()
        keys.append(last)
    return keys
