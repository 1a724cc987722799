"""What earlier processes have found of ops is what tracing them finds."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import memo
from paddle_lite_py.core.interpreter import state
from paddle_lite_py.eager import abstract_results, lazy_op
from paddle_lite_py.eager.abstract_results import EarlierResults
from paddle_lite_py.eager.execute import EAGER
from paddle_lite_py.nn import functional as F


@pytest.fixture(autouse=True)
def own_folder(monkeypatch, tmp_path):
    """Small arrays are XLA's, so that ops on them wait; what is found is kept in a folder of the test's own."""
    paddle.set_flags({"FLAGS_host_tier": False})
    monkeypatch.setattr(abstract_results, "file_of_traced", lambda said, ending: tmp_path / f"{hash(*said)}.{ending}")
    monkeypatch.setattr("paddle_lite_py.eager.deferred.may_be_large", lambda operators: True)
    state.interpreter = EAGER
    memo.clear()
    yield tmp_path
    state.interpreter = EAGER


@pytest.fixture
def traced(monkeypatch):
    """By the texts of calls, what tracing has found for them."""
    found, trace = {}, lazy_op.LazyOpInfo._traced

    def noting(self, data):
        text = lazy_op.text_of_call(self._bound, lazy_op.kinds_of(data))
        return found.setdefault(text, trace(self, data))

    monkeypatch.setattr(lazy_op.LazyOpInfo, "_traced", noting)
    return found


def weights(*shape, dtype="float32"):
    """A tensor that takes a gradient."""
    return paddle.to_tensor(np.ones(shape), dtype, stop_gradient=False)


IMAGE = (2, 4, 6, 6)
CALLS = {
    "elementwise": lambda x: paddle.tanh(x) * 2.0 + 1,
    "convolution": lambda x: F.conv2d(x, weights(8, 4, 3, 3), padding=1),
    "by channel": lambda x: F.conv2d(x, weights(4, 1, 3, 3), groups=4),
    "transposed": lambda x: F.conv2d_transpose(x, weights(4, 8, 2, 2), stride=2),
    "pooling": lambda x: F.max_pool2d(x, 2) + F.adaptive_avg_pool2d(x, 3),
    "normalization": lambda x: F.batch_norm(x, paddle.zeros([4]), paddle.ones([4]), training=True),
    "several results": lambda x: x.split(2, axis=1)[1],
    "with positions": lambda x: x.max(axis=1) + x.argmax(axis=1),
    "narrow": lambda x: x.astype("bfloat16") @ weights(6, 3, dtype="bfloat16"),
    "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
    "index": lambda x: x[:, 1:, ..., 0],
    "loss": lambda x: F.cross_entropy(x.reshape([8, -1]), paddle.zeros([8], "int64")),
}


def plain(result):
    """A result as what can be compared."""
    return [(s.shape, s.dtype) for s in result.specs], *result[1:]


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_is_kept_is_what_tracing_finds(monkeypatch, traced, call):
    first = call(weights(*IMAGE)).numpy()
    before, kept, get = dict(traced), {}, EarlierResults.get
    assert before
    monkeypatch.setattr(EarlierResults, "get", lambda self, text: kept.setdefault(text, get(self, text)))
    as_in_a_new_process(traced)
    np.testing.assert_array_equal(call(weights(*IMAGE)).numpy(), first)
    assert not traced
    assert {t: plain(r) for t, r in kept.items()} == {t: plain(r) for t, r in before.items()}


def as_in_a_new_process(traced):
    """Nothing is known but what is on the disk."""
    memo.clear()
    traced.clear()


CHANGES = {
    "a shape": (lambda: F.softmax(weights(2, 7)), True),
    "a dtype": (lambda: F.softmax(weights(2, 6, dtype="float64")), True),
    "an attribute": (lambda: F.softmax(weights(2, 6), axis=0), True),
    "nothing": (lambda: F.softmax(weights(2, 6)), False),
    "an op of the user's": (
        lambda: paddle.utils.custom_op(lambda x, /: x * 2, name="kept_nowhere")(weights(2, 6)),
        True,
    ),
}


@pytest.mark.parametrize(("call", "anew"), CHANGES.values(), ids=CHANGES)
def test_what_differs_is_traced(traced, call, anew):
    F.softmax(weights(2, 6)).numpy()
    as_in_a_new_process(traced)
    call().numpy()
    assert bool(traced) == anew


def test_an_altered_file_is_not_read(traced, own_folder):
    F.softmax(weights(2, 6)).numpy()
    (file,) = own_folder.glob("*.ops")
    file.write_bytes(file.read_bytes().replace(b"[2, 6]", b"[2, 9]"))
    as_in_a_new_process(traced)
    assert F.softmax(weights(2, 6)).shape == [2, 6]
    assert traced


def test_results_that_do_not_fit_into_memory_are_refused_though_they_are_known(monkeypatch, traced):
    F.softmax(weights(2, 6)).numpy()
    as_in_a_new_process(traced)
    monkeypatch.setattr("os.sysconf", lambda name: 1)
    with pytest.raises(MemoryError, match="this machine has"):
        F.softmax(weights(2, 6))
    assert not traced
