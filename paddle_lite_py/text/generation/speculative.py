"""Speculative decoding: a small model proposes tokens, and one run of the model decides about several of them."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...ops.convert import assign, to_tensor
from ...ops.gather import take_along_axis
from ...ops.joining import concat, stack
from ...ops.math import minimum
from .cache import KeyValueCache
from .choice import Rows, choose
from .config import GenerationConfig
from .decoder import TokenDecoder, cache_capacity
from .prompts import Prompts


class ProposalCache(KeyValueCache):
    """A cache for new tokens of which some are rejected later: logits of all of them count.

    Positions stop before "limits" [batch], behind which no token is accepted.
    """

    def __init__(self, rows: Rows, name: str, lengths: Tensor) -> None:
        super().__init__(rows[f"{name}keys"], rows[f"{name}values"], lengths)
        self._limits = rows["limits"]

    def positions(self, count: int) -> Tensor:
        """Return the positions of count new tokens, [batch, count]."""
        return minimum(super().positions(count), self._limits.unsqueeze(1) - 1)

    def last(self, x: Tensor) -> Tensor:
        """Return x."""
        return x


class SpeculativeDecoder(TokenDecoder):
    """A TokenDecoder with a draft model that proposes `count` tokens at a time.

    A proposal is accepted if it is the token that the model chooses. Both draw with the same random numbers, so they
    often agree, and the tokens are those without a draft. A row that rejects a proposal has the right token in its
    place.

    Source: Leviathan et al., Fast Inference from Transformers via Speculative Decoding, 2023; Daliri et al., Coupling
    without Communication and Drafter-Invariant Speculative Decoding, 2024 (random numbers).
    """

    def __init__(self, model: Any, draft: Any, count: int) -> None:
        super().__init__(model)
        self.draft, self.count = draft, count
        self.arguments, self.spare = (model, draft, count), count

    def start(self, prompts: Prompts, config: GenerationConfig) -> Rows:
        """Return the state of rows whose prompts have not been read."""
        rows = super().start(prompts, config)
        batch, longest = prompts.ids.shape
        cache = self.draft.new_cache(batch, cache_capacity(self.draft, longest, config) + self.spare)
        return rows | {
            "draft_keys": cache.keys, "draft_values": cache.values,
            "limits": to_tensor(prompts.lengths + config.max_new_tokens),
        }  # fmt: skip

    def _read(self, rows: Rows, tokens: Tensor, added: Tensor) -> None:
        super()._read(rows, tokens, added)
        self._end_at_limits(rows)

    def logits(self, rows: Rows, tokens: Tensor, added: Tensor | None = None, is_empty: bool = False) -> Tensor:
        """Run both models on prompts, and return the model's logits after the last token of each row.

        Raises:
            ValueError: The models have different numbers of tokens.
        """
        cache = KeyValueCache(rows["draft_keys"], rows["draft_values"], rows["lengths"], added, is_empty)
        words = self.draft(tokens, cache=cache).shape[-1]
        found = super().logits(rows, tokens, added, is_empty)
        if words != found.shape[-1]:
            raise ValueError(f"draft has {words} tokens, and the model {found.shape[-1]}; they must be the same")
        return found

    def _next(self, rows: Rows) -> None:
        """Extend each row by at least one token."""
        proposed = self._propose(rows)
        tokens = concat([_tokens_at(rows, rows["lengths"]), stack(proposed, 1)], 1)
        logits = self.model(tokens, cache=ProposalCache(rows, "", rows["lengths"])).astype("float32")
        is_open = ~rows["finished"]
        for i in range(self.count + 1):
            rows["lengths"].add_(is_open.astype("int64"))
            chosen = self._choose(rows, logits[:, i], is_open)
            self._end_at_limits(rows)
            if i < self.count:
                is_open = is_open & ~rows["finished"] & (chosen == proposed[i])

    def _propose(self, rows: Rows) -> list[Tensor]:
        """Return tokens that the draft model chooses, one after another, each [batch]."""
        lengths = rows["lengths"] - 1
        # The draft has not read the token before the last one if all its proposals were accepted.
        tokens, found = concat([_tokens_at(rows, lengths), _tokens_at(rows, lengths + 1)], 1), []
        for _ in range(self.count):
            logits = self.draft(tokens, cache=ProposalCache(rows, "draft_", lengths))[:, -1].astype("float32")
            lengths = lengths + tokens.shape[1]
            found.append(choose(logits, {**rows, "lengths": lengths}))
            tokens = found[-1].unsqueeze(1)
        return found

    def _end_at_limits(self, rows: Rows) -> None:
        assign(rows["finished"] | (rows["lengths"] + 1 >= rows["limits"]), rows["finished"])


def _tokens_at(rows: Rows, places: Tensor) -> Tensor:
    return take_along_axis(rows["ids"], places.unsqueeze(1), 1)
