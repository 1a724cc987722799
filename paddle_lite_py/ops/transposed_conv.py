"""A transposed convolution as the gradient of a convolution, the form that GPU libraries have kernels for.

As a convolution of the spread-out input, XLA computes the gradient of the weight with a window of the picture's size:
on an H200 two such layers took 18 of the 27 ms of a CycleGAN's training step.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import jax

from .conv_gemm import Ints, Pairs, axes_of, kernel_last

__all__ = ["Transposed", "convolve_transposed"]


class Transposed(NamedTuple):
    """The convolution, channels last, that is transposed, and the spatial sizes of what it takes."""

    sizes: Ints
    strides: Ints
    pads: Pairs
    steps: Ints
    groups: int

    def apply(self, y: Any, weight: Any) -> Any:
        """Convolve y [n, *sizes, out] with weight [in, out / groups, *kernel]."""
        settings: dict[str, Any] = {"rhs_dilation": self.steps, "feature_group_count": self.groups}
        settings["dimension_numbers"] = axes_of(len(self.sizes))
        return jax.lax.conv_general_dilated(y, kernel_last(weight), self.strides, self.pads, **settings)


@functools.partial(jax.custom_vjp, nondiff_argnums=(2,))
def convolve_transposed(x: Any, weight: Any, form: Transposed) -> Any:
    """Convolve x [n, *space, in] with weight [in, out / groups, *kernel], transposed, to [n, *form.sizes, out]."""
    result = jax.ShapeDtypeStruct((x.shape[0], *form.sizes, weight.shape[1] * form.groups), x.dtype)
    (out,) = jax.linear_transpose(lambda y: form.apply(y, weight), result)(x)
    return out


def _forward(x: Any, weight: Any, form: Transposed) -> Any:
    return convolve_transposed(x, weight, form), (x, weight)


def _backward(form: Transposed, saved: Any, cotangent: Any) -> Any:
    x, weight = saved
    (dw,) = jax.linear_transpose(lambda w: form.apply(cotangent, w), weight)(x)
    return form.apply(cotangent, weight), dw


convolve_transposed.defvjp(_forward, _backward)
