"""Functions with unknown dimensions: called, saved and loaded, as they run eagerly."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, load, save, to_static

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn

IMAGE, SEQUENCE, MATRIX = (2, 3, 8, 8), (2, 5, 4), (3, 4)


def f32(*shape, seed=0):
    return paddle.to_tensor(np.random.default_rng(seed).uniform(-1, 1, shape).astype("float32"))


def rows_of(x):
    out = paddle.zeros([x.shape[1]])
    for i in range(x.shape[0]):
        out = out + x[i] * i
    return out


def halves_of(x, n):
    total = x.sum()
    for i in range(n):
        total = total + i / 2
    return total


def stacked(x):
    return paddle.stack([row * 2 for row in x])


def by_size(x):
    if x.shape[1] == 4:
        return x + 1
    return x - 1


def larger(x):
    return x * 2 if x.shape[0] > 2 else x


def constant_sizes(x):
    n = paddle.full([1], 4, "int32")
    return paddle.arange(0, n, 1).astype("float32") + paddle.full(paddle.to_tensor([2, 4]), 1.0) + x.sum()


# Functions, and what they are called with. Those that want to know sizes come after the others.
ANY_SIZE = {
    "add": (lambda x, y: x + y, f32(*MATRIX), f32(*MATRIX)),
    "matmul": (paddle.matmul, f32(3, 4), f32(4, 5)),
    "two lengths": (lambda x, y: x.sum() + y.sum(), f32(3, 4), f32(5, 4)),
    "a power of a size": (lambda x: x * x.shape[-1] ** -0.5, f32(*MATRIX)),
    "a root of a size": (lambda x: x / math.sqrt(x.shape[1]), f32(*MATRIX)),
    "a size as a number": (lambda x: x.shape[0] * 1.0 + x.sum(), f32(*MATRIX)),
    "a size divided": (lambda x: int(x.shape[0] / 2) * x, f32(*MATRIX)),
    "a loop over a size": (rows_of, f32(*MATRIX)),
    "a loop over a tensor": (halves_of, f32(*MATRIX), paddle.to_tensor(3)),
    "kthvalue": (lambda x: paddle.kthvalue(x, 2, axis=1)[0], f32(*MATRIX)),
    "crop": (lambda x: paddle.crop(x, [2, 2], [0, 1]), f32(*MATRIX)),
    "tanh_": (lambda x: paddle.tanh_(x), f32(*MATRIX)),
    "cross entropy": (F.cross_entropy, f32(3, 4), paddle.to_tensor([0, 1, 3])),
    "constant sizes": (constant_sizes, f32(*MATRIX)),
    "a constant": (lambda x: (x + 1, paddle.to_tensor([1.0, 2.0])), f32(*MATRIX)),
    "a dict": (lambda x: {"b": x + 1, "a": [x * 2, None]}, f32(*MATRIX)),
    "more than a number": (larger, f32(*MATRIX)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), f32(*IMAGE)),
    "interpolate to a shape": (lambda x, y: F.interpolate(x, size=y.shape[2:]), f32(2, 3, 4, 4), f32(*IMAGE)),
}
KNOWN_SIZES = {
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x), f32(2, 5, 2, 4)),
}
EACH_SIZE = {
    "stacked rows": (stacked, f32(*MATRIX)),
    "adaptive pool": (lambda x: F.adaptive_avg_pool2d(x, 3), f32(*IMAGE)),
    "prod": (paddle.prod, f32(*MATRIX)),
    "fft": (lambda x: paddle.abs(paddle.fft.fft(x)), f32(*MATRIX)),
    "conv2d": (F.conv2d, f32(*IMAGE), f32(4, 3, 3, 3)),
    "equal to a number": (by_size, f32(*MATRIX)),
    "glu": (F.glu, f32(*MATRIX)),
    "more than a number": (larger, f32(*MATRIX)),
}


def leaves(value):
    if isinstance(value, dict):
        return [leaf for k in sorted(value) for leaf in leaves(value[k])]
    return [leaf for v in value for leaf in leaves(v)] if isinstance(value, list | tuple) else [value]


def assert_alike(found, wanted):
    for a, b in zip(leaves(found), leaves(wanted), strict=True):
        if isinstance(b, paddle.Tensor):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-5)
        else:
            assert a == b


def copies(args):
    return [a.clone() for a in args]


def unknown(args):
    return [InputSpec([None] * a.ndim, a.dtype) for a in args]


@pytest.mark.parametrize("name", ANY_SIZE)
def test_any_size_is_called_saved_and_loaded(name, tmp_path):
    function, *args = ANY_SIZE[name]
    wanted = function(*copies(args))
    static = to_static(function, input_spec=unknown(args))
    assert_alike(static(*copies(args)), wanted)
    save(static, str(tmp_path / "net"))
    assert_alike(load(str(tmp_path / "net"))(*copies(args)), wanted)


@pytest.mark.parametrize("name", KNOWN_SIZES)
def test_a_line_that_wants_a_size_has_that_of_the_call_and_says_so(name, tmp_path):
    function, *args = KNOWN_SIZES[name]
    static = to_static(function, input_spec=unknown(args))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert_alike(static(*copies(args)), function(*args))
    with pytest.warns(UserWarning, match=r"is traced for one size of dimension \d of `\w+`.*needs"):
        save(static, str(tmp_path / "net"))
    assert_alike(load(str(tmp_path / "net"))(*copies(args)), function(*args))


@pytest.mark.parametrize("name", EACH_SIZE)
def test_what_xla_must_know_the_sizes_of_is_compiled_for_each(name, tmp_path):
    function, *args = EACH_SIZE[name]
    save(to_static(function), str(tmp_path / "net"), input_spec=unknown(args))
    loaded = load(str(tmp_path / "net"))
    larger = [paddle.concat([a, a], -1) if i == 0 else a for i, a in enumerate(args)]
    for given in (args, larger):
        assert_alike(loaded(*copies(given)), function(*given))


def test_each_size_that_code_asks_for_has_a_program_of_its_own():
    static = to_static(by_size, input_spec=[InputSpec([None, None])])
    assert static(paddle.ones([2, 3])).sum().item() == 0
    assert static(paddle.ones([5, 7])).sum().item() == 0 and len(static.program_cache) == 1
    with pytest.warns(UserWarning, match="is compiled for each size of dimension 1 of `x`"):
        assert static(paddle.ones([2, 4])).sum().item() == 16
    assert static(paddle.ones([3, 4])).sum().item() == 24 and len(static.program_cache) == 2


def test_lengths_that_an_op_makes_one_must_be_one(tmp_path):
    static = to_static(lambda x, y: x + y, input_spec=[InputSpec([None, 2]), InputSpec([None, 2])])
    save(static, str(tmp_path / "net"))
    loaded = load(str(tmp_path / "net"))
    assert loaded(paddle.ones([3, 2]), paddle.ones([3, 2])).shape == [3, 2]
    with pytest.raises(ValueError, match="dimension batch is 3 in one argument and 4 in another"):
        loaded(paddle.ones([3, 2]), paddle.ones([4, 2]))
    with pytest.warns(UserWarning, match="dimension 0 of `y`, 1 now"):  # a call has the sizes that it has
        assert static(paddle.ones([3, 2]), paddle.ones([1, 2])).shape == [3, 2]


def test_a_size_that_the_spec_does_not_have_is_compiled_with_one_warning():
    static = to_static(lambda x: x * 2, input_spec=[InputSpec([None, 3], name="x")])
    with pytest.warns(UserWarning, match=r"`x` is float32\[2, 4\], but its InputSpec asks for float32\[-1, 3\]"):
        assert static(paddle.ones([2, 4])).shape == [2, 4]
    assert static(paddle.ones([2, 5])).shape == [2, 5]


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 3)

    def forward(self, inputs, scale=2.0, *, shift=None):
        out = self.linear(inputs) * scale
        return (out if shift is None else out + shift), self.linear.weight


def test_arguments_by_keyword_are_saved_as_they_were_given(tmp_path):
    net, x = to_static(Net()), f32(*MATRIX)
    wanted = net(inputs=x, shift=paddle.ones([3]))
    save(net, str(tmp_path / "net"))
    assert_alike(load(str(tmp_path / "net"))(x, paddle.ones([3])), wanted)


def test_keywords_in_another_order_are_the_same_call():
    static = to_static(lambda x, y: x - y, input_spec=[InputSpec([1], name="x"), InputSpec([None, 2], name="y")])
    a, b = paddle.ones([1]), paddle.zeros([3, 2])
    assert static(y=b, x=a).shape == static(x=a, y=b).shape == [3, 2]
    assert len(static.program_cache) == 1


def test_specs_in_a_dict_belong_to_keys():
    spec = {"a": InputSpec([None, 4], name="a"), "b": InputSpec([None, 2], name="b")}
    static = to_static(lambda d: d["a"].sum() - d["b"].sum(), input_spec=[spec])
    assert static({"b": paddle.ones([2, 2]), "a": paddle.ones([1, 4])}).item() == 0.0


def test_an_argument_changed_in_place_is_changed_by_the_loaded_program(tmp_path):
    static = to_static(lambda x: paddle.tanh_(x), input_spec=[InputSpec([None])])
    save(static, str(tmp_path / "net"))
    x = paddle.ones([2])
    assert load(str(tmp_path / "net"))(x).tolist() == x.tolist() == pytest.approx([math.tanh(1)] * 2)


LAYERS = {
    "conv": (lambda: nn.Conv2D(3, 4, 3, padding="same"), IMAGE),
    "batch norm": (lambda: nn.BatchNorm2D(3), IMAGE),
    "lstm": (lambda: nn.LSTM(4, 3), SEQUENCE),
    "attention": (lambda: nn.MultiHeadAttention(4, 2), SEQUENCE),
    "encoder": (lambda: nn.TransformerEncoderLayer(4, 2, 8), SEQUENCE),
    "upsample": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), IMAGE),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_of_unknown_batch_and_length(name, tmp_path):
    make, shape = LAYERS[name]
    layer, x = make(), f32(*shape)
    layer.eval()
    wanted = layer(x)
    spec = [None, 3, None, None] if len(shape) == 4 else [None, None, 4]
    save(to_static(layer, input_spec=[InputSpec(spec)]), str(tmp_path / "net"))
    loaded = load(str(tmp_path / "net"))
    assert_alike(loaded(x), wanted)
    other = f32(*[n + 1 if s is None else n for n, s in zip(shape, spec, strict=True)], seed=1)
    layer.forward = layer.forward.rollback() if hasattr(layer.forward, "rollback") else layer.forward
    assert_alike(loaded(other), layer(other))


# What has a size that the data decide.
DECIDED = {
    "nonzero": paddle.nonzero,
    "unique": paddle.unique,
    "masked_select": lambda x: paddle.masked_select(x, x > 0),
    "x[mask]": lambda x: x[x > 0],
    "bincount": lambda x: paddle.bincount(x.astype("int64")),
    "bincount of at least": lambda x: paddle.bincount(x.astype("int64"), minlength=3),
    "sequence_mask": lambda x: F.sequence_mask(x.astype("int64")),
    "repeat_interleave": lambda x: paddle.repeat_interleave(x, x.astype("int64")),
}


@pytest.mark.parametrize("size", [4, None])
@pytest.mark.parametrize("name", DECIDED)
def test_what_the_data_decide_is_computed_and_saved(name, size, tmp_path):
    function = DECIDED[name]
    save(to_static(function), str(tmp_path / "m"), input_spec=[InputSpec([size], "float32")])
    loaded, static = load(str(tmp_path / "m")), to_static(function)
    for data in ([1.0, 0.0, 2.0, 3.0], [1.0, 1.0, 0.0, 1.0]):
        x = paddle.to_tensor(data)
        for f in (static, loaded):
            np.testing.assert_array_equal(f(x).numpy(), function(x).numpy())


SLICES = {
    "into a buffer": lambda x: buffered(x[:2]),
    "and a matrix": lambda x: x[:2] + paddle.ones([2, 3]),
    "a row": lambda x: x[1] * 2,
}


def buffered(rows):
    buffer = paddle.zeros([2, 2, 3])
    buffer[0] = rows
    return buffer


@pytest.mark.parametrize("name", SLICES)
def test_a_slice_takes_for_granted_that_it_is_full_and_fixes_no_size(name, tmp_path):
    prefix = str(tmp_path / "f")
    paddle.jit.save(SLICES[name], prefix, [InputSpec([None, 3])])
    loaded = paddle.jit.load(prefix)
    for rows in (2, 3, 5):
        x = paddle.arange(rows * 3, dtype="float32").reshape([rows, 3])
        assert loaded(x).tolist() == SLICES[name](x).tolist()
    with pytest.raises(ValueError, match="was saved for .* >= 2, and is called with"):
        loaded(paddle.ones([1, 3]))


@pytest.mark.parametrize(
    "f", [list, sorted, tuple, lambda x: [*x], lambda x: dict(enumerate(x)), lambda x: list(zip(x, x, strict=False))]
)
def test_the_items_of_an_open_size_are_refused_with_the_line(f, tmp_path):
    with pytest.raises(ValueError, match=r"needs the size of dimension 0 of `x`|`\w+` needs"):
        paddle.jit.save(lambda x: f(x), str(tmp_path / "f"), [InputSpec([None], name="x")])
