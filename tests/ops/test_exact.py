"""Quotients are rounded once, in each mode and on each tier; casts of what does not fit are PaddlePaddle's."""

from __future__ import annotations

import math

import numpy as np
import pytest

import paddle_lite_py as paddle

MULTIPLES = 41.0 * np.arange(1, 6, dtype=np.float32)
QUOTIENTS = {
    "a number": lambda x: x / 41.0,
    "a tensor of one element": lambda x: x / paddle.to_tensor([41.0]),
    "a tensor without dimensions": lambda x: x / paddle.to_tensor(41.0),
    "a filled tensor": lambda x: x / paddle.full_like(x, 41.0),
    "a column": lambda x: (x.reshape([-1, 5]) / paddle.full([1, 1], 41.0)).reshape([-1]),
    "rounded down": lambda x: x // 41.0,
    "rounded towards zero": lambda x: paddle.div(x, paddle.to_tensor(41.0), rounding_mode="trunc"),
    "what is left": lambda x: x % 41.0 + x / 41.0,
}
MODES = {"eager": lambda f: f, "static": paddle.jit.to_static}


@pytest.mark.parametrize("size", [5, 40_000])  # NumPy's, and XLA's
@pytest.mark.parametrize("mode", MODES)
def test_multiples_divide_without_rest(mode, size):
    def all_of_them(x):
        return [quotient(x).astype("int64") for quotient in QUOTIENTS.values()]

    x = paddle.to_tensor(np.tile(MULTIPLES, size // 5))
    expected = np.tile(np.arange(1, 6), size // 5)
    for name, found in zip(QUOTIENTS, MODES[mode](all_of_them)(x), strict=True):
        assert np.array_equal(found.numpy(), expected), name


def test_a_saved_program_divides_exactly(tmp_path):
    net = paddle.nn.Sequential(paddle.nn.Identity())
    net.forward = lambda x: (x / 41.0).astype("int64")
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None], "float32")])
    assert paddle.jit.load(str(tmp_path / "net"))(paddle.to_tensor(MULTIPLES)).tolist() == [1, 2, 3, 4, 5]


def test_gradients_of_quotients():
    x = paddle.to_tensor(MULTIPLES, stop_gradient=False)
    y = paddle.to_tensor([41.0], stop_gradient=False)
    (x / y).sum().backward()
    assert np.array_equal(x.grad.numpy(), np.full(5, np.float32(1) / np.float32(41)))
    assert y.grad.item() == pytest.approx(-MULTIPLES.sum() / 41**2)


OUTSIDE = [-1.0, 300.0, -300.0, 3e9, -3e9, math.nan, math.inf, 65537.5, -0.5]
LEAST = {bits: -(2 ** (bits - 1)) for bits in (32, 64)}
# Recorded from PaddlePaddle 3.3.1 on a CPU.
CASTS = {
    "uint8": [255, 44, 212, 0, 0, 0, 0, 1, 0],
    "int8": [-1, 44, -44, 0, 0, 0, 0, 1, 0],
    "int16": [-1, 300, -300, 0, 0, 0, 0, 1, 0],
    "int32": [-1, 300, -300, *[LEAST[32]] * 4, 65537, 0],
    "int64": [-1, 300, -300, 3_000_000_000, -3_000_000_000, LEAST[64], LEAST[64], 65537, 0],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", ["float32", "float64"])
def test_numbers_that_do_not_fit(source, mode):
    cast = MODES[mode](lambda x: [x.astype(kind) for kind in CASTS])
    found = cast(paddle.to_tensor(OUTSIDE, dtype=source))
    assert [t.tolist() for t in found] == list(CASTS.values())


def test_half_precision_and_complex_numbers():
    halves = [paddle.to_tensor([-1.0, 300.0, math.inf], dtype=kind).astype("uint8") for kind in ("float16", "bfloat16")]
    assert [h.tolist() for h in halves] == [[255, 44, 0]] * 2
    assert paddle.to_tensor([0j, 1j, 1 + 0j]).astype("bool").tolist() == [False, True, True]


INDEXED = {
    "read": lambda x, i: x[i],
    "read in a row": lambda x, i: x.reshape([1, 3])[0, i],
    "read behind ...": lambda x, i: x.reshape([1, 3])[..., i],
    "write": lambda x, i: x.__setitem__(i, 9),
}


@pytest.mark.parametrize("name", INDEXED)
@pytest.mark.parametrize("index", [3, -4])
def test_a_tensor_without_dimensions_is_no_index_beyond_the_end(name, index):
    with pytest.raises(IndexError, match=f"the index holds {index}; expected -3 to 2"):
        INDEXED[name](paddle.arange(3), paddle.to_tensor(index))
    INDEXED[name](paddle.arange(3), paddle.to_tensor(-1))


@pytest.mark.parametrize("mode", MODES)
def test_narrow_counts_from_the_end(mode):
    cut = MODES[mode](lambda x, start: paddle.narrow(x, 1, start, 2))
    assert cut(paddle.arange(6).reshape([2, 3]), paddle.to_tensor(-2)).tolist() == [[1, 2], [4, 5]]


def test_complex_numbers_have_the_precision_of_the_default_dtype():
    made = [lambda: paddle.to_tensor([1j]), lambda: paddle.to_tensor(1j), lambda: paddle.full([1], 1j)]
    assert {str(make().dtype) for make in made} == {"paddle.complex64"}
    paddle.set_default_dtype("float64")
    assert {str(make().dtype) for make in made} == {"paddle.complex128"}
    assert (paddle.to_tensor([1]) * 1j).dtype == paddle.complex64
    paddle.set_default_dtype("float32")
    assert {str(make().dtype) for make in made} == {"paddle.complex64"}
