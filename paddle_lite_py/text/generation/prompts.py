"""Prompts of different lengths as rows of one array."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...eager.tensor import Tensor
from ...ops.convert import to_tensor


class Prompts(NamedTuple):
    """Token ids [batch, longest], padded at the end with 0, and the lengths of the rows."""

    ids: np.ndarray
    lengths: np.ndarray


def read_prompts(input_ids: Any, attention_mask: Any = None) -> Prompts:
    """Read prompts from a tensor with a mask, or from lists of tokens.

    Args:
        input_ids: Integer tensor or array [batch, n], or a list of lists of different lengths.
        attention_mask: [batch, n], 0 for padding, which may be at the beginning or at the end; None: no padding.

    Returns:
        The tokens of each row without its padding.

    Raises:
        TypeError: The ids are no integers.
        ValueError: A row has no tokens, or the shapes are wrong.

    Example:
        >>> read_prompts([[5, 6], [7]]).ids.tolist()
        [[5, 6], [7, 0]]
    """
    rows = _rows(input_ids, attention_mask)
    for i, row in enumerate(rows):
        if not len(row):
            raise ValueError(f"input_ids: row {i} has no tokens; expected at least one, such as a start token")
    lengths = np.array([len(row) for row in rows], np.int64)
    ids = np.zeros((len(rows), lengths.max()), np.int64)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
    return Prompts(ids, lengths)


def _rows(input_ids: Any, attention_mask: Any) -> list[np.ndarray]:
    if isinstance(input_ids, list | tuple) and attention_mask is None:
        rows = [_integers(row) for row in input_ids]
    else:
        ids = _integers(input_ids)
        if ids.ndim != 2:
            raise ValueError(f"input_ids has shape {list(ids.shape)}; expected [batch, n]")
        mask = np.ones(ids.shape, bool) if attention_mask is None else _array(attention_mask) != 0
        if mask.shape != ids.shape:
            raise ValueError(
                f"attention_mask has shape {list(mask.shape)} and input_ids {list(ids.shape)}; both must be equal"
            )
        rows = [row[seen] for row, seen in zip(ids, mask, strict=True)]
    if not rows or any(row.ndim != 1 for row in rows):
        raise ValueError("input_ids is not a batch of sequences; expected shape [batch, n] or a list of lists")
    return rows


def _array(x: Any) -> np.ndarray:
    return x.numpy() if isinstance(x, Tensor) else np.asarray(x)


def _integers(x: Any) -> np.ndarray:
    found = _array(x)
    if found.size and found.dtype.kind not in "iu":
        raise TypeError(f"input_ids are {found.dtype}; expected integers")
    return found.astype(np.int64)


def rounded(count: int) -> int:
    """Return a size of at least count, of which there are four in each octave; few sizes mean few compilations.

    Example:
        >>> [rounded(n) for n in (1, 33, 100, 130, 1000)]
        [32, 64, 128, 160, 1024]
    """
    step = max(32, 1 << max((count - 1).bit_length() - 3, 0))
    return -(-count // step) * step


def padded(prompts: Prompts, capacity: int) -> tuple[Tensor, Tensor]:
    """Return tokens padded to a rounded length, and the lengths of the rows."""
    n = prompts.ids.shape[1]
    return to_tensor(np.pad(prompts.ids, [(0, 0), (0, min(rounded(n), capacity) - n)])), to_tensor(prompts.lengths)
