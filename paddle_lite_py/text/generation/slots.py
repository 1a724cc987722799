"""Rows of a batch that begin and end independently of each other: continuous batching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...autograd.mode import no_grad
from ...core.switches import baseline_tier
from ...eager.tensor import Tensor
from ...ops.convert import to_tensor
from ...ops.creation import zeros
from .blocks import BLOCK, Blocks, needed_blocks
from .cache import PagedCache
from .choice import Rows, choose
from .decoder import compiled

SMALLEST = 16  # tokens of the shortest prompt that a program is compiled for


class Sampling(NamedTuple):
    """How the tokens of a slot are drawn; temperature 0 is greedy."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


class SlotUse(NamedTuple):
    """Tokens of prompt and answer in a slot, the blocks for them, and how they are drawn."""

    tokens: list[int]
    blocks: list[int]
    sampling: Sampling


class SlotPrograms:
    """The programs of a model: `write` puts a prompt into blocks, `step` generates a token in each slot.

    The cache is state of the programs and no argument of theirs, so that they update it in place.
    """

    def __init__(self, model: Any, blocks: int) -> None:
        cache = model.new_cache(blocks, BLOCK)
        self.model, self.keys, self.values = model, cache.keys, cache.values
        self.write, self.step = compiled(self._write), compiled(self._step)

    def clear(self) -> None:
        """Give the cache new memory, in place of what a program that failed may have consumed."""
        for tensor in (*self.keys, *self.values):
            tensor.set_value(np.zeros(tensor.shape, tensor.dtype.np))

    def _write(self, tables: Tensor, lengths: Tensor, tokens: Tensor) -> None:
        one = zeros([1], "int64") + 1  # logits are not needed, so those of the first token do
        self.model(tokens, cache=PagedCache(self.keys, self.values, tables, lengths, one))

    def _step(self, tables: Tensor, tokens: Tensor, rows: Rows) -> Tensor:
        cache = PagedCache(self.keys, self.values, tables, rows["lengths"])
        logits = cache.last(self.model(tokens, cache=cache)).squeeze(1).astype("float32")
        return choose(logits, {**rows, "lengths": rows["lengths"] + 1})


class SlotBatch:
    """A fixed number of slots, each for one prompt and its answer, over a paged cache.

    All slots generate their next token in one call of one program, whether they are in use or not; prompts are padded
    to powers of two. So few programs serve all requests, and after warm_up() nothing is compiled.

    The cache takes `2 * layers * key_heads * head_dim * itemsize` bytes a token. A slot uses blocks of 16 tokens for
    its prompt and answer; prompts that begin with the tokens of an earlier prompt or answer share its blocks.

    Arguments:
        model: as for generate(); it is put in eval mode.
        slots: number of slots.
        capacity: largest number of tokens of prompt and answer.
        cache_tokens: tokens that the cache has memory for; None: slots * capacity.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> batch = SlotBatch(paddle.text.models.CausalLM(paddle.text.models.tiny_config()), slots=2, capacity=32)
        >>> batch.admit(0, [1, 2, 3], Sampling(), 5)
        0
        >>> sorted(batch.step())
        [0]
    """

    def __init__(self, model: Any, slots: int, capacity: int, cache_tokens: int | None = None) -> None:
        model.eval()
        count = slots * needed_blocks(capacity) if cache_tokens is None else needed_blocks(cache_tokens)
        self.slots, self.capacity, self.blocks = slots, min(capacity, count * BLOCK), Blocks(1 + count)
        self.programs = SlotPrograms(model, self.blocks.count)
        self.lengths = np.zeros(slots, np.int64)
        self._tables = np.zeros((slots, needed_blocks(self.capacity)), np.int64)
        self._uses: dict[int, SlotUse] = {}

    def clear(self) -> None:
        """Empty all slots, with new memory."""
        self.programs.clear()
        for slot in list(self._uses):
            self._empty(slot)
        self.blocks = Blocks(self.blocks.count)

    @property
    def free(self) -> list[int]:
        """The slots that are not in use."""
        return [i for i in range(self.slots) if i not in self._uses]

    def sizes(self) -> list[int]:
        """Return the lengths that prompts are padded to."""
        powers = [SMALLEST << i for i in range(self.capacity.bit_length()) if SMALLEST << i < self.capacity]
        return [*powers, self.capacity]

    def warm_up(self) -> None:
        """Compile all programs."""
        kinds = (Sampling(), Sampling(1.0), Sampling(1.0, 1))
        with baseline_tier.off():
            for _ in range(2):  # of small models, a kind of call that is met once may run eagerly
                for size in self.sizes():
                    self._write(0, [0] * size)
                for sampling in kinds:
                    self._uses[0] = SlotUse([0], [], sampling)
                    self.step()
                    self._empty(0)

    def admit(self, slot: int, prompt: Sequence[int], sampling: Sampling, most: int) -> int | None:
        """Put a prompt into a free slot: its first token comes with the next step.

        Args:
            slot: Its number.
            prompt: Tokens.
            sampling: How the tokens of the answer are drawn.
            most: Largest number of tokens of the answer.

        Returns:
            How many tokens of the prompt were in the cache already; None, and nothing is changed: the cache has no
            room before other slots are released.
        """
        read = prompt[:-1]  # the last token is read by the step that gives the first new one
        if (found := self.blocks.acquire(read, len(prompt) + most)) is None:
            return None
        blocks, shared = found
        self._uses[slot] = SlotUse(list(prompt), blocks, sampling)
        self._tables[slot, : len(blocks)], self.lengths[slot] = blocks, shared
        if len(read) > shared:
            self._write(slot, list(read[shared:]))
            self.lengths[slot] = len(read)
        self.blocks.publish(blocks, read)
        return shared

    def _write(self, slot: int, prompt: list[int]) -> None:
        size = next(n for n in self.sizes() if n >= len(prompt))
        tokens = to_tensor(np.array([prompt + [0] * (size - len(prompt))], np.int64))
        with no_grad():
            self.programs.write(*(to_tensor(a[slot : slot + 1]) for a in (self._tables, self.lengths)), tokens)

    def step(self) -> dict[int, int]:
        """Generate a token in each slot that is in use; return them by slot."""
        tokens = np.zeros((self.slots, 1), np.int64)
        for slot, use in self._uses.items():
            tokens[slot] = use.tokens[-1]
        with no_grad():
            found = self.programs.step(to_tensor(self._tables), to_tensor(tokens), self._rows()).numpy()
        for slot, use in self._uses.items():
            self.lengths[slot] += 1
            use.tokens.append(int(found[slot]))
        return {slot: use.tokens[-1] for slot, use in self._uses.items()}

    def _rows(self) -> Rows:
        """Return what choose() needs; of slots that are not in use, anything."""
        every = [self._uses[i].sampling if i in self._uses else Sampling() for i in range(self.slots)]
        rows: Rows = {"lengths": to_tensor(self.lengths)}
        if all(s.temperature == 0 for s in every):
            return rows
        rows["seeds"] = to_tensor(np.array([s.seed for s in every], np.int64))
        rows["temperatures"] = to_tensor(np.array([s.temperature or 1 for s in every], np.float32))
        rows["greedy"] = to_tensor(np.array([s.temperature == 0 for s in every]))
        if any(s.top_k or s.top_p < 1 for s in every):
            rows["top_k"] = to_tensor(np.array([s.top_k for s in every], np.int64))
            rows["top_p"] = to_tensor(np.array([s.top_p for s in every], np.float32))
        return rows

    def release(self, slot: int) -> None:
        """End what is in a slot. Its blocks can be shared until their memory is needed."""
        tokens, blocks, _ = self._uses[slot]
        self.blocks.publish(blocks, tokens[: self.lengths[slot]])
        self.blocks.release(blocks)
        self._empty(slot)

    def _empty(self, slot: int) -> None:
        del self._uses[slot]
        self.lengths[slot] = self._tables[slot] = 0
