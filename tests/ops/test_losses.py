"""Forms of losses that other machines take."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.config import exporting
from paddle_lite_py.registry.op import REGISTRY

SETTINGS = {"soft_label": False, "use_softmax": True, "label_smoothing": 0.0, "reduction": "none"}


@pytest.mark.parametrize(("shape", "axis"), [((4, 5), -1), ((2, 3, 5), -1), ((2, 5, 3), 1)])
def test_cross_entropy_on_tpus_chooses_nothing(shape, axis):
    rng, rows = np.random.default_rng(0), [n for i, n in enumerate(shape) if i != axis % len(shape)]
    x, label = rng.standard_normal(shape, "float32"), rng.integers(0, 5, rows)
    label.flat[0] = 3

    def run(x):
        return REGISTRY["cross_entropy"].fn(x, label, axis=axis, ignore_index=3, **SETTINGS)

    want = jax.value_and_grad(lambda x: run(x).sum())(x)
    with exporting(("tpu",)):
        jaxpr = str(jax.make_jaxpr(lambda x: run(x))(x))  # a function of its own, since JAX keeps what it has traced
        got = jax.value_and_grad(lambda x: run(x).sum())(x)
    assert "gather" not in jaxpr and "gather" in str(jax.make_jaxpr(run)(x))
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def test_a_label_that_is_no_class_is_not_passed_over_on_tpus():
    with exporting(("tpu",)):
        loss = REGISTRY["cross_entropy"].fn(jnp.ones((2, 3)), jnp.array([1, 3]), axis=1, ignore_index=-100, **SETTINGS)
    assert np.isnan(np.ravel(loss)).tolist() == [False, True]


def test_labels_that_are_smoothed_may_be_shares():
    x, shares = paddle.to_tensor([[1.0, 2.0, 0.5]]), paddle.to_tensor([[0.2, 0.5, 0.3]])
    loss = paddle.nn.functional.cross_entropy
    smooth = loss(x, shares, label_smoothing=0.4)
    assert smooth.item() == loss(x, shares, label_smoothing=0.4, soft_label=True).item()
    assert smooth.item() == pytest.approx(loss(x, shares * 0.6 + 0.4 / 3, soft_label=True).item(), rel=1e-6)
