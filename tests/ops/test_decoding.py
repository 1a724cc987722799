"""Caches of fixed capacity, attention over them, and what is left of logits."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F
from paddle_lite_py.ops.decoding import cache_insert, cache_update, cached_attention, truncate_logits


def normal(*shape):
    return paddle.to_tensor(np.random.default_rng(len(shape)).normal(size=shape).astype("float32"), stop_gradient=False)


@pytest.mark.parametrize("batch", [1, 2])
def test_attention_over_a_cache_is_that_over_the_tokens_in_it(batch):
    """Three tokens are in the cache, two come: results and gradients are those of causal attention over all five."""
    q, k, v = normal(batch, 5, 4, 2), normal(batch, 5, 2, 2), normal(batch, 5, 2, 2)
    whole = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    starts = [paddle.full([batch], n, "int64") for n in (0, 3)]
    caches = [paddle.full([batch, 2, 8, 2], 7.0) for _ in range(2)]
    for part, start in ((slice(0, 3), starts[0]), (slice(3, 5), starts[1])):
        caches = [cache_update(c, x[:, part], start) for c, x in zip(caches, (k, v), strict=True)]
    found = cached_attention(q[:, 3:], *caches, starts[1], scale=2**-0.5)
    np.testing.assert_allclose(found.numpy(), whole[:, 3:].numpy(), rtol=1e-5)
    wanted = paddle.grad((whole[:, 3:] * whole[:, 3:]).sum(), [q, k, v])
    for mine, other in zip(paddle.grad((found * found).sum(), [q, k, v]), wanted, strict=True):
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-4, atol=1e-6)


def test_rows_with_lengths_of_their_own():
    cache = cache_update(paddle.zeros([2, 1, 4, 1]), paddle.ones([2, 1, 1, 1]), paddle.to_tensor([0, 2]))
    assert cache.squeeze().tolist() == [[1, 0, 0, 0], [0, 0, 1, 0]]
    cache = cache_insert(cache, paddle.full([1, 1, 2, 1], 5.0), paddle.to_tensor(1))
    assert cache.squeeze().tolist() == [[1, 0, 0, 0], [5, 5, 1, 0]]


@pytest.mark.parametrize(
    ("top_k", "top_p", "kept"),
    [(0, 1.0, [0, 1, 2, 3]), (2, 1.0, [1, 3]), (9, 1.0, [0, 1, 2, 3]), (0, 0.3, [1]), (0, 0.5, [1, 3]), (1, 0.9, [1]),
     (3, 0.8, [1, 2, 3]), (0, 1e-9, [1])],
)  # fmt: skip
def test_which_logits_are_left(top_k, top_p, kept):
    logits = paddle.to_tensor(np.log(np.array([[0.05, 0.4, 0.25, 0.3]] * 2, "float32")))
    found = truncate_logits(logits, paddle.to_tensor([top_k, 1]), paddle.to_tensor([top_p, 1.0])).numpy()
    assert np.flatnonzero(np.isfinite(found[0])).tolist() == kept and np.flatnonzero(np.isfinite(found[1])) == [1]
    assert (found[0][kept] == logits.numpy()[0][kept]).all()
