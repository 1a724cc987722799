"""View rules: how a write into the result of each view op updates the tensor that it views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.interpreter import state
from ..dispatch.define import op
from ..eager import view_layout
from ..eager.pending import payload_of
from ..registry.op import REGISTRY
from ..registry.view import ViewRule, ViewStep


def _run(name: str, attrs: tuple[Any, ...], *args: Any) -> Any:
    return state.interpreter.run(REGISTRY[name].bind(attrs), args)


# -- the same elements in another shape --------------------------------------------------------------------------------
def _reshape_view(array: np.ndarray, step: ViewStep) -> np.ndarray:
    spec = jax.ShapeDtypeStruct(array.shape, array.dtype)
    shaped = array.reshape(step.bound.infer((spec,)).shape)
    if shaped.size and not np.may_share_memory(shaped, array):
        raise ValueError("elements at such strides have no such shape without a copy")
    return shaped


RESHAPED = ViewRule(lambda x, new, step: _run("reshape", (tuple(payload_of(x).shape),), new), _reshape_view)


# -- axes in another order ---------------------------------------------------------------------------------------------
def _order(ndim: int, step: ViewStep) -> list[int]:
    """Which axis of its argument each axis of the result is: read off a shape in which all sizes differ."""
    spec = jax.ShapeDtypeStruct(tuple(range(2, ndim + 2)), np.dtype("float32"))
    return [n - 2 for n in step.bound.infer((spec,)).shape]


def _permute_back(x: Any, new: Any, step: ViewStep) -> Any:
    return _run("transpose", (tuple(np.argsort(_order(x.ndim, step)).tolist()),), new)


PERMUTED = ViewRule(_permute_back, lambda array, step: array.transpose(_order(array.ndim, step)), anywhere=True)


# -- elements at multiples of strides ----------------------------------------------------------------------------------
@op(name="_set_strided")
def _set_strided(x: Any, new: Any, /, strides: Any, offset: int) -> Any:
    at = np.full((), offset)
    for n, stride in zip(new.shape, strides, strict=True):
        at = at[..., None] + np.arange(n) * stride
    return x.reshape(-1).at[at].set(new.astype(x.dtype)).reshape(x.shape)


def strided(layout: Callable[[np.ndarray, ViewStep], np.ndarray], overlaps: bool = False) -> ViewRule:
    """Return the rule of a view that NumPy supports as well."""

    def back(x: Any, new: Any, step: ViewStep) -> Any:
        seen = layout(view_layout.whole(x._payload), step)
        strides = tuple([s // seen.dtype.itemsize for s in seen.strides])
        return _run("_set_strided", (strides, view_layout.start(seen)), x, new)

    return ViewRule(back, layout, overlaps=overlaps)


def attributes(step: ViewStep) -> dict[str, Any]:
    """Return the attributes of a step by name."""
    return dict(zip(step.bound.op.attr_names, step.bound.attrs, strict=True))


# -- the same bits as another dtype ------------------------------------------------------------------------------------
def _bits_back(x: Any, new: Any, step: ViewStep) -> Any:
    return _run("reshape", (tuple(payload_of(x).shape),), _run("_bitcast", (x.dtype,), new))


def _bits(array: np.ndarray, step: ViewStep) -> np.ndarray:
    kind = step.bound.infer((jax.ShapeDtypeStruct(array.shape, array.dtype),)).dtype
    return array.view(kind)


BITS = ViewRule(_bits_back, _bits)


# -- complex numbers and their parts -----------------------------------------------------------------------------------
def _pairs(array: np.ndarray, step: ViewStep) -> np.ndarray:
    return array[..., None].view(array.real.dtype)


def _numbers(array: np.ndarray, step: ViewStep) -> np.ndarray:
    return array.view(np.result_type(array.dtype, np.complex64))[..., 0]


@op(name="_with_part")
def _with_part(x: Any, new: Any, /, part: str) -> Any:
    if not jnp.iscomplexobj(x):
        return new if part == "real" else x
    return jax.lax.complex(new, x.imag) if part == "real" else jax.lax.complex(x.real, new)


PAIRS = ViewRule(lambda x, new, step: _run("as_complex", (), new), _pairs)
NUMBERS = ViewRule(lambda x, new, step: _run("as_real", (), new), _numbers)
PART = ViewRule(
    lambda x, new, step: _run("_with_part", (step.bound.op.name,), x, new),
    lambda array, step: array.real if step.bound.op.name == "real" else array.imag,
)
