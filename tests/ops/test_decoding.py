"""Caches of fixed capacity, attention over them, and what is left of logits."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F
from paddle_lite_py.ops.decoding import cache_update, cached_attention, truncate_logits
from paddle_lite_py.ops.paging import paged_attention, paged_update


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


@pytest.mark.parametrize("n", [1, 3])
def test_attention_over_blocks_is_that_over_a_cache(n):
    """Rows of 5 and 160 tokens, in blocks of 16 of any order; unused memory is not finite."""
    rng, starts = np.random.default_rng(n), paddle.to_tensor([5, 160])
    tables = np.zeros((2, 11), np.int64)
    tables[0, 0], tables[1] = 7, [3, 9, 1, 12, 2, 11, 10, 8, 4, 5, 6]
    pool, cache = np.full((13, 2, 16, 4), np.inf, "float32"), np.zeros((2, 2, 176, 4), "float32")
    for row, count in enumerate(starts.tolist()):
        cache[row, :, :count] = rng.normal(size=(2, count, 4))
        for at in range(count):
            pool[tables[row, at // 16], :, at % 16] = cache[row, :, at]
    q, new = normal(2, n, 4, 4), normal(2, n, 2, 4)
    tables, pool, cache = map(paddle.to_tensor, (tables, pool, cache))
    pool, cache = paged_update(pool, new, tables, starts), cache_update(cache, new, starts)
    found = paged_attention(q, pool, pool, tables, starts, scale=0.5)
    wanted = cached_attention(q, cache, cache, starts, scale=0.5)
    np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_what_is_written_beyond_the_blocks_of_a_row_belongs_to_nobody():
    tables, starts = paddle.to_tensor([[2]]), paddle.to_tensor([1])
    pool = paged_update(paddle.zeros([3, 1, 2, 1]), paddle.ones([1, 5, 1, 1]), tables, starts)
    assert pool[1:].flatten().tolist() == [0, 0, 0, 1]


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
