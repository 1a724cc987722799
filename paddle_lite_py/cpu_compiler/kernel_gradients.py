"""Gradients of the kernels of convolutions, in forms that XLA's compiler for CPUs has fast code for.

Such a gradient is a convolution itself, whose kernel is as large as a picture and whose result is small. Of a
transposed convolution XLA takes the picture with zeros between its elements, one product after the other: that of a
generator of small pictures takes 120 ms, and 1.5 with the two operands in each other's place. And where pictures are
few it asks of each element whether it is one of the padding: a layer of 64 channels on one picture of 112x112 takes
41 ms, and 10 if the picture is padded before.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.jax_compat.calls import convolution_p
from ..core.memo import memo
from .flattening import reformed, specs_of

# Pictures from which on XLA's code looks at several of them at once, and copies for the padding cost more.
MANY = 9


def rewrite_conv_gradients(jaxpr: Any) -> Any:
    """Return a jaxpr with the gradients of kernels in those forms."""
    return reformed(jaxpr, _form)


def _form(eqn: Any) -> Any:
    """Return the replacement of a convolution; None if XLA's own form is good."""
    if eqn.primitive.name != "conv_general_dilated":
        return None
    p = eqn.params
    (x, kernel), out = (v.aval for v in eqn.invars), eqn.outvars[0].aval
    x_axes, kernel_axes, out_axes = p["dimension_numbers"]
    large = all(kernel.shape[a] >= out.shape[b] for a, b in zip(kernel_axes[2:], out_axes[2:], strict=True))
    groups = p["feature_group_count"] * p["batch_group_count"]
    if not large or groups > 1 or not jnp.issubdtype(x.dtype, jnp.floating) or 0 in (*x.shape, *kernel.shape):
        return None
    described = *specs_of(eqn.invars), tuple(p.items())
    if any(d > 1 for d in p["lhs_dilation"]):
        return _turn(*described) if all(d == 1 for d in p["rhs_dilation"]) else None
    few = x.shape[x_axes[1]] < MANY and min(map(min, p["padding"])) >= 0 and any(map(any, p["padding"]))
    return _pad_before(*described) if few else None


# Key: shapes, dtypes and settings of the convolution; pure.
@memo(512, context=False)
def _pad_before(x: Any, kernel: Any, params: Any) -> Any:
    settings = dict(params)
    axes, around = settings["dimension_numbers"].lhs_spec[2:], settings.pop("padding")
    pads = dict(zip(axes, around, strict=True))

    def convolve(x: Any, kernel: Any) -> Any:
        x = jax.lax.pad(x, np.zeros((), x.dtype), [(*pads.get(a, (0, 0)), 0) for a in range(x.ndim)])
        return convolution_p.bind(x, kernel, padding=((0, 0),) * len(axes), **settings)

    return jax.make_jaxpr(convolve)(x, kernel)


# Key: shapes, dtypes and settings of the convolution; pure.
@memo(512, context=False)
def _turn(x: Any, kernel: Any, params: Any) -> Any:
    """Return the kernel as the picture, and the picture, whose elements are taken so far apart, as the kernel.

    Places j of x and k of the kernel with k = j * apart + before - i * stride make place i of the result. From its last
    place to the first that is a convolution of the kernel.
    """
    settings = dict(params)
    numbers = settings["dimension_numbers"]
    apart, strides = settings["lhs_dilation"], settings["window_strides"]
    out = jax.eval_shape(lambda x, k: convolution_p.bind(x, k, **settings), x, kernel)
    (xb, xf, *xs), (ko, ki, *ks), (ob, of, *os) = numbers
    padding = []
    for a, k, o, stride, step, (before, _) in zip(xs, ks, os, strides, apart, settings["padding"], strict=True):
        first = (out.shape[o] - 1) * stride - before
        reach = (out.shape[o] - 1) * stride + (x.shape[a] - 1) * step + 1
        padding.append((first, reach - kernel.shape[k] - first))
    new = type(numbers)((ko, ki, *ks), (xb, xf, *xs), (of, ob, *os))
    settings |= {"lhs_dilation": (1,) * len(xs), "rhs_dilation": apart, "padding": tuple(padding)}

    def convolve(x: Any, kernel: Any) -> Any:
        found = convolution_p.bind(kernel, x, **settings | {"dimension_numbers": new})
        return jax.lax.rev(found, os)

    return jax.make_jaxpr(convolve)(x, kernel)
