"""Layers and optimizers without data: shapes and dtypes, which is all that a compiler asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax

from ..core.arrays import is_outside
from ..core.interpreter import use
from ..core.uninitialized import Uninitialized
from ..registry.bound import BoundOp
from .execute import Eager
from .tensor import Tensor, wrap


class Abstract(Eager):
    """Eager execution where new state has no data, and what is computed from such state has none either."""

    def stored(self, name: str, shape: tuple[int, ...], dtype: Any, draw: Callable[[], Any], *_own: Any) -> Any:
        """Return a shape and a dtype, and how to draw it."""
        return Uninitialized(shape, dtype, name, draw)

    def run(self, bound: BoundOp, args: tuple[Any, ...]) -> Any:
        """Apply a bound op, to shapes and dtypes where it is given such."""
        data = [a._payload if isinstance(a, Tensor) else a for a in args]
        if not any(isinstance(a, jax.ShapeDtypeStruct) for a in data):
            return super().run(bound, args)
        out = jax.eval_shape(bound.fn, *data)
        return tuple(map(wrap, out)) if isinstance(out, tuple | list) else wrap(out)

    def sees(self, tensor: Tensor) -> bool:
        """Whether a tensor can be given a new payload."""
        return is_outside(tensor._payload)


@contextmanager
def abstract() -> Iterator[None]:
    """Layers that are made in the block have no data: for models that no memory here holds.

    They cannot run. Static functions of them can be compiled for other machines.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.targets.abstract():
        ...     net = paddle.nn.Linear(100_000, 100_000)
        >>> report = paddle.jit.to_static(net.forward).compile_for("cpu", paddle.static.InputSpec([1, 100_000]))
        >>> report.memory.arguments > 4 * 100_000**2
        True
    """
    with use(Abstract()):
        yield
