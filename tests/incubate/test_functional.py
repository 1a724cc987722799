"""paddle.incubate.nn.functional against what it fuses."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle

fused = paddle.incubate.nn.functional


def test_rotated_positions_keep_products_of_equal_distance():
    q = paddle.to_tensor(np.random.default_rng(0).normal(size=(1, 1, 1, 8)).astype("float32")).expand([1, 6, 1, 8])
    for style in (True, False):
        turned = fused.fused_rotary_position_embedding(q, use_neox_rotary_style=style)[0].numpy()[0, :, 0]
        products = turned @ turned.T
        np.testing.assert_allclose(np.diagonal(products, 2), products[0, 2], rtol=1e-4)
        np.testing.assert_allclose(turned[0], q.numpy()[0, 0, 0], rtol=1e-6)
    at = paddle.to_tensor([[5, 4, 3, 2, 1, 0]])
    back = fused.fused_rotary_position_embedding(q, position_ids=at, use_neox_rotary_style=False)[0].numpy()[0, :, 0]
    np.testing.assert_allclose(back[::-1], turned, rtol=1e-5, atol=1e-6)


def test_fused_functions_are_what_they_fuse():
    x, y = paddle.rand([2, 4]), paddle.rand([3, 4])
    np.testing.assert_allclose(
        fused.fused_matmul_bias(x, y, paddle.ones([3]), transpose_y=True).numpy(),
        x.numpy() @ y.numpy().T + 1,
        rtol=1e-5,
    )
    out, total = fused.fused_rms_norm(x, paddle.ones([4]), None, 1e-6, residual=x)
    np.testing.assert_allclose(total.numpy(), 2 * x.numpy())
    square = (total.numpy() ** 2).mean(1, keepdims=True)
    np.testing.assert_allclose(out.numpy(), total.numpy() / np.sqrt(square + 1e-6), rtol=1e-5)
    with pytest.raises(ValueError, match="activation is 'mish'"):
        fused.fused_linear_activation(x, y, None, trans_y=True, activation="mish")


def test_blocks_of_eight_bits():
    x = paddle.to_tensor(np.random.default_rng(0).normal(size=(3, 200)).astype("float32"))
    out, scale = fused.fp8_quant_blockwise(x, output_scale_transpose=False)
    assert out.dtype == "float8_e4m3fn" and scale.shape == [3, 2]
    back = out.astype("float32").numpy() * np.repeat(scale.numpy(), 128, 1)[:, :200]
    np.testing.assert_allclose(back, x.numpy(), rtol=0.07, atol=0.02)
    assert np.log2(scale.numpy()).tolist() == np.round(np.log2(scale.numpy())).tolist()
