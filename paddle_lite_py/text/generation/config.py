"""How tokens are chosen, and when generation ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["GenerationConfig"]

STRATEGIES = ("greedy_search", "sampling", "beam_search")


@dataclass(frozen=True)
class GenerationConfig:
    """Settings of generate() and stream(), which take each of them as a keyword.

    Arguments:
        max_new_tokens: largest number of tokens generated for each prompt. Default: 20.
        min_new_tokens: number of tokens before which no end token is chosen. Default: 0.
        decode_strategy: "greedy_search" (the most probable token), "sampling" or "beam_search". Default:
            'greedy_search'.
        temperature: of "sampling": logits are divided by it. Default: 1.0.
        top_k: of "sampling": draw from the k most probable tokens; 0: from all. Default: 0.
        top_p: of "sampling": draw from the most probable tokens whose total probability reaches p. Default: 1.0.
        repetition_penalty: logits of tokens that occurred, in the prompt too, are divided by it if positive, else
            multiplied. Default: 1.0.
        num_beams: of "beam_search": number of candidates. Default: 4.
        length_penalty: of "beam_search": candidates are ranked by log-probability / length ** length_penalty. Default:
            1.0.
        early_stopping: of "beam_search": end when num_beams candidates have ended, even if others could become better.
            Default: False.
        eos_token_id: the token that ends a row, or several of them.
        pad_token_id: the token that follows in rows that have ended; None: the first eos_token_id, or 0.
        stop_sequences: sequences of tokens; a row ends with the first of them that it generates.
        seed: of "sampling": an integer, for the same tokens in each call; None: the next number of the stream of
            `paddle.seed()`.
        cache_capacity: tokens of prompt and answer that the cache has memory for; None: a rounded number. The same
            capacity avoids compilations when lengths vary.
        draft_tokens: with a draft model, number of tokens that it proposes at a time. Default: 4.

    Raises:
        TypeError: if a setting has the wrong type.
        ValueError: if a setting is out of range.

    Source: Keskar et al., CTRL, 2019 (repetition_penalty); Holtzman et al., The Curious Case of Neural Text
    Degeneration, 2020 (top_p); Wu et al., Google's Neural Machine Translation System, 2016 (length_penalty).

    Examples:
        >>> GenerationConfig(decode_strategy="sampling", top_k=8).top_k
        8
    """

    max_new_tokens: int = 20
    min_new_tokens: int = 0
    decode_strategy: str = "greedy_search"
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    repetition_penalty: float = 1.0
    num_beams: int = 4
    length_penalty: float = 1.0
    early_stopping: bool = False
    eos_token_id: int | Sequence[int] | None = None
    pad_token_id: int | None = None
    stop_sequences: Sequence[Sequence[int]] = ()
    seed: int | None = None
    cache_capacity: int | None = None
    draft_tokens: int = 4

    def __post_init__(self) -> None:
        if self.decode_strategy not in STRATEGIES:
            raise ValueError(f"decode_strategy is {self.decode_strategy!r}; expected one of {', '.join(STRATEGIES)}")
        for name in ("max_new_tokens", "num_beams", "draft_tokens"):
            _check(name, getattr(self, name), int, lambda n: n >= 1, "an integer of at least 1")
        for name in ("min_new_tokens", "top_k"):
            _check(name, getattr(self, name), int, lambda n: n >= 0, "an integer of at least 0")
        for name in ("temperature", "repetition_penalty"):
            _check(name, getattr(self, name), (int, float), lambda x: 0 < x < math.inf, "a number above 0")
        _check("top_p", self.top_p, (int, float), lambda p: 0 < p <= 1, "a number above 0 and at most 1")
        if not all(self.stop_sequences):
            raise ValueError(f"stop_sequences is {self.stop_sequences!r}; expected sequences of at least one token")

    @property
    def ends(self) -> list[int]:
        """The tokens that end a row."""
        if self.eos_token_id is None:
            return []
        return [self.eos_token_id] if isinstance(self.eos_token_id, int) else list(self.eos_token_id)

    @property
    def padding(self) -> int:
        """The token that follows in rows that have ended."""
        return self.pad_token_id if self.pad_token_id is not None else next(iter(self.ends), 0)


def _check(name: str, value: Any, kind: Any, is_valid: Callable[[Any], bool], expected: str) -> None:
    if isinstance(value, bool) or not isinstance(value, kind):
        raise TypeError(f"{name} is {value!r}; expected {expected}")
    if not is_valid(value):
        raise ValueError(f"{name} is {value!r}; expected {expected}")
