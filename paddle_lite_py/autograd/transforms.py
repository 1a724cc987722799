"""Transforms of functions: one sample's computation as that of a batch, and derivatives forwards.

The function is traced into a Program, which is lowered to JAX and transformed there. It becomes one op of its arguments
and of the tensors that it reads from outside, so gradients flow to both, and it works inside static functions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax

from ..core import cache_checks, structure
from ..core.interpreter import state
from ..core.memo import Memo
from ..eager.tensor import Tensor
from ..ir.lower import lower
from ..ops.creation import ones_like
from ..registry.bound import BoundOp
from ..registry.op import Op
from ..tracing.trace import trace
from .derivatives import jvp_by_gradients
from .mode import enable_grad

__all__ = ["jvp", "vmap"]

Axes = int | None | tuple[int | None, ...] | list[int | None]


class PureFunction(NamedTuple):
    """A function of arrays: those of its arguments, then those of the tensors that it reads from outside."""

    call: Callable[..., Any]
    outside: list[Tensor]
    structure: Any
    key: Any  # what the program computes


def pure_function(what: str, func: Callable[..., Any], tensors: list[Tensor], specs: list[Any]) -> PureFunction:
    """Trace a function for arguments of these specs.

    Raises:
        ValueError: it does more than compute results.
    """

    # Copies, since a result that is an argument itself would be given back as the caller's whole batch.
    def fresh(*args: Tensor) -> Any:
        return func(*[a.clone() for a in args])

    traced = trace(fresh, specs, [not t.stop_gradient for t in tensors], [f"x{i}" for i in range(len(specs))])
    if (
        traced.effects
        or traced.schedules
        or traced.checks
        or traced.loop_buffer
        or traced.providers
        or traced.speculated
    ):
        raise ValueError(
            f"{what}: the function changes state, draws random numbers, or decides by values of tensors; expected one "
            "that computes its results from its arguments alone"
        )
    call, n = lower(traced.program), traced.n_results
    return PureFunction(lambda *a: tuple(call(*a)[:n]), traced.captures, traced.structure, traced.program.block.key())


# By what the program computes and what was made of it.
# Key: the operators of the program (Block.key), and what is made of it; bound ops hold the default dtype.
_KNOWN: Memo[Any, BoundOp] = Memo("transformed functions", 128)


def run_pure(key: Any, fn: Callable[..., Any], args: list[Any], shape: Any) -> Any:
    """Run as an op, compiled once for each program."""
    bound = _KNOWN.get(key) or _KNOWN.put(key, BoundOp(Op(fn, key[0]), fn))
    found = state.interpreter.run(bound, tuple(args))
    if state.interpreter.is_eager and cache_checks.is_due():
        cache_checks.expect_same(key[0], _arrays(found), lambda: fn(*_arrays(args)))
    for t in found:
        t._payload  # noqa: B018  (whether JAX can transform the function shows when it is compiled)
    return structure.unflatten(shape, iter(found))


def _arrays(tensors: Any) -> list[Any]:
    return [t._payload for t in tensors]


def vmap(func: Callable[..., Any], in_axes: Axes = 0, out_axes: int = 0) -> Callable[..., Any]:
    """Vectorize a function of one sample: return a function of a batch of samples.

    Arguments:
        func: a function from tensors to tensors, or lists and dicts of them, without side effects.
        in_axes: batch dimension of each argument, an integer or a tuple; None for an argument without one. Default: 0.
        out_axes: batch dimension of the results. Default: 0.

    Returns:
        The vectorized function.

    Raises:
        ValueError: if func changes state or branches on values, or in_axes has another length than the arguments.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> paddle.autograd.vmap(lambda row, by: (row * row).sum() + by, (0, None))(x, paddle.to_tensor(1.0)).tolist()
        [6.0, 26.0]
    """

    def batched(*args: Any) -> Any:
        each = list(in_axes) if isinstance(in_axes, list | tuple) else [in_axes] * len(args)
        if len(each) != len(args):
            raise ValueError(f"vmap: in_axes has {len(each)} entries for {len(args)} arguments")
        specs = [_one(a, axis) for a, axis in zip(args, each, strict=True)]
        pure = pure_function("vmap", func, list(args), specs)
        axes = (*each, *[None] * len(pure.outside))
        fn = jax.vmap(pure.call, axes, out_axes)
        return run_pure(("vmap", pure.key, axes, out_axes), fn, [*args, *pure.outside], pure.structure)

    return functools.wraps(func)(batched)


def _one(tensor: Tensor, axis: int | None) -> Any:
    """Shape and dtype of one sample."""
    shape = list(tensor._payload.shape)
    if axis is not None:
        if not -len(shape) <= axis < len(shape):
            raise ValueError(f"vmap: in_axes names axis {axis} of an argument of the shape {shape}")
        shape.pop(axis)
    return jax.ShapeDtypeStruct(tuple(shape), tensor._payload.dtype)


def jvp(func: Callable[..., Any], xs: Any, v: Any = None) -> tuple[Any, Any]:
    """Compute the outputs of a function, and its Jacobian-vector product `J @ v` (forward mode).

    Arguments:
        func: a function from tensors to a tensor or tensors, without side effects.
        xs: its argument, a tensor or a list of tensors.
        v: the vector, of the shapes of xs; None: ones.

    Returns:
        The outputs, and the product, of the shapes of the outputs.

    Raises:
        ValueError: if func changes state, draws random numbers, or branches on values of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y, t = paddle.autograd.jvp(lambda x: x * x, paddle.to_tensor([3.0]), paddle.to_tensor([2.0]))
        >>> y.tolist(), t.tolist()
        ([9.0], [12.0])
    """
    inputs = list(xs) if isinstance(xs, list | tuple) else [xs]
    tangents = [ones_like(x) for x in inputs] if v is None else list(v) if isinstance(v, list | tuple) else [v]
    specs = [jax.ShapeDtypeStruct(tuple(x._payload.shape), x._payload.dtype) for x in inputs]
    with enable_grad():  # no_grad() applies to backward(), not to tangents
        pure, n = pure_function("jvp", func, inputs, specs), len(inputs)

    def forwards(*arrays: Any) -> Any:
        outs, moved = jax.jvp(lambda *a: pure.call(*a, *arrays[2 * n :]), arrays[:n], arrays[n : 2 * n])
        return (*outs, *moved)

    twice = structure.Nest(tuple, None, (pure.structure, pure.structure))
    try:
        return run_pure(("jvp", pure.key, n), forwards, [*inputs, *tangents, *pure.outside], twice)
    except TypeError as e:
        if "custom_vjp" not in str(e):
            raise
        return jvp_by_gradients(func, xs, v)  # an op whose derivative is only known backwards
