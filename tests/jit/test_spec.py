"""What a static function is told about its arguments."""

from __future__ import annotations

import pytest
from paddle_lite_py.jit import InputSpec, to_static

import paddle_lite_py as paddle


def test_input_spec_with_an_unknown_batch_traces_once():
    f = to_static(lambda x: (x * 2.0).sum(axis=1), input_spec=[InputSpec([None, 3], "float32", "x")])
    for n in (1, 4, 7):
        assert f(paddle.ones([n, 3])).shape == [n]
    assert len(f.program_cache) == 1


def test_a_call_unlike_its_input_spec_is_compiled_with_one_warning():
    f = to_static(lambda image: image, input_spec=[InputSpec([None, 3], "float32")])
    with pytest.warns(match=r"argument `image` is float32\[2\], but its InputSpec asks for float32\[-1, 3\]"):
        assert f(paddle.ones([2])).shape == [2]
    for dtype in ("int64", "float16"):
        assert f(paddle.ones([2, 3], dtype)).dtype == getattr(paddle, dtype)
    with pytest.warns(match=r"argument `x` is int64\[2, 3\], but its InputSpec asks for float32\[-1, 3\]"):
        to_static(lambda x: x, input_spec=[InputSpec([None, 3], "float32")])(paddle.ones([2, 3], "int64"))
    with pytest.raises(ValueError, match="is no dimension"):
        InputSpec([None, -3])


def test_a_declared_argument_may_take_gradients_or_not():
    f = to_static(lambda x: x * 2, input_spec=[InputSpec([None], "float32")])
    for n, stopped in enumerate((False, True, False)):
        x = paddle.ones([n + 1])
        x.stop_gradient = stopped
        assert f(x).stop_gradient is stopped
    assert "with gradient" in f.cache.explain()
