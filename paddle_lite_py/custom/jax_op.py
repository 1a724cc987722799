"""Operators written with JAX: a function becomes an op with all that ops have."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.dtypes import is_inexact
from ..core.errors import MissingOperatorError
from ..dispatch import codegen
from ..registry.op import REGISTRY, Op

__all__ = ["CustomOp", "MissingOperatorError", "custom_op", "with_gradient"]


class CustomOp(Op):
    """An op of the user's."""

    custom = True


def custom_op(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    backward: Callable[..., Any] | None = None,
    amp: str | None = None,
) -> Any:
    """Make an operator of a function of JAX arrays; it works in eager code, in programs and in saved models.

    Shapes and dtypes of the results, the gradient and what programs hold of it are found from the function. A saved
    model runs where the operator is not defined.

    Arguments:
        function: takes arrays (or lists of them, if so annotated) before `/`, and after it attributes: numbers, texts,
            and tuples of them, by name.
        name: of the operator; that of the function by default. Defining it again replaces it.
        backward: its gradient, if JAX's is not wanted: backward(inputs, outputs, grads, **attributes) is given tuples
            of arrays and returns the gradient of each input (None: zero).
        amp: under mixed precision, "white": in low precision; "float32": in float32; "keep": inputs as they come; None:
            in float32 if an input is.

    Raises:
        TypeError: if no parameter comes before `/`.
        ValueError: if an op of the framework has the name.

    Examples:
        >>> import jax.numpy as jnp
        >>> @paddle.utils.custom_op(backward=lambda inputs, outputs, grads, rate: (grads[0] * rate,))
        ... def scaled_floor(x, /, rate=1.0):
        ...     return jnp.floor(x * rate)
        >>> x = paddle.to_tensor([0.7, 2.6], stop_gradient=False)
        >>> y = scaled_floor(x, rate=2.0)
        >>> y.sum().backward()
        >>> y.tolist(), x.grad.tolist()
        ([1.0, 5.0], [2.0, 2.0])
    """
    if function is None:
        return functools.partial(custom_op, name=name, backward=backward, amp=amp)
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    named = name or function.__name__
    if inspect.Parameter.POSITIONAL_ONLY not in kinds:
        raise TypeError(
            f"custom_op `{named}`: no parameter comes before `/`, where the tensors are; write def {named}(x, /, ...)"
        )
    made = CustomOp(function if backward is None else with_gradient(function, backward, named), named, amp=amp)
    return codegen.make(define(made), codegen.CallSpelling({}))[0]


def define(op: CustomOp) -> CustomOp:
    """Put an operator among those that programs name.

    Raises:
        ValueError: if an op of the framework has its name.
    """
    held = REGISTRY.get(op.name)
    if held is not None and not held.custom:
        raise ValueError(f"custom_op `{op.name}`: an op of the framework has this name; choose another")
    REGISTRY[op.name] = op
    return op


def with_gradient(function: Callable[..., Any], backward: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the function with the user's gradient."""

    @functools.wraps(function)
    def wrapped(*args: Any, **attrs: Any) -> Any:
        leaves, tree = jax.tree.flatten(args)

        @jax.custom_vjp
        def run(*flat: Any) -> Any:
            return function(*jax.tree.unflatten(tree, flat), **attrs)

        def forward(*flat: Any) -> Any:
            out = run(*flat)
            return out, (flat, out)

        def back(saved: Any, grads: Any) -> Any:
            flat, out = saved
            inputs = jax.tree.unflatten(tree, flat)
            found = backward(inputs, _tuple(out), _tuple(grads), **attrs)
            return checked(name, flat, jax.tree.leaves(_tuple(found), is_leaf=lambda v: v is None))

        run.defvjp(forward, back)
        return run(*leaves)

    return wrapped


def checked(name: str, inputs: Sequence[Any], grads: Sequence[Any]) -> tuple[Any, ...]:
    """Return the gradients as JAX takes them.

    Raises:
        ValueError: if there is not one for each input, of its shape.
    """
    if len(grads) != len(inputs):
        raise ValueError(
            f"backward of `{name}` gave {len(grads)} gradients, but the operator takes {len(inputs)} tensors; "
            "give None for a tensor without one"
        )
    out: list[Any] = []
    for i, (x, g) in enumerate(zip(inputs, grads, strict=True)):
        if g is not None and is_inexact(x.dtype) and jnp.shape(g) != x.shape:
            raise ValueError(
                f"backward of `{name}` gave a gradient of shape {list(jnp.shape(g))} for tensor {i}, which is "
                f"{x.dtype}{list(x.shape)}; both must have one shape"
            )
        out.append(None if g is None or not is_inexact(x.dtype) else jnp.asarray(g, x.dtype))
    return tuple(out)


def _tuple(x: Any) -> tuple[Any, ...]:
    return tuple(x) if isinstance(x, tuple | list) else (x,)
