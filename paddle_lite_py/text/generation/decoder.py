"""The programs that extend rows of tokens: one that reads prompts, and one that generates tokens in a loop."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ... import jit
from ...core.interpreter import state
from ...eager.execute import EAGER
from ...eager.random import host_draw
from ...eager.tensor import Tensor
from ...jit.functional import while_loop
from ...nn import functional as F
from ...ops.convert import assign, to_tensor
from ...ops.creation import arange, zeros
from ...ops.gather import take_along_axis
from ...ops.joining import concat
from ...ops.search import where
from .cache import KeyValueCache
from .choice import Rows, choose, log_probability
from .config import GenerationConfig
from .prompts import Prompts, rounded


class TokenDecoder:
    """A model with its two static functions: `read` for prompts, and `extend` for more tokens.

    What is known of each row is a dict of tensors that both functions change in place: "ids" [batch, capacity] with
    prompt and answer, "lengths" [batch] of the part that is in the cache, "keys" and "values" of the cache, "finished"
    [batch], "scores" [batch] with the sum of log-probabilities, and what choose() needs.
    """

    spare = 0  # tokens that may be in the cache behind the last one

    def __init__(self, model: Any) -> None:
        self.model = model
        self.arguments: tuple[Any, ...] = (model,)
        self.read, self.extend = compiled(self._read), compiled(self._extend)

    def __deepcopy__(self, memo: dict[int, Any]) -> TokenDecoder:
        return type(self)(*copy.deepcopy(self.arguments, memo))

    def __reduce__(self) -> Any:
        return type(self), self.arguments

    def start(self, prompts: Prompts, config: GenerationConfig) -> Rows:
        """Return the state of rows whose prompts have not been read."""
        batch, longest = prompts.ids.shape
        capacity = cache_capacity(self.model, longest, config)
        ids = np.full((batch, capacity), config.padding, np.int64)
        for row, prompt, n in zip(ids, prompts.ids, prompts.lengths, strict=True):
            row[:n] = prompt[:n]
        cache = self.model.new_cache(batch, capacity + self.spare)
        rows = {
            "ids": to_tensor(ids), "keys": cache.keys, "values": cache.values, "lengths": cache.lengths,
            "finished": zeros([batch], "bool"), "scores": zeros([batch], "float32"),
            "prompts": to_tensor(prompts.lengths), "ends": to_tensor(config.ends or [-1]),
        }  # fmt: skip
        return rows | _choice(prompts, config)

    def _read(self, rows: Rows, tokens: Tensor, added: Tensor) -> None:
        self._advance(rows, tokens, added, is_empty=True)

    def _extend(self, rows: Rows, count: Tensor) -> None:
        """Generate until each row that is not finished has count tokens."""

        def is_short(_n: Tensor) -> Tensor:
            return self._is_short(rows, count)

        def body(n: Tensor) -> Tensor:
            self._next(rows)
            return n + 1

        n = zeros([], "int64")
        if state.interpreter is not EAGER:
            while_loop(is_short, body, [n])
            return
        while is_short(n):  # a small model on shapes that have not recurred: see "Shapes that do not recur"
            n = body(n)

    def _is_short(self, rows: Rows, count: Tensor) -> Tensor:
        return (~rows["finished"] & (rows["lengths"] - rows["prompts"] + 1 < count)).any()

    def _next(self, rows: Rows) -> None:
        """Extend each row by a token."""
        self._advance(rows, take_along_axis(rows["ids"], rows["lengths"].unsqueeze(1), 1))

    def logits(self, rows: Rows, tokens: Tensor, added: Tensor | None = None, is_empty: bool = False) -> Tensor:
        """Run the model on tokens [batch, n], and return the logits [batch, words] after the last one of each row."""
        cache = KeyValueCache(rows["keys"], rows["values"], rows["lengths"], added, is_empty)
        found = cache.last(self.model(tokens, cache=cache)).squeeze(1).astype("float32")
        cache.advance(tokens.shape[1] if added is None else added)
        return found

    def _advance(self, rows: Rows, tokens: Tensor, added: Tensor | None = None, is_empty: bool = False) -> None:
        logits = self.logits(rows, tokens, added, is_empty)
        if "seen" in rows and is_empty:
            assign(occurring(rows, logits.shape[-1]), rows["seen"])
        self._choose(rows, logits, ~rows["finished"])

    def _choose(self, rows: Rows, logits: Tensor, is_open: Tensor) -> Tensor:
        """Choose a token of each row, and put it behind those that are in the cache, in rows that are open [batch]."""
        chosen = choose(logits, rows)
        assign(rows["scores"] + where(is_open, log_probability(logits, chosen), 0.0), rows["scores"])
        is_end = is_stopped(rows, chosen.unsqueeze(1)).squeeze(1)
        append(rows, chosen, is_open)
        if "seen" in rows:
            assign(rows["seen"] | ((F.one_hot(chosen, logits.shape[-1]) > 0) & is_open.unsqueeze(1)), rows["seen"])
        assign(rows["finished"] | (is_open & is_end), rows["finished"])
        return chosen


def compiled(method: Any) -> Any:
    """Return a static function of which many programs are meant: one for each rounded length and kind of settings."""
    made = jit.to_static(method, full_graph=True)
    made.cache.warns = False
    return made


def append(rows: Rows, tokens: Tensor, is_open: Tensor | None = None) -> None:
    """Put a token of each row behind those that are in the cache, or of rows that are open [batch]."""
    is_next = arange(rows["ids"].shape[1]).unsqueeze(0) == rows["lengths"].unsqueeze(1)
    if is_open is not None:
        is_next = is_next & is_open.unsqueeze(1)
    assign(where(is_next, tokens.unsqueeze(1), rows["ids"]), rows["ids"])


def is_stopped(rows: Rows, tokens: Tensor, parents: Tensor | None = None) -> Tensor:
    """Return whether an answer ends when tokens [rows, n] are appended, each to its row or to one of its beams.

    Args:
        rows: "ends" are single tokens that end it, "stops" [sequences, longest] sequences, with -1 before shorter ones.
        tokens: Of each row (or of each batch entry).
        parents: The beams [batch, n] that the tokens continue; None: there are none.

    Returns:
        Booleans [rows, n].
    """
    is_end = (tokens.unsqueeze(2) == rows["ends"]).any(2)
    if "stops" not in rows:
        return is_end
    stops, (batch, n) = rows["stops"], tokens.shape
    places = rows["lengths"].unsqueeze(1) - arange(stops.shape[1] - 1, 0, -1)
    before = take_along_axis(rows["ids"], places.clip(min=0), 1)
    before = where(places >= rows["prompts"].unsqueeze(1), before, -2)  # prompts match nothing
    before = before.reshape([batch, -1, stops.shape[1] - 1])
    chosen = zeros([batch, n], "int64") if parents is None else parents
    before = take_along_axis(before, chosen.unsqueeze(2).expand([batch, n, stops.shape[1] - 1]), 1)
    ends = concat([before, tokens.unsqueeze(2)], 2).unsqueeze(2)
    return is_end | ((ends == stops) | (stops < 0)).all(-1).any(-1)


def occurring(rows: Rows, words: int) -> Tensor:
    """Return which tokens occur in each prompt, [batch, words]."""
    ids = rows["ids"]
    is_prompt = arange(ids.shape[1]).unsqueeze(0) < rows["prompts"].unsqueeze(1)
    marked = zeros([ids.shape[0], words + 1], "bool")  # tokens that are not the prompt mark a last column
    return marked.put_along_axis(where(is_prompt, ids, words), True, 1)[:, :words]


def _choice(prompts: Prompts, config: GenerationConfig) -> Rows:
    """Return what choose() needs for a configuration, each row with the same settings."""
    batch = len(prompts.lengths)

    def repeated(value: Any, dtype: str) -> Tensor:
        return to_tensor(np.full(batch, value, dtype))

    found: Rows = {}
    if config.min_new_tokens and config.ends:
        found["least"] = to_tensor(prompts.lengths + config.min_new_tokens)
    if config.repetition_penalty != 1:
        found |= {"penalties": repeated(config.repetition_penalty, "float32"), "seen": zeros([batch, 1], "bool")}
    if config.stop_sequences:
        longest = max(map(len, config.stop_sequences))
        found["stops"] = to_tensor([[-1] * (longest - len(s)) + list(s) for s in config.stop_sequences])
    if config.decode_strategy == "sampling":
        first = int(host_draw().integers(1 << 31)) if config.seed is None else config.seed
        found |= {"seeds": to_tensor(first + np.arange(batch)), "temperatures": repeated(config.temperature, "float32")}
        if config.top_k or config.top_p < 1:
            found |= {"top_k": repeated(config.top_k, "int64"), "top_p": repeated(config.top_p, "float32")}
    return found


def cache_capacity(model: Any, longest: int, config: GenerationConfig) -> int:
    """Return the capacity of the cache for prompts of at most so many tokens.

    Raises:
        ValueError: Prompt and answer are longer than the model or the given capacity allows.
    """
    wanted, limit = longest + config.max_new_tokens, getattr(model, "max_length", None)
    for what, most in (("the model takes", limit), ("cache_capacity is", config.cache_capacity)):
        if most is not None and wanted > most:
            raise ValueError(
                f"a prompt of {longest} tokens and max_new_tokens={config.max_new_tokens} are {wanted} tokens, and "
                f"{what} {most}; shorten the prompt, or generate fewer tokens"
            )
    return config.cache_capacity or rounded(wanted)
