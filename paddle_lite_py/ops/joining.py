"""Concatenate, stack and repeat tensors."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.jax_compat.sizes import is_known
from ..dispatch.call_cache import call_cached
from ..dispatch.define import composite, op
from ..eager.tensor import Tensor
from .dynamic import concrete, is_eager, known
from .manipulation import as_tuple
from .promote import promote_all
from .types import Array, TensorLike
from .view_rules import RESHAPED

__all__ = [
    *("atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_tensors", "cartesian_prod", "cat"),
    *("column_stack", "combinations", "concat", "concatenate", "dstack", "hstack"),
    *("meshgrid", "repeat_interleave", "row_stack", "stack", "vstack"),
]


@op(methods=["concat"])
def concat(x: list[Any], /, axis: int = 0) -> Any:
    """Concatenate tensors along an existing dimension.

    Arguments:
        x: list of tensors whose sizes agree in all other dimensions; those of shape [0] add nothing.
        axis: int, the dimension to concatenate along. Default: 0.

    Returns:
        A tensor whose size along `axis` is the sum of the input sizes.

    Raises:
        ValueError: if the sizes disagree.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.concat([paddle.to_tensor([1, 2]), paddle.to_tensor([3])]).tolist()
        [1, 2, 3]
    """
    if not isinstance(x, list) or len(x) == 0:
        raise ValueError(f"x is {'an empty list' if isinstance(x, list) else 'one tensor'}; expected a list of tensors")
    xs = promote_all(x)
    xs = [a for a in xs if a.shape != (0,)] or xs[:1]
    for other in xs[1:]:
        if other.ndim != xs[0].ndim or _differs(xs[0].shape, other.shape, axis % max(xs[0].ndim, 1)):
            raise ValueError(f"shapes {list(xs[0].shape)} and {list(other.shape)} differ in more than axis {axis}")
    return jnp.concatenate(xs, axis)


def _differs(a: Any, b: Any, axis: int) -> bool:
    pairs = [p for i, p in enumerate(zip(a, b, strict=True)) if i != axis]
    return any(n != m for n, m in pairs if is_known(n) and is_known(m))


cat = concatenate = concat


@op(methods=["stack"])
def stack(x: list[Any], /, axis: int = 0) -> Any:
    """Stack tensors of one shape along a new dimension.

    Arguments:
        x: list of tensors of one shape.
        axis: int, position of the new dimension. Default: 0.

    Returns:
        A tensor with one more dimension, of size `len(x)`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.stack([paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4])], axis=1).tolist()
        [[1, 3], [2, 4]]
    """
    if len(x) == 0:
        raise ValueError("x is an empty list; expected tensors")
    return jnp.stack(promote_all(x if isinstance(x, list) else list(x)), axis)


@op(name="_broadcast_tensors")
def _broadcast(x: list[Any], /) -> Any:
    return tuple(jnp.broadcast_arrays(*x))


@composite
def broadcast_tensors(input: Sequence[Any]) -> list[Any]:
    """Broadcast several tensors to their common shape.

    Returns:
        A list of tensors of the broadcast shape.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [out.shape for out in paddle.broadcast_tensors([paddle.zeros([3]), paddle.zeros([2, 1])])]
        [paddle.Size([2, 3]), paddle.Size([2, 3])]
    """
    return list(_broadcast(list(input)))


@op(name="_meshgrid")
def _meshgrid(x: list[Any], /, indexing: str) -> Any:
    return tuple(jnp.meshgrid(*[jnp.atleast_1d(v) for v in x], indexing=indexing))


@composite
def meshgrid(*args: Any, indexing: str = "ij") -> list[Any]:
    """Create coordinate grids from 1-D tensors.

    Arguments:
        args: 1-D tensors, or one list of them.
        indexing: "ij": the first tensor varies along dimension 0; "xy": along dimension 1. Default: "ij".

    Returns:
        A list of tensors of the grid's shape, one per input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [g.tolist() for g in paddle.meshgrid(paddle.to_tensor([1, 2]), paddle.to_tensor([3, 4]))]
        [[[1, 1], [2, 2]], [[3, 4], [3, 4]]]
    """
    if len(args) == 1 and isinstance(args[0], list | tuple):
        args = tuple(args[0])
    if not args:
        raise ValueError("meshgrid(): there are no tensors; expected at least one")
    return list(_meshgrid(args, indexing))


@op(name="_repeat_interleave")
def _repeat_each(x: Any, index: Any = None, /, repeats: int = 1, axis: int | None = None) -> Any:
    x = x.reshape(-1) if axis is None else x
    return jnp.repeat(x, repeats, axis or 0) if index is None else jnp.take(x, index, axis=axis or 0)


@op(name="_repeat_by")
def _repeat_by(x: Any, counts: Any, /, total: int, axis: int | None) -> Any:
    x = x.reshape(-1) if axis is None else x
    return jnp.repeat(x, counts, axis or 0, total_repeat_length=total)


def _expect_size(wanted: int | None, found: Any) -> None:
    if wanted is not None and wanted != found:
        raise ValueError(f"repeat_interleave(): output_size is {wanted}, but the counts add up to {found}")


@composite(methods=["repeat_interleave"], around=call_cached("x", "repeats?"))
def repeat_interleave(
    x: Tensor, repeats: TensorLike, axis: int | None = None, name: str | None = None, *, output_size: int | None = None
) -> Any:
    """Repeat each element along a dimension.

    Arguments:
        repeats: int or 0-d integer tensor, or 1-D integer tensor with one count per element.
        axis: int, the dimension to repeat along; None: the flattened tensor.
        output_size: total size along `axis` after repeating, if known.

    Returns:
        A tensor with the dtype of `x`; 1-D if `axis` is None.

    Raises:
        ValueError: if `num` is not the size of the dimension.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.repeat_interleave(paddle.to_tensor([1, 2]), 2).tolist()
        [1, 1, 2, 2]
    """
    if axis is not None and not -x.ndim <= axis < x.ndim:
        raise ValueError(f"repeat_interleave(): axis is {axis!r}, but x has {x.ndim} dimensions")
    size = x.size if axis is None else x.shape[axis]
    if isinstance(repeats, int):
        _expect_size(output_size, size * repeats)
        return _repeat_each(x, None, repeats, axis)
    if not is_eager() and isinstance(repeats, Tensor):
        if repeats.ndim == 0:
            return repeat_interleave(x, known(repeats, "repeat_interleave()", "an int"), axis, output_size=output_size)
        total = known(repeats.sum(), "repeat_interleave() with a tensor of counts", "one count")
        _expect_size(output_size, total)
        return _repeat_by(x, repeats, total, axis)
    counts = concrete(repeats, "repeat_interleave() with a tensor of counts", "one count, repeat_interleave(x, 2)")
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        what = f"{counts.dtype}{[*counts.shape]}" if counts.dtype.kind not in "iu" else f"{counts.tolist()}"
        raise ValueError(f"repeat_interleave(): repeats is {what}; expected integers of at least 0")
    if counts.ndim == 0:
        _expect_size(output_size, size * int(counts))
        return _repeat_each(x, None, int(counts), axis)
    if counts.shape != (size,):
        raise ValueError(f"repeat_interleave(): repeats has the shape {list(counts.shape)}; expected [{size}]")
    _expect_size(output_size, int(counts.sum()))
    return _repeat_each(x, np.repeat(np.arange(size), counts), 1, axis)


def _stacker(name: str, f: Any, what: str, shape: str) -> Any:
    def fn(x: list[Any], /) -> Any:
        return f(promote_all(x))

    fn.__name__ = fn.__qualname__ = name
    made = op(fn)
    made.__module__ = __name__
    made.__doc__ = f"""{what}.

Arguments:
    x: list of tensors.

Returns:
    The concatenated tensor, in the promoted dtype.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.{name}([paddle.zeros([2, 3]), paddle.zeros([2, 3])]).shape
    {shape}
"""
    return made


hstack = _stacker(
    "hstack", jnp.hstack, "Concatenate tensors along dimension 1 (1-D tensors along dimension 0)", "paddle.Size([2, 6])"
)
vstack = _stacker(
    "vstack", jnp.vstack, "Concatenate tensors along dimension 0, 1-D tensors as rows", "paddle.Size([4, 3])"
)
row_stack = vstack
dstack = _stacker("dstack", jnp.dstack, "Concatenate tensors along dimension 2", "paddle.Size([2, 3, 2])")
column_stack = _stacker(
    "column_stack", jnp.column_stack, "Concatenate 1-D and 2-D tensors as columns of a matrix", "paddle.Size([2, 6])"
)


@op
def block_diag(inputs: list[Any], /) -> Any:
    """Create a block diagonal matrix from matrices.

    Returns:
        A 2-D tensor with the inputs along its diagonal and zeros elsewhere.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.block_diag([paddle.to_tensor([[1]]), paddle.to_tensor([[2, 3]])]).tolist()
        [[1, 0, 0], [0, 2, 3]]
    """
    return jax.scipy.linalg.block_diag(*promote_all(inputs))


@op(name="_atleast", views=RESHAPED)
def _atleast(x: Any, /, ndim: int) -> Any:
    return (jnp.atleast_1d, jnp.atleast_2d, jnp.atleast_3d)[ndim - 1](x)


def _atleast_all(inputs: tuple[Any, ...], ndim: int) -> Any:
    if len(inputs) == 1 and isinstance(inputs[0], list | tuple) and any(isinstance(x, Tensor) for x in inputs[0]):
        return [_atleast(x, ndim) for x in inputs[0]]
    outs = [_atleast(x, ndim) for x in inputs]
    return outs[0] if len(outs) == 1 else outs


@composite(methods=["atleast_1d"])
def atleast_1d(*inputs: Any) -> Any:
    """Return tensors with at least one dimension: 0-D tensors become [1].

    Returns:
        A tensor for one input, else a list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.atleast_1d(paddle.to_tensor(1)).shape
        paddle.Size([1])
    """
    return _atleast_all(inputs, 1)


@composite(methods=["atleast_2d"])
def atleast_2d(*inputs: Any) -> Any:
    """Return tensors with at least two dimensions, prepending dimensions of size 1.

    Returns:
        A tensor for one input, else a list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.atleast_2d(paddle.to_tensor([1, 2])).shape
        paddle.Size([1, 2])
    """
    return _atleast_all(inputs, 2)


@composite(methods=["atleast_3d"])
def atleast_3d(*inputs: Any) -> Any:
    """Return tensors with at least three dimensions, adding dimensions of size 1.

    Returns:
        A tensor for one input, else a list of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.atleast_3d(paddle.to_tensor([1, 2])).shape
        paddle.Size([1, 2, 1])
    """
    return _atleast_all(inputs, 3)


@op(name="_cartesian_prod")
def _cartesian(x: list[Any], /) -> Any:
    return jnp.stack([g.reshape(-1) for g in jnp.meshgrid(*x, indexing="ij")], -1)


@composite
def cartesian_prod(x: Tensor) -> Any:
    """Compute the Cartesian product of 1-D tensors.

    Returns:
        A 2-D tensor with one combination per row; 1-D for a single input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.cartesian_prod([paddle.to_tensor([1, 2]), paddle.to_tensor([3])]).tolist()
        [[1, 3], [2, 3]]
    """
    xs = as_tuple(x)
    return xs[0] if len(xs) == 1 else _cartesian(list(xs))


@op(methods=["combinations"])
def combinations(x: Array, /, r: int = 2, with_replacement: bool = False) -> Any:
    """Compute all combinations of `r` elements of a 1-D tensor.

    Returns:
        A tensor [combinations, r].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.combinations(paddle.to_tensor([1, 2, 3])).tolist()
        [[1, 2], [1, 3], [2, 3]]
    """
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return x[np.array(list(choose(range(x.shape[0]), r)), int).reshape(-1, r)]
