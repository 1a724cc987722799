"""Derivatives of functions: other names of what paddle.autograd has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import autograd
from ..autograd import grad, jvp, vjp, vmap

__all__ = ["Hessian", "Jacobian", "disable_prim", "enable_prim", "forward_grad", "grad", "jvp", "vjp", "vmap"]


def Jacobian(func: Callable[..., Any], xs: Any, is_batched: bool = False) -> Any:  # noqa: N802  (the reference's name)
    """autograd.jacobian() of a function at xs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> Jacobian(lambda x: x * x, paddle.to_tensor([1.0, 2.0]))[:].tolist()
        [[2.0, 0.0], [0.0, 4.0]]
    """
    return _at(autograd.jacobian, func, xs, is_batched)


def Hessian(func: Callable[..., Any], xs: Any, is_batched: bool = False) -> Any:  # noqa: N802  (the reference's name)
    """autograd.hessian() of a function at xs.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.Hessian(lambda x: (x ** 3).sum(), paddle.to_tensor([2.0]))[:].tolist()
        [[12.0]]
    """
    return _at(autograd.hessian, func, xs, is_batched)


def _at(derive: Any, func: Callable[..., Any], xs: Any, is_batched: bool) -> Any:
    given = list(xs) if isinstance(xs, list | tuple) else [xs]
    leaves = [x.detach() for x in given]
    for leaf in leaves:
        leaf.stop_gradient = False
    wanted = leaves if isinstance(xs, list | tuple) else leaves[0]
    return derive(func(*leaves), wanted, 0 if is_batched else None)


def enable_prim() -> None:
    """Accepted: every op is differentiated by JAX's own rules already.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.enable_prim()
    """


def disable_prim() -> None:
    """Accepted; see enable_prim().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.incubate.autograd.disable_prim()
    """


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
