"""Operators written with NumPy: Python that runs while a program runs, in the order of the program."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.experimental import io_callback

from ..autograd import PyLayer
from ..core import errors
from ..dispatch.define import op
from ..eager.tensor import Tensor

__all__ = ["numpy_op", "py_func"]


@dataclasses.dataclass(frozen=True)
class HostCall:
    """A Python function as an attribute of an operator.

    Arguments:
        fills: it is a gradient, and gives None where there is none: these are zeros.
        is_left_out: a program that is saved does without it.
    """

    function: Callable[..., Any]
    fills: bool = False
    is_left_out: bool = False

    @property
    def name(self) -> str:
        """The function's name."""
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return f"backward function {name}" if self.fills else name

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def __call__(self, specs: Sequence[Any], *arrays: Any) -> tuple[np.ndarray, ...]:
        """Return its results, checked."""
        try:
            found = _listed(self.function(*[np.asarray(a) for a in arrays]))
            if self.fills:
                found = [np.zeros(s.shape, s.dtype) if g is None else g for g, s in zip(found, specs, strict=False)]
            return _check(self.name, found, specs)
        except Exception as e:
            errors.note(e)
            raise


@op(name="py_func", grad=False, effect=True, amp="keep")
def host_call(inputs: list[Any], /, call: Any, results: Any) -> Any:
    """Results of a Python function of NumPy arrays; `results` has (shape, dtype) of each."""
    specs = tuple([jax.ShapeDtypeStruct(tuple(shape), np.dtype(dtype)) for shape, dtype in results])
    arrays = [jax.lax.stop_gradient(x) for x in inputs]
    return tuple(io_callback(functools.partial(call, specs), specs, *arrays, ordered=True))


def _check(name: str, found: list[Any], specs: Sequence[Any]) -> tuple[np.ndarray, ...]:
    if len(found) != len(specs):
        raise ValueError(f"`{name}` gave {len(found)} results, but {len(specs)} are declared")
    arrays = []
    for i, (given, spec) in enumerate(zip(found, specs, strict=True)):
        array = np.asarray(given.numpy() if isinstance(given, Tensor) else given)
        if array.shape != spec.shape or not np.can_cast(array.dtype, spec.dtype, "same_kind"):
            raise ValueError(
                f"`{name}` gave {array.dtype}{list(array.shape)} as result {i}, but {spec.dtype}{list(spec.shape)} is "
                "declared; both must agree"
            )
        arrays.append(array.astype(spec.dtype, copy=False))
    return tuple(arrays)


def py_func(
    func: Callable[..., Any],
    x: Any,
    out: Any,
    backward_func: Callable[..., Any] | None = None,
    skip_vars_in_backward_input: Any = None,
) -> Any:
    """Call a Python function of NumPy arrays when the program runs; calls keep the order of the program.

    It cannot be saved, and each run waits for it: where speed counts, use utils.custom_op.

    Arguments:
        func: takes an array for each tensor of x, and gives the results as arrays.
        x: a tensor, or a list of them.
        out: shape and dtype of each result: a tensor (which becomes the result) or an InputSpec, or a list; None: no
            result.
        backward_func: takes the arrays of x, of the results, and of the gradients of these, and gives the gradient of
            each tensor of x (None: zero). Without it no gradient flows.
        skip_vars_in_backward_input: those of x and out that backward_func is not given.

    Raises:
        TypeError: if `out` says no shape and dtype.
        ValueError: if it leaves a dimension open.

    Examples:
        >>> x = paddle.to_tensor([3.0, 1.0, 2.0])
        >>> py_func(np.sort, x, paddle.static.InputSpec([3], "float32")).tolist()
        [1.0, 2.0, 3.0]
    """
    inputs, outs = _listed(x), _listed(out)
    specs = tuple([_spec(o) for o in outs])
    skipped = {id(v) for v in _listed(skip_vars_in_backward_input)}
    keep = [id(v) not in skipped for v in (*inputs, *outs)]
    made = _layer(HostCall(func), specs, backward_func, keep).apply(*inputs)
    found = [o._rebind(m, True) if isinstance(o, Tensor) else m for o, m in zip(outs, _listed(made), strict=True)]
    return found if isinstance(out, list | tuple) else found[0] if found else None


def numpy_op(
    function: Callable[..., Any] | None = None, *, out: Any = None, backward: Callable[..., Any] | None = None
) -> Any:
    """Make a function of NumPy arrays one of tensors, that keeps its place when it becomes part of a program.

    Arguments:
        function: takes arrays and gives one or several.
        out: a function that is given shape and dtype of each tensor and returns the InputSpec of each result; by
            default there is one result, like the first tensor.
        backward: backward(*inputs, *outputs, *gradients of the outputs) gives the gradient of each input.

    Examples:
        >>> @paddle.utils.numpy_op(out=lambda x: paddle.static.InputSpec(x.shape[:-1], x.dtype))
        ... def median(x):
        ...     return np.median(x, axis=-1)
        >>> median(paddle.to_tensor([[1.0, 5.0, 2.0]])).tolist()
        [2.0]
    """
    if function is None:
        return functools.partial(numpy_op, out=out, backward=backward)

    @functools.wraps(function)
    def run(*tensors: Any) -> Any:
        given = [_like(t) for t in tensors]
        wanted = given[0] if out is None else out(*given)
        return py_func(function, list(tensors), wanted, backward)

    return run


def _listed(x: Any) -> list[Any]:
    return [] if x is None else list(x) if isinstance(x, list | tuple) else [x]


def _like(tensor: Tensor) -> Any:
    return jax.ShapeDtypeStruct(tensor._payload.shape, tensor._payload.dtype)


def _spec(out: Any) -> tuple[Any, str]:
    if isinstance(out, Tensor):
        out = _like(out)
    if not (hasattr(out, "shape") and hasattr(out, "dtype")):
        raise TypeError(f"py_func: out is {out!r}; expected a tensor or an InputSpec([...], dtype) for each result")
    if any(n is None or (isinstance(n, int) and n < 0) for n in out.shape):
        raise ValueError(
            f"py_func: out is declared as {list(out.shape)}; give each dimension a number, or a tensor of that shape"
        )
    return tuple(out.shape), np.dtype(getattr(out.dtype, "np", out.dtype)).name


def _layer(call: HostCall, specs: Any, backward_func: Any, keep: Sequence[bool]) -> type[PyLayer]:
    """A PyLayer, so that the gradient is a call of Python as well, and the forward call is never made again for it."""

    class HostCallLayer(PyLayer):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            outs = _run(list(inputs), call, specs)
            ctx.save_for_backward(*[t for t, k in zip((*inputs, *outs), keep, strict=True) if k], *inputs)
            if backward_func is None:
                ctx.mark_non_differentiable(*outs)
            return outs if len(outs) > 1 else outs[0] if outs else ()

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            saved = ctx.saved_tensor()
            given, inputs = saved[: sum(keep)], saved[sum(keep) :]
            wanted = tuple([_spec(t) for t in inputs])
            found = _run([*given, *grads], HostCall(backward_func, fills=True), wanted)
            return found if len(found) > 1 else found[0]

    HostCallLayer.name = call.name
    return HostCallLayer


def _run(inputs: list[Any], call: HostCall, specs: Any) -> tuple[Any, ...]:
    fn: Any = host_call
    return tuple(fn(inputs, call=call, results=specs))
