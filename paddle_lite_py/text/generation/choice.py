"""The next token of each row, from its logits."""

from __future__ import annotations

from typing import Any

from ...eager.tensor import Tensor
from ...nn import functional as F
from ...ops.decoding import sample_tokens, truncate_logits
from ...ops.gather import take_along_axis
from ...ops.search import where

Rows = dict[str, Any]  # tensors by name, each with a row for each row of the batch


def choose(logits: Tensor, rows: Rows) -> Tensor:
    """Choose a token of each row.

    The entries of rows select what is computed, so that a greedy program does not sort:

    - "penalties" [batch] and "seen" [batch, words]: divide logits of tokens that occurred.
    - "least" [batch] and "ends" [n]: no end token before this length.
    - "seeds" and "temperatures" [batch]: draw; with "top_k" and "top_p" [batch], among the most probable tokens; with
      "greedy" [batch], in rows where it is False.

    Args:
        logits: float32 [batch, words].
        rows: Tensors by name.

    Returns:
        Tokens, int64 [batch].
    """
    logits = processed(logits, rows)
    if "seeds" not in rows:
        return logits.argmax(-1)
    drawn = _draw(logits / rows["temperatures"].unsqueeze(1), rows)
    return where(rows["greedy"], logits.argmax(-1), drawn) if "greedy" in rows else drawn


def _draw(logits: Tensor, rows: Rows) -> Tensor:
    if "top_k" in rows:
        truncate: Any = truncate_logits
        logits = truncate(logits, rows["top_k"], rows["top_p"])
    sample: Any = sample_tokens
    return sample(logits, rows["seeds"], rows["lengths"])


def processed(logits: Tensor, rows: Rows) -> Tensor:
    """Apply the repetition penalty, and exclude end tokens where it is too early for them."""
    if "seen" in rows:
        penalty = rows["penalties"].unsqueeze(1)
        logits = where(rows["seen"], where(logits > 0, logits / penalty, logits * penalty), logits)
    if "least" in rows:
        is_end = F.one_hot(rows["ends"], logits.shape[-1]).sum(0) > 0
        is_early = rows["lengths"] < rows["least"]
        logits = where(is_end.unsqueeze(0) & is_early.unsqueeze(1), float("-inf"), logits)
    return logits


def log_probability(logits: Tensor, tokens: Tensor) -> Tensor:
    """Return the log-probability of tokens [batch] under logits [batch, words]."""
    return take_along_axis(F.log_softmax(logits, -1), tokens.unsqueeze(1), 1).squeeze(1)
