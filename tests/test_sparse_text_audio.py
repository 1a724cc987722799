"""Sparse tensors, tags, sound and fused functions: gradients, errors, and what the reference's CPU lacks."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle

fused = paddle.incubate.nn.functional


def matrix():
    dense = np.array([[0, 1, 0, 2], [0, 0, 3, 0], [4, 5, 0, 0]], "float32")
    return dense, paddle.to_tensor(dense).to_sparse_coo(2)


@pytest.mark.parametrize("kind", ["to_sparse_coo", "to_sparse_csr"])
def test_products_of_sparse_matrices(kind):
    dense, x = matrix()
    y = np.random.default_rng(0).normal(size=(4, 2)).astype("float32")
    sparse = getattr(x, kind)()
    np.testing.assert_allclose(
        paddle.sparse.matmul(sparse, paddle.to_tensor(y)).numpy(), dense @ y, rtol=1e-6, atol=1e-6
    )
    np.testing.assert_allclose(paddle.sparse.mv(sparse, paddle.ones([4])).numpy(), dense.sum(1))
    product = paddle.sparse.matmul(sparse, paddle.to_tensor(y).to_sparse_coo(2))
    np.testing.assert_allclose(product.to_dense().numpy(), dense @ y, rtol=1e-6, atol=1e-6)
    a = np.random.default_rng(1).normal(size=(3, 2)).astype("float32")
    masked = paddle.sparse.masked_matmul(paddle.to_tensor(a), paddle.to_tensor(y.T), sparse)
    np.testing.assert_allclose(masked.to_dense().numpy(), (a @ y.T) * (dense != 0), rtol=1e-5, atol=1e-6)


def test_gradients_of_sparse_values():
    values = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    x = paddle.sparse.sparse_coo_tensor([[0, 1], [1, 0]], values, [2, 2], stop_gradient=False)
    paddle.sparse.matmul(paddle.sparse.square(x), paddle.to_tensor([[3.0], [5.0]])).sum().backward()
    assert values.grad.tolist() == [10.0, 12.0]


def test_sparse_tensors_that_do_not_fit():
    make = paddle.sparse.sparse_coo_tensor
    with pytest.raises(ValueError, match="the places reach"):
        make([[0, 5]], [1.0, 2.0], [3])
    with pytest.raises(ValueError, match="for 3 values"):
        make([[0, 1]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="do not fit the shape"):
        paddle.sparse.sparse_csr_tensor([0, 1], [9], [1.0], [1, 3])
    with pytest.raises(ValueError, match="x has 4 columns, y 3 rows"):
        paddle.sparse.matmul(matrix()[1], paddle.ones([3, 2]))
    with pytest.raises(ValueError, match="this one is dense"):
        paddle.ones([2]).values()


def test_reshaped_and_summed():
    dense, x = matrix()
    np.testing.assert_array_equal(paddle.sparse.reshape(x, [4, -1]).to_dense().numpy(), dense.reshape(4, 3))
    np.testing.assert_array_equal(paddle.sparse.sum(x, 0).to_dense().numpy(), dense.sum(0))
    assert paddle.sparse.sum(x).item() == dense.sum()


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


def test_the_best_path_is_the_best_of_all():
    rng = np.random.default_rng(0)
    scores, move = rng.normal(size=(1, 3, 3)).astype("float32"), rng.normal(size=(3, 3)).astype("float32")
    paths = np.indices((3, 3, 3)).reshape(3, -1).T
    worth = [scores[0, range(3), p].sum() + move[p[:-1], p[1:]].sum() for p in paths]
    best, path = paddle.text.viterbi_decode(*map(paddle.to_tensor, (scores, move)), paddle.to_tensor([3]), False)
    assert path.numpy()[0].tolist() == paths[int(np.argmax(worth))].tolist()
    np.testing.assert_allclose(best.numpy()[0], max(worth), rtol=1e-5)


def test_text_data_sets(tmp_path: Path):
    table = np.random.default_rng(0).normal(size=(10, 14))
    (tmp_path / "housing").write_text("\n".join(" ".join(map(str, row)) for row in table))
    assert len(paddle.text.UCIHousing(tmp_path / "housing")) == 8
    features, price = paddle.text.UCIHousing(tmp_path / "housing", "test")[1]
    assert features.shape == (13,) and price[0] == np.float32(table[9, 13])
    with tarfile.open(tmp_path / "imdb.tar.gz", "w:gz") as tar:
        for name, text in (("train/pos/0", "good, good film"), ("train/neg/0", "bad film"), ("test/pos/0", "good")):
            info = tarfile.TarInfo(f"aclImdb/{name}.txt")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    data = paddle.text.Imdb(tmp_path / "imdb.tar.gz", cutoff=1)
    assert data.word_idx == {"good": 0, "film": 1, "<unk>": 2}
    assert [(d.tolist(), int(label[0])) for d, label in data] == [([0, 0, 1], 0), ([2, 1], 1)]


def test_windows_that_are_not_known():
    with pytest.raises(ValueError, match="window is 'square'"):
        paddle.audio.functional.get_window("square", 4)
    assert paddle.audio.functional.get_window(("tukey", 0.5), 8).shape == [8]


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


def test_weights_in_eight_bits():
    rng = np.random.default_rng(0)
    x, w = (paddle.to_tensor(rng.normal(size=s).astype("float32")) for s in ((2, 16), (16, 3)))
    q = paddle.nn.quant
    packed, scale = q.weight_quantize(w)
    np.testing.assert_allclose(q.weight_dequantize(packed, scale, out_dtype="float32").numpy(), w.numpy(), atol=0.02)
    found = q.weight_only_linear(x, packed, paddle.ones([3]), scale).numpy()
    np.testing.assert_allclose(found, x.numpy() @ w.numpy() + 1, atol=0.1)
    with pytest.raises(NotImplementedError, match="weight_only_int4"):
        q.weight_quantize(w, "weight_only_int4")


def test_sound_files(tmp_path):
    file = tmp_path / "a.wav"
    sound = paddle.to_tensor([[0.5, 2.0, -2.0, 0.25]])
    paddle.audio.save(file, sound, 100)
    found, rate = paddle.audio.load(str(file))
    assert rate == 100 and found.dtype == "float32"
    np.testing.assert_allclose(found.numpy(), [[0.5, 1.0, -1.0, 0.25]], atol=2**-15)
    assert paddle.audio.load(file, 3)[0].tolist() == [[0.25]] and paddle.audio.load(file, 9)[0].shape == [1, 0]
    paddle.audio.save(file, paddle.to_tensor([[3, 4], [5, 6], [7, 8]], "int16"), 100, channels_first=False)
    assert paddle.audio.info(file)[:4] == (100, 3, 2, 16)
    assert paddle.audio.load(file, normalize=False)[0].tolist() == [[3.0, 5.0, 7.0], [4.0, 6.0, 8.0]]
    file.write_bytes(b"no sound")
    with pytest.raises(NotImplementedError, match="a.wav is no wave file"):
        paddle.audio.load(file)
    with pytest.raises(ValueError, match=r"src has the shape \[3\]"):
        paddle.audio.save(file, paddle.zeros([3]), 100)
    with pytest.raises(NotImplementedError, match="'soundfile' is not available"):
        paddle.audio.backends.set_backend("soundfile")
