"""Sequences of which each process has a part: cut, attended to as a whole, and joined again."""

from __future__ import annotations

from typing import Any

from ....autograd import PyLayer
from ....eager.tensor import Tensor
from ....nn import functional as F
from ....ops.joining import concat
from ....ops.splitting import split
from ...group import Group
from ...programs import exchanged
from ..current import hybrid_group
from ..layers.mpu.mp_ops import AllToAll, Gathered, Scattered

__all__ = ["heads_to_sequence", "join_sequence", "ring_attention", "sequence_to_heads", "split_sequence"]


def _along(group: Group | None) -> Group:
    return group or hybrid_group().get_sep_parallel_group()


def balance_causal(x: Tensor, count: int, axis: int, back: bool = False) -> Tensor:
    """Pieces in an order in which equal stretches have equal work under a causal mask: first with last, and so on.

    Raises:
        ValueError: if the axis is not 2 * count equal pieces.
    """
    if x.shape[axis] % (2 * count):
        raise ValueError(
            f"axis {axis} of the shape {[*x.shape]} is not {2 * count} equal pieces, two for each of {count} processes"
        )
    order = [i for r in range(count) for i in (r, 2 * count - 1 - r)]
    pieces = split(x, 2 * count, axis)
    return concat([pieces[order.index(i)] for i in range(2 * count)] if back else [pieces[i] for i in order], axis)


def split_sequence(x: Tensor, axis: int = 1, group: Group | None = None, balanced: bool = False) -> Tensor:
    """This process's part of a sequence, which all have whole; gradients are joined.

    Arguments:
        x: a tensor.
        axis: along which it is a sequence.
        group: who has parts; the sep axis of the topology by default.
        balanced: give each two pieces, one from the front and one from the back, for causal attention.

    Raises:
        ValueError: if it cannot be cut so.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> split_sequence(paddle.ones([2, 6])).shape
        paddle.Size([2, 6])
    """
    among = _along(group)
    if among.nranks == 1:
        return x
    return Scattered.apply(balance_causal(x, among.nranks, axis) if balanced else x, among, axis)


def join_sequence(x: Tensor, axis: int = 1, group: Group | None = None, balanced: bool = False) -> Tensor:
    """Return the whole of a sequence, of which each process has the part that split_sequence() gives; its inverse."""
    among = _along(group)
    if among.nranks == 1:
        return x
    whole = Gathered.apply(x, among, axis)
    return balance_causal(whole, among.nranks, axis, back=True) if balanced else whole


class _Ring(PyLayer):
    @staticmethod
    def forward(ctx: Any, q: Tensor, k: Tensor, v: Tensor, group: Group, *how: bool) -> Tensor:
        ctx.save_for_backward(q, k, v)
        ctx.group, ctx.how = group, how
        return exchanged("ring_attention", [q, k, v], group, *how)[0]

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, ...]:
        return exchanged("gradient of ring_attention", [*ctx.saved_tensor(), grad], ctx.group, *ctx.how)


def ring_attention(
    query: Tensor, key: Tensor, value: Tensor, is_causal: bool = False, group: Group | None = None,
    balanced: bool = False,
) -> Tensor:  # fmt: skip
    """Attention of parts of a sequence to the whole of it; keys and values travel from process to process.

    Arguments:
        query, key, value: this process's parts, [batch, length, heads, size]; key and value may have fewer heads.
        is_causal: whether queries see only what stands before them, and themselves.
        group: who has parts; the sep axis of the topology by default.
        balanced: whether parts are those of split_sequence(balanced=True).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([1, 4, 2, 8])
        >>> ring_attention(x, x, x, is_causal=True).shape
        paddle.Size([1, 4, 2, 8])
    """
    among = _along(group)
    if among.nranks == 1:
        return F.scaled_dot_product_attention(query, key, value, is_causal=is_causal)
    return _Ring.apply(query, key, value, among, bool(is_causal), bool(balanced))


def _exchange_axes(x: Tensor, group: Group, cut: int, joined: int) -> Tensor:
    """Parts along one axis become parts along another."""
    count = group.nranks
    if x.shape[cut] % count:
        raise ValueError(f"axis {cut} of the shape {[*x.shape]} cannot be divided among {count} processes")
    rows = AllToAll.apply(concat([p.unsqueeze(0) for p in split(x, count, cut)], 0), group)
    return concat([r.squeeze(0) for r in split(rows, count, 0)], joined)


def sequence_to_heads(x: Tensor, group: Group | None = None) -> Tensor:
    """From a part of the sequence with all heads, [batch, length, heads, size], to the whole with some (Ulysses).

    Raises:
        ValueError: if the heads cannot be divided among the processes.
    """
    among = _along(group)
    return x if among.nranks == 1 else _exchange_axes(x, among, 2, 1)


def heads_to_sequence(x: Tensor, group: Group | None = None) -> Tensor:
    """Return the way back from sequence_to_heads()."""
    among = _along(group)
    return x if among.nranks == 1 else _exchange_axes(x, among, 1, 2)
