"""Exchanges between the parts of a layer, with their gradients, in any mode."""

from __future__ import annotations

from typing import Any

from .....autograd import PyLayer
from .....core.processes import gathered_rows
from .....eager.tensor import Tensor
from .....nn import functional as F
from .....ops.gather import take_along_axis
from .....ops.joining import concat
from .....ops.search import where
from .....ops.splitting import split
from ....collective import exchanged
from ....group import Group, ReduceOp, init_parallel_env
from ...current import hybrid_group


def _parallel(group: Group | None) -> Group:
    return group or hybrid_group().get_model_parallel_group()


def _sum(x: Tensor, group: Group) -> Tensor:
    return exchanged("all_reduce", x, group, ReduceOp.SUM)


def _gather_along(x: Tensor, group: Group, axis: int) -> Tensor:
    return concat(exchanged("all_gather", x, group).unbind(0), axis)


def _part(x: Tensor, group: Group, axis: int) -> Tensor:
    if x.shape[axis] % group.nranks:
        raise ValueError(f"axis {axis} of the shape {[*x.shape]} cannot be divided among {group.nranks} processes")
    return split(x, group.nranks, axis)[group.rank]


def _sum_of_parts(x: Tensor, group: Group, axis: int) -> Tensor:
    rows = concat([p.unsqueeze(0) for p in split(x, group.nranks, axis)], 0)
    return exchanged("reduce_scatter", rows, group, ReduceOp.SUM)


class _Same(PyLayer):
    """The tensor, the gradients of which are added over the parts."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        """Itself."""
        ctx.group = group
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Return the sum."""
        return _sum(grad, ctx.group)


class _Sum(PyLayer):
    """The sum over the parts, each of which has the gradient of the sum."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        """Return the sum."""
        return _sum(x, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Itself."""
        return grad.clone()


class Gathered(PyLayer):
    """The parts joined along an axis; the gradient of a part is its share, or the sum of all shares with `summed`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group, axis: int, summed: bool = False) -> Tensor:
        """Return the whole."""
        ctx.group, ctx.axis, ctx.summed = group, axis, summed
        return _gather_along(x, group, axis)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Return the share of this part."""
        return (_sum_of_parts if ctx.summed else _part)(grad, ctx.group, ctx.axis)


class Scattered(PyLayer):
    """This process's part along an axis: of the tensor, or of the sum over all with `summed`."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group, axis: int, summed: bool = False) -> Tensor:
        """Return the part."""
        ctx.group, ctx.axis = group, axis
        return (_sum_of_parts if summed else _part)(x, group, axis).clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Return the parts of the gradient, joined."""
        return _gather_along(grad, ctx.group, ctx.axis)


class AllToAll(PyLayer):
    """Row i for the i-th process, and one from each."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, group: Group) -> Tensor:
        """Forward pass."""
        ctx.group = group
        return exchanged("all_to_all", x, group)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Each gets its own back."""
        return exchanged("all_to_all", grad, ctx.group)


def _rows_of_all(x: Tensor) -> Tensor:
    """Stack the values of all processes along a new first axis; gradients of all are summed."""
    return Gathered.apply(x.unsqueeze(0), init_parallel_env(), 0, True)


gathered_rows[:] = [_rows_of_all]


def _c_identity(tensor: Tensor, group: Group | None = None, **settings: Any) -> Tensor:
    """Return the tensor, the gradients of all parts of which are added."""
    among = _parallel(group)
    return tensor if among.nranks == 1 else _Same.apply(tensor, among)


def _mp_allreduce(tensor: Tensor, op: int = ReduceOp.SUM, group: Group | None = None, **settings: Any) -> Tensor:
    """Return the sum over all parts, each of which has the gradient of the sum."""
    among = _parallel(group)
    return tensor if among.nranks == 1 else _Sum.apply(tensor, among)


def _c_concat(tensor: Tensor, group: Group | None = None) -> Tensor:
    """Return the parts of the last axis, joined."""
    among = _parallel(group)
    return tensor if among.nranks == 1 else Gathered.apply(tensor, among, -1)


def _c_split(tensor: Tensor, group: Group | None = None) -> Tensor:
    """This process's part of the last axis."""
    among = _parallel(group)
    return tensor if among.nranks == 1 else Scattered.apply(tensor, among, -1)


class MPScale(PyLayer):
    """The tensor, the gradient of which is divided by the number of parts."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, mp_degree: int) -> Tensor:
        """Itself."""
        ctx.mp_degree = mp_degree
        return x.clone()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        """Return a part of it."""
        return grad / ctx.mp_degree


class InnerOverlapLinear:
    """Linear on columns of the weight, of which each process has some."""

    @staticmethod
    def apply(x: Tensor, weight: Tensor, bias: Tensor | None = None, *settings: Any) -> Tensor:
        """x @ weight + bias; the last of the settings may be the group, all others say how XLA does it."""
        group = next((s for s in settings if isinstance(s, Group)), None)
        return F.linear(_c_identity(x, group), weight, bias)


# -- tables and classes of which each process has some ---------------------------------------------------------------
def own_part(index: Tensor, start: int, size: int) -> tuple[Tensor, Tensor]:
    """Indices into this process's part (0 for those of others), and which are its own."""
    at = index - start
    mine = (at >= 0) & (at < size)
    return where(mine, at, at * 0), mine


def _c_lookup_table(
    table: Tensor, index: Tensor, start_index: int = 0, vocab_size: int = -1, name: Any = None
) -> Tensor:
    """Rows of this process's part of a table, which begins at a row of the whole; zeros for the rows of others."""
    at, mine = own_part(index, start_index, table.shape[0])
    return F.embedding(at, table) * mine.unsqueeze(-1).astype(table.dtype)


class _CrossEntropy(PyLayer):
    """Cross entropy over classes of which each process has some."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, label: Tensor, group: Group, ignored: int) -> Tensor:
        """Return the losses, of all classes."""
        own = logits.shape[-1]
        top = exchanged("all_reduce", logits.max(-1, keepdim=True), group, ReduceOp.MAX)
        shifted = logits - top
        total = exchanged("all_reduce", shifted.exp().sum(-1, keepdim=True), group, ReduceOp.SUM)
        at, mine = own_part(label, group.rank * own, own)
        told = take_along_axis(shifted, at, -1) * mine.astype(logits.dtype)
        counts = label.not_equal(ignored).astype(logits.dtype)
        ctx.save_for_backward(shifted.exp() / total, at, mine.astype(logits.dtype), counts)
        return (total.log() - exchanged("all_reduce", told, group, ReduceOp.SUM)) * counts

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        """Return the softmax without the label's one, for this process's classes."""
        probability, at, mine, counts = ctx.saved_tensor()
        hit = F.one_hot(at.squeeze(-1), probability.shape[-1]).astype(probability.dtype) * mine
        return (probability - hit) * (grad * counts), None


def _c_softmax_with_cross_entropy(
    logits: Tensor, label: Tensor, group: Group | None = None, return_softmax: bool = False, ignore_index: int = -100
) -> Any:
    """Return the cross entropy of each element, [..., 1], over classes of which each process has some.

    Raises:
        NotImplementedError: if the softmax is requested with more than one process.
    """
    among = _parallel(group)
    if label.ndim == logits.ndim - 1:
        label = label.unsqueeze(-1)
    if among.nranks == 1:
        loss = F.cross_entropy(logits, label, reduction="none", ignore_index=ignore_index)
        return (loss, F.softmax(logits)) if return_softmax else loss
    if return_softmax:
        raise NotImplementedError("_c_softmax_with_cross_entropy: return_softmax=True with several processes")
    return _CrossEntropy.apply(logits, label, among, ignore_index)
