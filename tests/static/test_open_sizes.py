"""Nets for pictures of any size: programs of static mode and saved programs give what eager code gives for each."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn, static
from paddle_lite_py.vision import ops as vision_ops

SIZES = [(1, 16, 16), (2, 20, 12), (1, 15, 18)]


class Net(nn.Layer):
    def __init__(self, forward):
        super().__init__()
        self.stem, self.down = nn.Conv2D(3, 2, 3, 2, 1), nn.Conv2D(2, 2, 3, 2, 1)
        self.up, self.pool = nn.Conv2DTranspose(2, 2, 2, 2), nn.MaxPool2D(3, 2, 1)
        self.compute = forward

    def forward(self, x):
        return self.compute(self, x)


def encode_and_decode(net, x):
    """U-Net: what is scaled up is cut to the size of what is concatenated to it."""
    skip = net.stem(x)
    up = net.up(net.down(skip))
    return paddle.concat([skip, up[:, :, : skip.shape[2], : skip.shape[3]]], 1)


def add_levels(net, x):
    """FPN: each level has the size of the one below."""
    low = net.stem(x)
    middle = net.down(low)
    high = net.down(middle)
    middle = middle + F.interpolate(high, size=middle.shape[2:], mode="nearest")
    return high, middle, low + F.interpolate(middle, size=low.shape[2:], mode="bilinear")


def pool_of_slices(net, x):
    x = net.pool(net.stem(x))
    return net.pool(x[:, :, ::2, 1:]).flatten(2), F.unfold(x, 3, 2, 1), F.adaptive_avg_pool2d(x, 1)


def attend(net, x):
    """Vision transformers: patches are rows, and rows are patches again."""
    h = net.down(net.stem(x))
    rows = h.flatten(2).transpose([0, 2, 1])
    rows = F.softmax(rows @ rows.transpose([0, 2, 1]), -1) @ rows
    return F.layer_norm(rows, [2]), rows.transpose([0, 2, 1]).reshape(h.shape) + h


def sample_grid(net, x):
    h = net.stem(x)
    theta = paddle.ones([1, 2, 3]).expand([x.shape[0], 2, 3])
    return F.grid_sample(h, F.affine_grid(theta * 0.3, paddle.shape(h))), F.pixel_shuffle(h.tile([1, 2, 1, 1]), 2)


def suppress_boxes(net, x):
    """A detection head: a box and a score for each cell, of which nms leaves some."""
    h = net.down(net.stem(x))
    boxes = F.sigmoid(h.flatten(2).transpose([0, 2, 1])[0]).tile([1, 2]) + paddle.to_tensor([0.0, 0.0, 1.0, 1.0])
    scores = h[0, 0].flatten()
    kept = vision_ops.nms(boxes, 0.6, scores)
    return paddle.gather(boxes, kept), paddle.nonzero(scores > 0).shape[0] * paddle.ones([1])


def place_boxes(net, x):
    return vision_ops.prior_box(net.down(net.stem(x)), x, min_sizes=[4.0], aspect_ratios=[1.0, 2.0], flip=True)


NETS = [encode_and_decode, add_levels, pool_of_slices, attend, sample_grid, suppress_boxes, place_boxes]


def listed(found):
    return list(found) if isinstance(found, list | tuple) else [found]


def same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("forward", NETS, ids=lambda f: f.__name__)
def test_a_net_serves_pictures_of_each_size(forward, tmp_path):
    paddle.seed(3)
    net = Net(forward)
    pictures = [np.random.default_rng(0).random((n, 3, h, w), "float32") for n, h, w in SIZES]
    expected = [[t.numpy() for t in listed(net(paddle.to_tensor(a)))] for a in pictures]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[static.InputSpec([None, 3, None, None], name="x")])
    loaded = paddle.jit.load(str(tmp_path / "net"))
    for picture, want in zip(pictures, expected, strict=True):
        same(listed(loaded(paddle.to_tensor(picture))), want)
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main):
        fetches = listed(net(static.data("x", [None, 3, None, None])))
    for picture, want in zip(pictures, expected, strict=True):
        same(static.Executor().run(main, feed={"x": picture}, fetch_list=fetches), want)


@pytest.fixture
def program():
    paddle.enable_static()
    with static.program_guard(static.Program()):
        yield


def test_unknown_sizes_are_broadcast_to_numbers(program):
    x, y = static.data("x", [None, None]), static.data("y", [2, 3])
    total = x * y
    for shape in ((2, 3), (1, 3), (2, 1)):
        feed = {"x": np.ones(shape, "float32"), "y": np.ones([2, 3], "float32")}
        assert static.Executor().run(feed=feed, fetch_list=[total])[0].shape == (2, 3)


def test_an_unknown_size_is_a_number_of_the_program(program):
    x = static.data("x", [None, 3])
    n, found = x.shape[0], paddle.nonzero(x > 1).shape[0]
    fetches = [n * paddle.ones([1]), n * 2.5, paddle.ones([1]) * (2 * n), 6 / n, found * paddle.ones([1])]
    feed = {"x": np.arange(6, dtype="float32").reshape(2, 3)}
    assert [a.item() for a in static.Executor().run(feed=feed, fetch_list=fetches)] == [2.0, 5.0, 4.0, 3.0, 4.0]
    assert n != 3 and n >= 0 and n + 1 > n


@pytest.mark.parametrize(
    "use",
    [range, float, int, lambda n: n > 4, lambda n: [0] * n],
    ids=["range", "float", "int", "compared", "list"],
)
def test_python_that_needs_an_unknown_size_is_named(use, program):
    with pytest.raises(ValueError, match=r"test_open_sizes.py:\d+ needs the size x_0, which is known only at run time"):
        use(static.data("x", [None, 3]).shape[0])
