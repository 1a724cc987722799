"""Derivatives of functions, as matrices and products with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from .. import autograd
from ..autograd import grad, vjp, vmap
from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..ops.creation import zeros_like
from ..ops.joining import concat

__all__ = [
    "Hessian",
    "Jacobian",
    "disable_prim",
    "enable_prim",
    "forward_grad",
    "grad",
    "jvp",
    "prim_enabled",
    "vjp",
    "vmap",
]
_prim = False


def Jacobian(func: Callable[..., Any], xs: Any, is_batched: bool = False) -> Tensor:  # noqa: N802  (the reference's name)
    """Return the derivatives of a function at xs as one matrix: a row for each number of its results, a column of xs.

    Arguments:
        func: takes tensors and gives tensors.
        xs: a tensor, or a list of those that func takes.
        is_batched: the first axis is of samples, which do not depend on each other: a matrix for each.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Jacobian(lambda x: x * x, paddle.to_tensor([1.0, 2.0]))[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    leaves = _leaves(xs)
    return _matrix(func(*leaves), leaves, is_batched)


def Hessian(func: Callable[..., Any], xs: Any, is_batched: bool = False) -> Tensor:  # noqa: N802  (the reference's name)
    """Return the second derivatives of a function at xs as one matrix; its arguments are those of Jacobian().

    Raises:
        ValueError: if the function gives more than one number (for each sample).

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.Hessian(lambda x: (x ** 3).sum(), paddle.to_tensor([2.0]))[:].tolist()
        [[12.0]]
    """
    leaves = _leaves(xs)
    found = func(*leaves)
    if found.size != (found.shape[0] if is_batched else 1):
        raise ValueError(f"Hessian: func gives the shape {[*found.shape]}; expected one number (for each sample)")
    first = autograd.grad(found.sum(), leaves, create_graph=True, allow_unused=True)
    return _matrix([zeros_like(x) if g is None else g for g, x in zip(first, leaves, strict=True)], leaves, is_batched)


def jvp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """autograd.jvp(), with differentiable results.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> jvp(lambda x: x * x, paddle.to_tensor([3.0]))[1].tolist()
        [6.0]
    """
    leaves = _leaves(xs)
    return autograd.jvp(func, leaves if isinstance(xs, list | tuple) else leaves[0], v)


def _leaves(xs: Any) -> list[Tensor]:
    leaves = [x.detach() for x in (xs if isinstance(xs, list | tuple) else [xs])]
    for leaf in leaves:
        leaf.stop_gradient = False
    return leaves


def _matrix(ys: Any, xs: list[Tensor], is_batched: bool) -> Tensor:
    ys = list(ys) if isinstance(ys, list | tuple) else [ys]
    first = [ys[0].shape[0]] if is_batched else []
    rows = [y.reshape([*first, -1]) for y in ys]
    blocks = autograd.jacobian(rows, xs, 0 if is_batched else None)
    width = [math.prod(x.shape[len(first) :]) for x in xs]
    parts = [[b.reshape([*first, -1, n]) for b, n in zip(row, width, strict=True)] for row in blocks]
    return concat([concat(row, -1) for row in parts], -2)


def enable_prim() -> None:
    """Noted for prim_enabled(): every op is differentiated by JAX's own rules already.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.enable_prim()
    """
    global _prim
    _prim = True


def disable_prim() -> None:
    """Noted for prim_enabled(); see enable_prim().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.disable_prim()
    """
    global _prim
    _prim = False


def prim_enabled() -> bool:
    """Whether enable_prim() was called last.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.disable_prim(); paddle.incubate.autograd.prim_enabled()
        False
    """
    return _prim


def forward_grad(outputs: Any, inputs: Any, grad_inputs: Any = None) -> Any:
    """Derivatives forwards, of what has been computed already, which would need another tape.

    Raises:
        NotImplementedError: always, saying to give the function to jvp().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.incubate.autograd.forward_grad(paddle.ones([1]), paddle.ones([1]))
        ... except NotImplementedError:
        ...     print("use paddle.autograd.jvp")
        use paddle.autograd.jvp
    """
    raise NotImplementedError("forward_grad: derivatives forwards need the function: jvp(func, xs, v)")


_document(globals())
