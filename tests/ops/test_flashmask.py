"""Attention with masks by rows."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def test_masks_by_rows():
    rng = np.random.default_rng(0)
    q, k, v = (paddle.to_tensor(rng.normal(size=(1, 4, 2, 3)).astype("float32")) for _ in range(3))
    F = paddle.nn.functional

    def masked(rows, causal, hidden, **settings):
        given = paddle.to_tensor(np.array(rows, "int32").reshape(1, 1, 4, -1))
        found = F.flashmask_attention(q, k, v, given, causal=causal, **settings)
        mask = paddle.to_tensor(~np.array(hidden, bool)).reshape([1, 1, 4, 4])
        np.testing.assert_allclose(found.numpy(), F.scaled_dot_product_attention(q, k, v, mask).numpy(), rtol=1e-5)

    above = np.triu(np.ones((4, 4), bool), 1)
    i, j = np.indices((4, 4))
    masked([3, 4, 4, 4], True, above | ((i >= 3) & (j == 0)))
    masked([[1, 2], [4, 4], [4, 4], [4, 4]], True, above | ((i == 1) & (j == 0)))
    masked([[4, 0], [4, 1], [3, 0], [4, 0]], False, ((i < 1) & (j == 1)) | ((i >= 3) & (j == 2)))
    masked([4, 4, 4, 4], True, above | (j < i - 1), window_size=1)
    with pytest.raises(ValueError, match="expected .batch, heads, keys, 1 or 2"):
        F.flashmask_attention(q, k, v, paddle.zeros([1, 1, 4, 3], "int32"), causal=True)
