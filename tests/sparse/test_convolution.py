"""Convolutions, pooling and attention of sparse tensors against those of dense ones; figures are in kernel_cases.py."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F
from paddle_lite_py.sparse.nn import sites

N = paddle.sparse.nn.functional
rs = np.random.RandomState(0)
PLACES = np.stack([rs.randint(0, n, 7) for n in (2, 4, 5)])
PLACES = np.unique(PLACES, axis=1)[:, ::-1].copy()  # in no order
VALUES = rs.randn(PLACES.shape[1], 3).astype("float32")
WEIGHT = paddle.to_tensor(rs.randn(3, 2, 3, 4).astype("float32"))


def image(values=VALUES, places=PLACES):
    return paddle.sparse.sparse_coo_tensor(places, values, [2, 4, 5, 3], stop_gradient=False)


@pytest.mark.parametrize("settings", [(1, 0, 1), (2, 1, 1), ([1, 2], [2, 1], 2), (2, "SAME", 1), (1, "VALID", 1)])
def test_at_its_sites_it_is_the_dense_convolution(settings):
    found = N.conv2d(image(), WEIGHT, None, *settings)
    dense = F.conv2d(image().to_dense(), WEIGHT.transpose([3, 2, 0, 1]), None, *settings, data_format="NHWC")
    np.testing.assert_allclose(found.to_dense().numpy(), dense.numpy(), rtol=1e-4, atol=1e-5)


def test_a_submanifold_convolution_keeps_the_sites():
    weight = paddle.to_tensor(rs.randn(3, 3, 3, 4).astype("float32"))
    for dilation in (1, 2):
        found = N.subm_conv2d(image(), weight, dilation=dilation)
        dense = F.conv2d(
            image().to_dense(), weight.transpose([3, 2, 0, 1]), None, 1, dilation, dilation, data_format="NHWC"
        )
        np.testing.assert_allclose(found.values().numpy(), dense.numpy()[tuple(PLACES)], rtol=1e-4, atol=1e-5)
        assert found.indices().tolist() == PLACES.tolist()


def test_places_that_repeat_are_added_first():
    twice = image(np.concatenate([VALUES, VALUES]), np.concatenate([PLACES, PLACES], 1))
    once = N.conv2d(image(2 * VALUES), WEIGHT)
    np.testing.assert_allclose(
        N.conv2d(twice, WEIGHT).to_dense().numpy(), once.to_dense().numpy(), rtol=1e-4, atol=1e-5
    )


def net():
    return paddle.nn.Sequential(
        paddle.sparse.nn.SubmConv3D(2, 4, 3),
        paddle.sparse.nn.BatchNorm(4),
        paddle.sparse.nn.ReLU(),
        paddle.sparse.nn.Conv3D(4, 3, 2, stride=2),
        paddle.sparse.nn.MaxPool3D(2, 1),
    )


DEEP = np.stack([rs.randint(0, n, 20) for n in (1, 6, 6, 6)])
FEATURES = paddle.to_tensor(rs.randn(20, 2).astype("float32"))


@pytest.mark.parametrize("static", [False, True])
def test_a_net_trains(static):
    paddle.seed(1)
    model = net()
    opt = paddle.optimizer.Adam(0.05, parameters=model.parameters())

    def step(features):
        x = paddle.sparse.sparse_coo_tensor(DEEP, features, [1, 6, 6, 6, 2])
        loss = ((model(x).values() - 1.0) ** 2).mean()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    run = paddle.jit.to_static(step) if static else step
    losses = [run(FEATURES).item() for _ in range(8)]
    assert losses[-1] < 0.7 * losses[0]
    np.testing.assert_allclose(losses[0], EXPECTED.setdefault("first", losses[0]), rtol=1e-4)
    np.testing.assert_allclose(losses[7], EXPECTED.setdefault("last", losses[7]), rtol=1e-3)


EXPECTED: dict[str, float] = {}  # what the first of the two modes gave


def test_what_meets_is_kept_as_long_as_the_places():
    gc.collect()  # what other tests have left
    x = image()
    before = len(sites._known)
    first, weight = N.subm_conv2d(x, paddle.ones([3, 3, 3, 3])), paddle.ones([3, 3, 3, 2])
    second = N.subm_conv2d(N.relu(first), weight)
    assert len(sites._known) == before + 1
    assert len(sites._known.find(x._indices)) == 1
    del x, first, second
    gc.collect()
    assert len(sites._known) == before


def test_only_sparse_normalizations_become_synchronous():
    model = paddle.nn.Sequential(paddle.sparse.nn.BatchNorm(4), paddle.nn.BatchNorm1D(4))
    found = paddle.sparse.nn.SyncBatchNorm.convert_sync_batchnorm(model)
    assert [type(m).__name__ for m in found] == ["SyncBatchNorm", "BatchNorm1D"]
    assert found[0].weight is model[0].weight


@pytest.mark.parametrize("static", [False, True])
def test_attention_looks_at_its_places(static):
    q, k, v = (paddle.to_tensor(rs.randn(1, 2, 3, 4).astype("float32")) for _ in range(3))
    keep = np.array([[[1, 1, 0], [0, 1, 0], [0, 0, 0]], [[0, 0, 1], [1, 0, 1], [0, 0, 0]]], bool)
    padding, mask = paddle.to_tensor([[1.0, 1.0, 0.0]]), paddle.ones([3, 3])
    seen = keep & np.array([1, 1, 0], bool)
    score = np.where(seen[None], np.einsum("bhqd,bhkd->bhqk", q.numpy(), k.numpy()) / 2, -np.inf)
    weight = np.exp(score) / np.maximum(np.exp(score).sum(-1, keepdims=True), 1e-30)
    by_hand = np.einsum("bhqk,bhkd->bhqd", weight, v.numpy())
    rows = paddle.to_tensor(np.pad(keep.sum(-1).cumsum(-1), ((0, 0), (1, 0)))[None])
    columns = paddle.to_tensor(np.nonzero(keep)[-1].reshape(1, 2, 3))
    choose_interpreter = paddle.jit.to_static(F.sparse_attention) if static else F.sparse_attention
    np.testing.assert_allclose(
        choose_interpreter(q, k, v, rows, columns, padding, mask).numpy(), by_hand, rtol=1e-4, atol=1e-6
    )
    places = paddle.to_tensor(keep.astype("float32")).to_sparse_csr()
    np.testing.assert_allclose(N.attention(q, k, v, places, padding, mask).numpy(), by_hand, rtol=1e-4, atol=1e-6)


def test_errors():
    x = image()
    with pytest.raises(
        ValueError, match=r"x is a Tensor of shape \[1, 4, 4, 2\]; expected a SparseCooTensor \[batch, "
    ):
        N.conv2d(paddle.zeros([1, 4, 4, 2]), WEIGHT)
    with pytest.raises(ValueError, match="with places of 3 rows"):
        N.conv2d(x.to_dense().to_sparse_coo(4), WEIGHT)
    with pytest.raises(ValueError, match=r"weight has the shape \[3, 2, 2, 4\], and x 3 channels"):
        N.conv2d(x, paddle.zeros([3, 2, 2, 4]))
    with pytest.raises(ValueError, match="groups is 2; expected 1"):
        N.conv2d(x, WEIGHT, groups=2)
    with pytest.raises(ValueError, match="data_format is 'NCHW'; expected 'NHWC'"):
        N.conv2d(x, WEIGHT, data_format="NCHW")
    with pytest.raises(ValueError, match=r"window \[3, 2\] is larger than the padded space \[4, 5\]"):
        N.conv2d(x, WEIGHT, dilation=5)
    with pytest.raises(ValueError, match="groups is 1 and padding_mode 'reflect'; expected 1 and 'zeros'"):
        paddle.sparse.nn.Conv2D(2, 2, 3, padding_mode="reflect")
    with pytest.raises(ValueError, match="return_mask is True"):
        paddle.sparse.nn.MaxPool3D(2, return_mask=True)
    with pytest.raises(ValueError, match=r"sparse_mask has the shape \[2, 4, 5, 3\]; expected \[2, 3, 3\]"):
        N.attention(*[paddle.zeros([1, 2, 3, 4])] * 3, x)
    with pytest.raises(ValueError, match=r"sparse_csr_offset has the shape \[1, 2, 3\]"):
        F.sparse_attention(*[paddle.zeros([1, 2, 3, 4])] * 3, paddle.zeros([1, 2, 3]), paddle.zeros([1, 2, 3]))
    with pytest.raises(ValueError, match=r"sparse.slice: axes \[5\]"):
        paddle.sparse.slice(x, [5], [0], [1])


def test_a_window_that_changes_is_another_one():
    x = image()
    for stride in (1, 2, 1):
        dense = F.conv2d(x.to_dense(), WEIGHT.transpose([3, 2, 0, 1]), None, stride, data_format="NHWC")
        np.testing.assert_allclose(
            N.conv2d(x, WEIGHT, None, stride).to_dense().numpy(), dense.numpy(), rtol=1e-4, atol=1e-5
        )
