"""Sequences of several lengths in one tensor: padded, or packed step by step as torch packs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ops.convert import to_tensor
from ...ops.creation import full
from ...ops.dynamic import concrete
from ...ops.gather import gather_nd
from ...ops.joining import concat, stack

__all__ = [
    *("PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence"),
    "unpad_sequence",
]


class PackedSequence(NamedTuple):
    """The elements of sequences step by step, without padding; recurrent layers of paddle.compat.nn take it.

    Arguments:
        data: [elements, ...]: the first elements of all sequences, then the second ones, and so on.
        batch_sizes: how many sequences have a first element, a second one, and so on.
        sorted_indices: where each sequence of the packed batch was in the given one; None: in the same place.
        unsorted_indices: the way back.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> packed = paddle.compat.nn.pack_sequence([paddle.to_tensor([1, 2, 3]), paddle.to_tensor([4])])
        >>> packed.data.tolist(), packed.batch_sizes.tolist()
        ([1, 4, 2, 3], [2, 1, 1])
    """

    data: Any
    batch_sizes: Any
    sorted_indices: Any = None
    unsorted_indices: Any = None


def lengths_of(packed: PackedSequence) -> np.ndarray:
    """Return the lengths of the sequences of a packed batch, longest first.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> lengths_of(paddle.compat.nn.pack_sequence([paddle.ones([3]), paddle.ones([1])])).tolist()
        [3, 1]
    """
    sizes = np.asarray(concrete(packed.batch_sizes, "a packed sequence", "lengths that are known while tracing"))
    return (sizes[:, None] > np.arange(sizes[0])).sum(0)


def _places(lengths: np.ndarray) -> np.ndarray:
    """Return step and sequence of each packed element, [elements, 2]."""
    return np.argwhere(np.arange(lengths.max(initial=0))[:, None] < lengths)


def pack_padded_sequence(input: Any, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True) -> Any:
    """Pack a padded batch.

    Arguments:
        input: [length, batch, ...].
        lengths: of the sequences, a list or tensor of integers.
        batch_first: the input is [batch, length, ...]. Default: False.
        enforce_sorted: False: lengths in any order; the packed batch has the longest sequence first.

    Raises:
        ValueError: lengths are not as many as sequences, not positive, longer than the input, or, with enforce_sorted,
            not in descending order.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1, 2, 3], [4, 0, 0]])
        >>> paddle.compat.nn.pack_padded_sequence(x, [3, 1], batch_first=True).data.tolist()
        [1, 4, 2, 3]
    """
    found = np.asarray(concrete(lengths, "pack_padded_sequence()", "lengths that are known while tracing"), np.int64)
    size, batch = (input.shape[1], input.shape[0]) if batch_first else (input.shape[0], input.shape[1])
    if found.shape != (batch,) or (found < 1).any() or (found > size).any():
        raise ValueError(
            f"pack_padded_sequence: lengths is {found.tolist()}; expected {batch} numbers from 1 to {size}"
        )
    order = np.argsort(-found, kind="stable")
    if enforce_sorted and (order != np.arange(batch)).any():
        raise ValueError(
            f"pack_padded_sequence: lengths {found.tolist()} are not in descending order; sort the batch, or pass "
            "enforce_sorted=False"
        )
    at = _places(found[order])
    at[:, 1] = order[at[:, 1]]
    sizes = np.bincount(_places(found[order])[:, 0])
    data = gather_nd(input, to_tensor(at[:, ::-1].copy() if batch_first else at))
    indices = (None, None) if enforce_sorted else (to_tensor(order), to_tensor(np.argsort(order)))
    return PackedSequence(data, to_tensor(sizes), *indices)


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Any, Any]:
    """Return the padded batch of a packed one, and the lengths.

    Arguments:
        sequence: what pack_padded_sequence() or a recurrent layer returned.
        batch_first: return [batch, length, ...] and not [length, batch, ...]. Default: False.
        padding_value: fills the rest. Default: 0.0.
        total_length: length of the padded batch; None: that of the longest sequence.

    Raises:
        ValueError: total_length is less than that.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> packed = paddle.compat.nn.pack_sequence([paddle.to_tensor([1, 2, 3]), paddle.to_tensor([4])])
        >>> x, lengths = paddle.compat.nn.pad_packed_sequence(packed, batch_first=True)
        >>> x.tolist(), lengths.tolist()
        ([[1, 2, 3], [4, 0, 0]], [3, 1])
    """
    lengths = lengths_of(sequence)
    longest = int(lengths.max(initial=0))
    if total_length is not None and total_length < longest:
        raise ValueError(f"pad_packed_sequence: total_length is {total_length}; the longest sequence has {longest}")
    table = np.full((longest if total_length is None else total_length, len(lengths)), len(sequence.data), np.int64)
    places = _places(lengths)
    table[places[:, 0], places[:, 1]] = np.arange(len(places))
    if sequence.unsorted_indices is not None:
        back = np.asarray(sequence.unsorted_indices)
        table, lengths = table[:, back], lengths[back]
    padding = full([1, *sequence.data.shape[1:]], padding_value, sequence.data.dtype)
    rows = concat([sequence.data, padding])
    return rows[to_tensor(table.T.copy() if batch_first else table)], to_tensor(lengths)


def pad_sequence(
    sequences: Sequence[Any], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Any:
    """Return sequences [length, ...] as one tensor, filled up to the longest one.

    Arguments:
        sequences: tensors that differ in their first dimension alone.
        batch_first: return [batch, length, ...] and not [length, batch, ...]. Default: False.
        padding_value: fills the rest. Default: 0.0.
        padding_side: "right" or "left". Default: "right".

    Raises:
        ValueError: there is no sequence, or padding_side is another text.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.pad_sequence([paddle.to_tensor([1, 2]), paddle.to_tensor([3])], True).tolist()
        [[1, 2], [3, 0]]
    """
    if not len(sequences) or padding_side not in ("left", "right"):
        raise ValueError(
            f"pad_sequence: {len(sequences)} sequences and padding_side {padding_side!r}; expected at least one, and "
            "'left' or 'right'"
        )
    longest = max(x.shape[0] for x in sequences)
    parts = []
    for x in sequences:
        rest = full([longest - x.shape[0], *x.shape[1:]], padding_value, x.dtype)
        parts.append(concat([rest, x] if padding_side == "left" else [x, rest]) if rest.shape[0] else x)
    return stack(parts, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Any, lengths: Any, batch_first: bool = False) -> list[Any]:
    """Return the sequences of a padded batch, as a list.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1, 2], [3, 0]])
        >>> [part.tolist() for part in paddle.compat.nn.unpad_sequence(x, paddle.to_tensor([2, 1]), batch_first=True)]
        [[1, 2], [3]]
    """
    rows = padded_sequences if batch_first else padded_sequences.transpose([1, 0, *range(2, padded_sequences.ndim)])
    return [row[:n] for row, n in zip(rows, [int(n) for n in lengths], strict=True)]


def pack_sequence(sequences: Sequence[Any], enforce_sorted: bool = True) -> PackedSequence:
    """Pack sequences [length, ...]; see pack_padded_sequence().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> packed = paddle.compat.nn.pack_sequence([paddle.to_tensor([4]), paddle.to_tensor([1, 2])], False)
        >>> packed.data.tolist(), packed.sorted_indices.tolist()
        ([1, 4, 2], [1, 0])
    """
    return pack_padded_sequence(pad_sequence(sequences), [x.shape[0] for x in sequences], False, enforce_sorted)
