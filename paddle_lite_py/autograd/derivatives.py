"""Jacobians and Hessians, and products with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..eager.tensor import Tensor
from ..ops.creation import ones_like, zeros_like
from ..ops.joining import stack
from .functional import grad

__all__ = ["hessian", "jacobian", "vjp"]


def _listed(value: Any) -> list[Tensor]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _like(template: Any, found: list[Any]) -> Any:
    return tuple(found) if isinstance(template, list | tuple) else found[0]


def _gradient(y: Tensor, x: Tensor, create_graph: bool = True) -> Tensor:
    if y.stop_gradient and not x.stop_gradient:  # it depends on nothing
        return zeros_like(x)
    (found,) = grad(y, x, retain_graph=True, create_graph=create_graph, allow_unused=True)
    return zeros_like(x) if found is None else found


def _check_batch(y: Tensor, batch_axis: int | None) -> None:
    if batch_axis not in (None, 0):
        raise ValueError(f"batch_axis is {batch_axis!r}; expected None or 0")
    if batch_axis == 0 and not y.ndim:
        raise ValueError("ys is a tensor without dimensions; expected [batch, ...], since batch_axis is 0")


def _one(y: Tensor, x: Tensor, batch_axis: int | None) -> Tensor:
    """Return the derivatives of one tensor by another."""
    if batch_axis is None:
        if not y.ndim:
            return _gradient(y, x)
        flat = y.reshape([-1])
        rows = [_gradient(flat[i], x) for i in range(flat.shape[0])]
        return stack(rows, 0).reshape([*y.shape, *x.shape])
    _check_batch(y, batch_axis)
    if y.ndim == 1:  # a number for each sample
        return _gradient(y.sum(), x)
    columns = y.reshape([y.shape[0], -1])  # a sample does not depend on another: one gradient serves them all
    return stack([_gradient(columns[:, i].sum(), x) for i in range(columns.shape[1])], 1)


def jacobian(ys: Any, xs: Any, batch_axis: int | None = None) -> Any:
    """Compute the Jacobian: the derivatives of ys with respect to xs.

    Arguments:
        ys: a tensor, or a list of tensors, computed from xs.
        xs: a tensor, or a list of tensors, that require gradients.
        batch_axis: 0: ys and xs are [batch, *] and each sample depends only on itself; None: no batch dimension.

    Returns:
        A tensor [*ys.shape, *xs.shape]; with batch_axis=0 [batch, m, n]. For lists of ys or xs, tuples of such tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.jacobian(x * x, x)[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    table = [_like(xs, [_one(y, x, batch_axis) for x in _listed(xs)]) for y in _listed(ys)]
    return _like(ys, table)


def hessian(ys: Tensor, xs: Any, batch_axis: int | None = None) -> Any:
    """Compute the Hessian: the second derivatives of a scalar with respect to xs.

    Arguments:
        ys: a scalar tensor, or with batch_axis=0 a tensor [batch] or [batch, 1].
        xs: a tensor, or a list of tensors, that require gradients.
        batch_axis: 0: xs are [batch, n] and each sample depends only on itself; None: no batch dimension.

    Returns:
        A tensor [n, n]; with batch_axis=0 [batch, n, n]. For a list of xs, a tuple of tuples of such tensors.

    Raises:
        ValueError: if ys has more than one element (for each sample).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> paddle.autograd.hessian((x * x * x).sum(), x)[:].tolist()
        [[6.0, 0.0], [0.0, 12.0]]
    """
    _check_batch(ys, batch_axis)
    per_sample = ys.size if batch_axis is None else ys.size // max(ys.shape[0], 1)
    if per_sample != 1:
        what = "one number" if batch_axis is None else "one number for each sample"
        raise ValueError(f"hessian: ys have the shape {[*ys.shape]}; expected {what}")
    total = ys.sum()
    rows = []
    for x in _listed(xs):
        first = _gradient(total, x)
        rows.append(_like(xs, [_one(first, other, batch_axis) for other in _listed(xs)]))
    return _like(xs, rows)


def _inputs(xs: Any) -> list[Tensor]:
    """Fresh leaves with the values of xs."""
    out = []
    for x in _listed(xs):
        leaf = x.detach()
        leaf.stop_gradient = False
        out.append(leaf)
    return out


def _like_all(name: str, kind: str, templates: list[Tensor], v: Any) -> list[Tensor]:
    """Return the vectors of v as a list, which have the shapes of some tensors."""
    vectors = _listed(v)
    if [[*x.shape] for x in vectors] != (shapes := [[*x.shape] for x in templates]):
        raise ValueError(f"{name}: v has the shapes {[[*x.shape] for x in vectors]}; those of each {kind} are {shapes}")
    return vectors


def vjp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """Compute the outputs of a function, and its vector-Jacobian product `v @ J` (reverse mode).

    Arguments:
        func: a function from tensors to a tensor or tensors.
        xs: its argument, a tensor or a list of tensors.
        v: the vector, of the shapes of the outputs; None: ones.

    Returns:
        The outputs, and the product, of the shapes of xs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y, g = paddle.autograd.vjp(lambda x: x * x, paddle.to_tensor([3.0]))
        >>> y.tolist(), g.tolist()
        ([9.0], [6.0])
    """
    inputs = _inputs(xs)
    ys = func(*inputs)
    outs = _listed(ys)
    weights = [ones_like(y) for y in outs] if v is None else _like_all("vjp", "output", outs, v)
    found = grad(outs, inputs, weights, create_graph=True, allow_unused=True)
    return ys, _like(xs, [zeros_like(x) if g is None else g for x, g in zip(inputs, found, strict=True)])


def jvp_by_gradients(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """Compute the outputs of a function and its Jacobian-vector product, by the gradient of a gradient."""
    inputs = _inputs(xs)
    ys = func(*inputs)
    outs = _listed(ys)
    # The gradient is linear in its weights u; its derivative by u, weighted by v, is the forward product.
    weights = _inputs([zeros_like(y) for y in outs])
    backward: Sequence[Any] = grad(outs, inputs, weights, create_graph=True, allow_unused=True)
    tangents = [ones_like(x) for x in inputs] if v is None else _like_all("jvp", "input", inputs, v)
    pairs = [(g, t) for g, t in zip(backward, tangents, strict=True) if g is not None]
    found = grad([g for g, _ in pairs], weights, [t for _, t in pairs], allow_unused=True)
    return ys, _like(ys, [zeros_like(y) if g is None else g for y, g in zip(outs, found, strict=True)])
