"""An op with its attributes fixed: what eager code calls, programs hold, and gradients are derived from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from ..core import memory
from ..core.dtypes import DType, bound_default
from ..core.jax_compat.cotangents import absent, is_absent, materialize
from ..core.memo import Memo
from ..core.processes import divided_ops
from ..host.tier import OP_STEPS, tiered
from .text import HasText, text_or_none
from .view import ViewRule

# The op itself, a registry.op.Op: that is defined above this module.
Op: TypeAlias = Any

# A list argument is packed flat; the layout keeps its length, and None for an absent argument.
Layout = tuple[Any, ...] | None
# Shapes and dtypes of arguments for which an op keeps those of its results.
MAX_INFERRED = 1024


class BoundOp(HasText):
    """An op with its attributes fixed: a pure function of arrays, with all that is derived from it cached."""

    __slots__ = (
        "__weakref__", "_inferred", "_pullbacks", "attrs", "calls", "default", "differentiable", "fn", "jitted",
        "keeping", "keeps", "layout", "lazy", "op", "plain", "views"
    )  # fmt: skip
    # Its gradient is a JAX function, so it may be part of a compiled backward segment.
    compiled = True
    # Small arrays of it are computed by NumPy.
    hosted = True
    # It serves ever new sizes.
    is_open = False
    # How many operators it counts for.
    operators = 1
    # From the places of results that have a gradient to whether each argument gets one; None: each does.
    reaches: Callable[[frozenset[int]], Sequence[bool]] | None = None
    # How many arrays a node of it saves, where that is not one for each argument.
    n_saved: int | None = None

    def __init__(
        self,
        op: Op,
        fn: Callable[..., Any],
        attrs: tuple[Any, ...] = (),
        layout: Layout = None,
        default: DType | None = None,
    ) -> None:
        self.op = op
        self.attrs = attrs
        self.layout = layout
        self.default = default  # the default dtype that it was bound under; None for a function of other bound ops
        self.fn = fn
        self.plain: bool = op.plain or self.windows  # XLA's plain emitters serve it; see config.compiler_options
        self.views: ViewRule | None = (
            op.views if isinstance(op.views, ViewRule | None) else self.evaluate_rule(op.views)
        )
        self.jitted: Callable[..., Any] = self._first_call
        # Whether a gradient may flow from its outputs, given their dtypes; where they differ, one for each.
        self.differentiable: bool | tuple[bool, ...] = op.grad
        # Whether eager code keeps what its gradient needs: then the residuals.Forward and the check of its arguments.
        self.keeps = op.grad and (op.keeps or op.loops)
        self.keeping: Any = None
        self.calls = 0  # before it has tiers of its own; see open_attributes
        # The abstract evaluation of its results (eager.lazy_op.LazyOpInfo), once eager code has needed it.
        self.lazy: Any = None
        self._inferred: Memo[Any, Any] | None = None
        self._pullbacks: dict[Any, Callable[..., Any]] = {}  # by mask: as few as there are choices of arguments

    def _first_call(self, *args: Any) -> Any:
        # Not in __init__: hundreds of bound ops are made at import, and the compiler's options need a device.
        opened = self.op.open_attributes.find(self, args, BoundOp.function)
        run = opened
        if run is None:
            text = functools.partial(text_or_none, "op", self)
            run = tiered(
                check_memory(self.fn), len(args), self.windows, self.plain, OP_STEPS, args, text=text,
                broadcasts=self.op.broadcasts,
            )  # fmt: skip
            run = divided_ops[0](self, run) if divided_ops else run
        check, look = self.evaluate_rule(self.op.input_check), self.evaluate_rule(self.op.output_check)
        run = run if look is None else look(run)
        run = run if check is None else _checked(run, check, len(args))
        if opened is None:
            self.jitted = run
        return run(*args)

    def evaluate_rule(self, rule: Callable[[dict[str, Any]], Any] | None) -> Any:
        """Evaluate a rule of the op for these attributes; None if it has no such rule."""
        return rule and rule(dict(zip(self.op.attr_names, self.attrs, strict=True)))

    @property
    def windows(self) -> bool:
        """Whether it goes over windows of an image; see config.compiler_options."""
        rule = self.op.windows
        return bool(self.evaluate_rule(rule)) if callable(rule) else rule

    def parts(self) -> tuple[Any, ...]:
        """Return all that its function depends on, besides the op."""
        return self.attrs, self.layout, self.default

    def said(self) -> tuple[Any, ...] | None:
        """Return what its function follows from in each process with this source; None where that cannot be told."""
        op = self.op
        return (op.name, *self.parts(), op.recorded) if op.recorded is not None or op.is_builtin() else None

    def rebound(self, attrs: tuple[Any, ...]) -> BoundOp:
        """Return the op with other attributes, under the same default dtype."""
        with nullcontext() if self.default is None else bound_default(self.default):
            return self.op.bind(attrs, self.layout)

    def __repr__(self) -> str:
        attrs = zip(self.op.attr_names, self.attrs, strict=False)
        return f"{self.op.name}({', '.join(f'{k}={v!r}' for k, v in attrs)})"

    def vjp(self, data: tuple[Any, ...], cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        """Gradients of the masked arguments; an absent cotangent (None) is zero. Called while JAX traces."""

        return self.traced(data, mask)[1](cotangents)

    def traced(self, data: Sequence[Any], mask: tuple[bool, ...]) -> tuple[Any, Callable[..., list[Any]]]:
        """Return the results, and from cotangents to gradients of the masked arguments. Called while JAX traces."""

        def f(*diff: Any) -> Any:
            it = iter(diff)
            return self.fn(*[next(it) if m else d for d, m in zip(data, mask, strict=True)])

        out, pull = jax.vjp(f, *[d for d, m in zip(data, mask, strict=True) if m])

        def gradients(cotangents: tuple[Any, ...]) -> list[Any]:
            outs = out if isinstance(out, tuple) else (out,)
            return pulled(pull if isinstance(out, tuple) else lambda cts: pull(cts[0]), cotangents, outs)

        return out, gradients

    def gradients(self, data: Sequence[Any], cotangents: tuple[Any, ...], mask: tuple[bool, ...]) -> list[Any]:
        """vjp() on arrays, by a function of its own for each choice of arguments and cotangents."""
        given = tuple([None if ct is None else ct is not ONES for ct in cotangents])
        pull = self._pullbacks.get((mask, given))
        args = *data, *[ct for ct, g in zip(cotangents, given, strict=True) if g]
        if pull is None:
            n = len(data)
            if type(self) is BoundOp:
                opened = self.op.open_attributes.find(self, args, BoundOp.pullback, n, mask, given)
                if opened is not None:
                    return opened(*args)
            text = functools.partial(text_or_none, "gradients", self, mask, given)
            pull = self._pullbacks[mask, given] = tiered(
                self.pullback(n, mask, given), len(args) if self.hosted else None, self.windows, self.plain, text=text
            )
        return pull(*args)

    def function(self) -> Callable[..., Any]:
        """Return its function of arrays."""
        return self.fn

    def pullback(self, n: int, mask: tuple[bool, ...], given: tuple[bool | None, ...]) -> Callable[..., list[Any]]:
        """Return vjp() as a function of arrays: of n arguments, and of the cotangents that are given as such."""

        def flat(*arrays: Any) -> list[Any]:
            found = iter(arrays[n:])
            cts = tuple([next(found) if g else None if g is None else ONES for g in given])
            return self.vjp(arrays[:n], cts, mask)

        flat.__name__ = f"{self.op.name}_grad"
        return flat

    def infer(self, specs: tuple[Any, ...]) -> Any:
        """Output specs from input specs (ShapeDtypeStruct) and Python scalars, memoised."""
        key = (specs, tuple(map(type, specs)))
        if self._inferred is None:
            # Key: shapes, dtypes, and numbers by value and class; the bound op has the default dtype.
            self._inferred = Memo(f"shapes of {self.op.name}", MAX_INFERRED)
        found = self._inferred.get(key)
        return self._inferred.put(key, _infer(self.fn, specs)) if found is None else found


def check_memory(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function with a look, while it is compiled for eager mode, at whether its results fit into memory.

    Asked for more than there is, the operating system may end the process instead of refusing.
    """

    @functools.wraps(fn)
    def fitting(*args: Any) -> Any:
        out = fn(*args)
        require_memory(out if isinstance(out, tuple) else (out,))
        return out

    return fitting


def require_memory(results: Sequence[Any]) -> None:
    """Check that results fit into memory.

    Raises:
        MemoryError: if they do not.
    """
    needed = sum(o.size * o.dtype.itemsize for o in results)
    if needed > memory.physical() > 0 and needed > (there := memory.largest()):
        raise MemoryError(f"the result takes {needed / 2**30:.3g} GiB, and this machine has {there / 2**30:.3g}")


def _checked(run: Callable[..., Any], check: Callable[..., None], n_args: int) -> Callable[..., Any]:
    given = ", ".join([f"a{i}" for i in range(n_args)])  # named, because packing them takes time
    return eval(f"lambda {given}: check({given}) or run({given})", {"check": check, "run": run})


def _infer(fn: Callable[..., Any], specs: tuple[Any, ...]) -> Any:
    is_array = [isinstance(s, jax.ShapeDtypeStruct) for s in specs]

    def on_arrays(*arrays: Any) -> Any:
        it = iter(arrays)
        return fn(*[next(it) if a else s for s, a in zip(specs, is_array, strict=True)])

    return jax.eval_shape(on_arrays, *[s for s, a in zip(specs, is_array, strict=True) if a])


# A cotangent of ones, made inside the compiled backward: no leaf to JAX.
ONES = ()


def pulled(pull: Callable[[tuple[Any, ...]], Any], cotangents: tuple[Any, ...], outs: Sequence[Any]) -> list[Any]:
    """Gradients, by what jax.vjp() gave, from the cotangents of the first of `outs`.

    What has none takes no part in the backward, where 0 * inf would be NaN. Only a scan that stacks several results
    JAX cannot transpose so (it takes the shape of all steps for that of one): zeros are given to that.
    """
    padded = (*cotangents, *[None] * (len(outs) - len(cotangents)))
    found = tuple(map(cotangent, padded, outs))
    try:
        return [conjugate_gradient_convention(g) for g in pull(found)]
    except ValueError:
        if not any(map(is_absent, found)):
            raise
        return [conjugate_gradient_convention(g) for g in pull(tuple(map(materialize, found)))]


def cotangent(ct: Any, out: Any) -> Any:
    """Return a cotangent as an array like `out`; absent is JAX's symbolic zero."""
    if isinstance(ct, tuple):  # ONES
        return jnp.ones_like(out)
    if not jnp.issubdtype(out.dtype, jnp.inexact):
        return np.zeros(out.shape, jax.dtypes.float0)
    return absent(out) if ct is None else conjugate_gradient_convention(ct.astype(out.dtype))


def conjugate_gradient_convention(gradient: Any) -> Any:
    """Return a gradient in JAX's convention from one in ours, and back: of a complex number JAX's is the conjugate.

    Ours, as PaddlePaddle's, points where a real loss grows: the real part by x, the imaginary one by y, for x + iy.
    """
    return jnp.conj(gradient) if jnp.issubdtype(gradient.dtype, jnp.complexfloating) else gradient
