"""Gradients of the kernels of convolutions are what they were, in another form."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import prepare
from paddle_lite_py.cpu_compiler.flattening import flat
from paddle_lite_py.cpu_compiler.kernel_gradients import MANY, rewrite_conv_gradients

LAST = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}
FIRST = {1: ("NCW", "OIW", "NCW"), 2: ("NCHW", "OIHW", "NCHW"), 3: ("NCDHW", "OIDHW", "NCDHW")}
TURNED, PADDED, SAME = "turned", "padded before", "as it was"

# Pictures, their sizes and the kernel's, strides, padding, how far apart elements of x and of the kernel are.
CASES: list[tuple[Any, ...]] = [
    (2, (5, 6), (4, 4), (1, 1), ((2, 2), (2, 2)), (2, 2), (1, 1), TURNED),  # as transposed convolutions are
    (1, (5, 6), (3, 2), (1, 1), ((0, 3), (2, 1)), (3, 2), (1, 1), TURNED),
    (2, (7,), (3,), (1,), ((3, 1),), (2,), (2,), TURNED),
    (1, (3, 4, 3), (2, 2, 3), (1, 1, 1), ((1, 1), (1, 1), (2, 2)), (2, 1, 2), (1, 1, 1), TURNED),
    (2, (7, 7), (3, 3), (2, 1), ((2, 2), (2, 2)), (2, 2), (1, 1), SAME),  # apart on both sides
    (2, (6, 7), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), PADDED),
    (1, (9, 8), (3, 2), (2, 3), ((0, 1), (2, 1)), (1, 1), (2, 1), PADDED),
    (MANY, (6, 7), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), SAME),  # many pictures
    (2, (6, 7), (3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), (1, 1), SAME),  # nothing to pad
    (2, (3, 3), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), (1, 1), PADDED),
]


@pytest.mark.parametrize("numbers", [LAST, FIRST], ids=["channels last", "channels first"])
@pytest.mark.parametrize(("n", "space", "sizes", "strides", "pads", "apart", "steps", "form"), CASES)
def test_values(n, space, sizes, strides, pads, apart, steps, form, numbers):
    rng = np.random.default_rng(0)
    x, w = ((n, *space, 3), (*sizes, 3, 4)) if numbers is LAST else ((n, 3, *space), (4, 3, *sizes))
    x, w = rng.normal(size=x).astype(np.float32), rng.normal(size=w).astype(np.float32)

    def convolve(w):
        names = numbers[len(space)]
        return jax.lax.conv_general_dilated(x, w, strides, pads, apart, steps, dimension_numbers=names)

    g = rng.normal(size=jax.eval_shape(convolve, w).shape).astype(np.float32)
    closed = jax.make_jaxpr(lambda g: jax.linear_transpose(convolve, w)(g)[0])(g)
    old = flat(closed.jaxpr)
    new = rewrite_conv_gradients(old)
    names = [e.primitive.name for e in new.eqns]
    assert {TURNED: "rev" in names, PADDED: "pad" in names, SAME: new is old}[form]
    expected, found = (jax.core.eval_jaxpr(j, closed.consts, g)[0] for j in (old, new))
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_the_convolution_itself_and_those_in_groups_stay():
    x, w = np.ones((2, 6, 7, 4), np.float32), np.ones((3, 3, 1, 4), np.float32)

    def convolve(w):
        return jax.lax.conv_general_dilated(
            x, w, (1, 1), "SAME", dimension_numbers=LAST[2], feature_group_count=x.shape[-1] // w.shape[2]
        )

    for fn in (convolve, lambda w: jax.vjp(convolve, w)[1](x)):
        jaxpr = flat(jax.make_jaxpr(fn)(w).jaxpr)
        assert rewrite_conv_gradients(jaxpr) is jaxpr


def test_programs_are_compiled_so():
    def gradient(x, w, g):
        def convolve(w):
            return jax.lax.conv_general_dilated(x, w, (1,), ((2, 2),), (2,), dimension_numbers=LAST[1])

        return jax.linear_transpose(convolve, w)(g)[0]

    text = str(jax.make_jaxpr(prepare(gradient))(*(np.ones(s) for s in ((2, 5, 3), (4, 3, 2), (2, 10, 2)))))
    assert "lhs_dilation=(2,)" not in text and "rev" in text


def test_bodies_of_loops_are_looked_into():
    x, g = np.ones((2, 5, 3)), np.ones((2, 5, 2))

    def gradient(x, g):
        def convolve(w):
            return jax.lax.conv_general_dilated(x, w, (1,), ((1, 1),), dimension_numbers=LAST[1])

        return jax.linear_transpose(convolve, np.ones((3, 3, 2)))(g)[0]

    def looped(x, g):
        return jax.lax.fori_loop(0, 2, lambda i, w: w + gradient(x, g), np.zeros((3, 3, 2)))

    closed = jax.make_jaxpr(looped)(x, g)
    new = rewrite_conv_gradients(closed.jaxpr)
    assert " pad[" in str(new) and " pad[" not in str(closed)
    np.testing.assert_allclose(jax.core.eval_jaxpr(new, closed.consts, x, g)[0], 2 * gradient(x, g))
