"""Rows of a batch that begin and end independently of each other: continuous batching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...autograd.mode import no_grad
from ...core.switches import baseline_tier
from ...eager.tensor import Tensor
from ...ops.convert import assign, to_tensor
from ...ops.creation import zeros
from ...ops.decoding import cache_insert
from .cache import KeyValueCache
from .choice import Rows, choose
from .decoder import compiled

SMALLEST = 16  # tokens of the shortest prompt that a program is compiled for


class Sampling(NamedTuple):
    """How the tokens of a slot are drawn; temperature 0 is greedy."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0


class SlotPrograms:
    """The programs of a model: `write` puts a prompt into a slot, `step` generates a token in each slot.

    The cache is state of the programs and no argument of theirs, so that they update it in place.
    """

    def __init__(self, model: Any, slots: int, capacity: int) -> None:
        cache = model.new_cache(slots, capacity)
        self.model, self.keys, self.values = model, cache.keys, cache.values
        self.write, self.step = compiled(self._write), compiled(self._step)

    def clear(self) -> None:
        """Give the cache new memory, in place of what a program that failed may have consumed."""
        for tensor in (*self.keys, *self.values):
            tensor.set_value(np.zeros(tensor.shape, tensor.dtype.np))

    def _write(self, slot: Tensor, tokens: Tensor) -> None:
        fresh = self.model.new_cache(1, tokens.shape[1])
        one = zeros([1], "int64") + 1  # logits are not needed, so those of the first token do
        own = KeyValueCache(fresh.keys, fresh.values, fresh.lengths, one, is_empty=True)
        self.model(tokens, cache=own)
        insert: Any = cache_insert
        for cache, new in zip([*self.keys, *self.values], [*own.keys, *own.values], strict=True):
            assign(insert(cache, new, slot), cache)

    def _step(self, tokens: Tensor, rows: Rows) -> Tensor:
        cache = KeyValueCache(self.keys, self.values, rows["lengths"])
        logits = cache.last(self.model(tokens, cache=cache)).squeeze(1).astype("float32")
        return choose(logits, {**rows, "lengths": rows["lengths"] + 1})


class SlotBatch:
    """A cache with a fixed number of slots, each for one prompt and its answer.

    All slots generate their next token in one call of one program, whether they are in use or not; prompts are padded
    to powers of two. So few programs serve all requests, and after warm_up() nothing is compiled.

    Arguments:
        model: as for generate(); it is put in eval mode.
        slots: number of slots.
        capacity: tokens of prompt and answer that a slot has memory for.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> batch = SlotBatch(paddle.text.models.CausalLM(paddle.text.models.tiny_config()), slots=2, capacity=32)
        >>> batch.admit(0, [1, 2, 3], Sampling())
        >>> sorted(batch.step())
        [0]
    """

    def __init__(self, model: Any, slots: int, capacity: int) -> None:
        model.eval()
        self.programs, self.slots, self.capacity = SlotPrograms(model, slots, capacity), slots, capacity
        self.lengths = np.zeros(slots, np.int64)
        self._tokens = np.zeros(slots, np.int64)
        self._sampling: dict[int, Sampling] = {}

    def clear(self) -> None:
        """Empty all slots, with new memory."""
        self.programs.clear()
        for slot in range(self.slots):
            self.release(slot)

    @property
    def free(self) -> list[int]:
        """The slots that are not in use."""
        return [i for i in range(self.slots) if i not in self._sampling]

    def sizes(self) -> list[int]:
        """The lengths that prompts are padded to."""
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
                    self._sampling[0] = sampling
                    self.step()
                    self.release(0)

    def admit(self, slot: int, prompt: Sequence[int], sampling: Sampling) -> None:
        """Put a prompt into a free slot: its first token comes with the next step."""
        if len(prompt) > 1:
            self._write(slot, list(prompt[:-1]))
        self.lengths[slot], self._tokens[slot] = len(prompt) - 1, prompt[-1]
        self._sampling[slot] = sampling

    def _write(self, slot: int, prompt: list[int]) -> None:
        size = next(n for n in self.sizes() if n >= len(prompt))
        tokens = to_tensor(np.array([prompt + [0] * (size - len(prompt))], np.int64))
        with no_grad():
            self.programs.write(to_tensor(slot), tokens)

    def step(self) -> dict[int, int]:
        """Generate a token in each slot that is in use; return them by slot."""
        with no_grad():
            found = self.programs.step(to_tensor(self._tokens[:, None]), self._rows()).numpy()
        for slot in self._sampling:
            self.lengths[slot] += 1
            self._tokens[slot] = found[slot]
        return {slot: int(found[slot]) for slot in self._sampling}

    def _rows(self) -> Rows:
        """Return what choose() needs; of slots that are not in use, anything."""
        every = [self._sampling.get(i, Sampling()) for i in range(self.slots)]
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
        """End what is in a slot."""
        self._sampling.pop(slot, None)
        self.lengths[slot] = self._tokens[slot] = 0
