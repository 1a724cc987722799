"""Open sizes in saved programs are compared with tensors, numbers and what containers hold, as in eager code."""

from __future__ import annotations

import warnings

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.static import InputSpec


def chosen(t, test):
    if test:
        return t * 2
    return t * 3


def asserted(x, t, n):
    assert (t * 0 + n) == n, "the same size"
    assert x.shape[0] == n
    return t


# Each takes a tensor [n, 2], a 0-d tensor of 4 and the size n.
COMPARED = {
    "tensor": lambda x, t, n: [t == n, t != n, t < n, t >= n],
    "size": lambda x, t, n: [n == t, n != t, n < t, n >= t],
    "vector": lambda x, t, n: [paddle.arange(6) == n, n != paddle.arange(6)],
    "elements": lambda x, t, n: [(x == n).sum(), x.sum() == n * 2],
    "number": lambda x, t, n: [chosen(t, int(t) == n), chosen(t, n != t.item())],
    "chain": lambda x, t, n: chosen(t, n == t == 4),
    "and": lambda x, t, n: chosen(t, t == n and n > 3),
    "not": lambda x, t, n: chosen(t, not t == n),
    "size in numbers": lambda x, t, n: chosen(t, n in (1, 4, 5)),
    "size not in numbers": lambda x, t, n: chosen(t, n not in [3, 5]),
    "size in tensors": lambda x, t, n: chosen(t, n in [t, 7]),
    "tensor in sizes": lambda x, t, n: chosen(t, t in [1, n]),
    "number in shape": lambda x, t, n: chosen(t, 4 in x.shape),
    "size in set": lambda x, t, n: chosen(t, n in {4, 5}),
    "max": lambda x, t, n: [t + max(t, n), t + min(n, t, 5)],
    "sorted": lambda x, t, n: [t * sorted([4, n, 1])[1], t + sorted([t, n])[0]],
    "divmod": lambda x, t, n: [t + divmod(n, 2)[0], t + divmod(9, n)[1]],
    "assert": asserted,
}


@pytest.mark.parametrize("name", COMPARED)
def test_a_saved_program_compares_sizes_as_eager_code_does(name, tmp_path):
    def compared(x):
        return COMPARED[name](x, (x * 0).sum().astype("int64") + 4, x.shape[0])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spec = [InputSpec([None, 2])]
        paddle.jit.save(paddle.jit.to_static(compared, full_graph=True), str(tmp_path / "p"), input_spec=spec)
    loaded = paddle.jit.load(str(tmp_path / "p"))
    for n in (3, 4, 5):
        x = paddle.ones([n, 2])
        found, expected = loaded(x), compared(x)
        pairs = zip(found, expected, strict=True) if isinstance(expected, list) else [(found, expected)]
        assert [(a.dtype, a.tolist()) for a, _ in pairs] == [
            (b.dtype, b.tolist()) for b in (expected if isinstance(expected, list) else [expected])
        ]


def test_an_assertion_on_sizes_fails_in_a_loaded_program(tmp_path):
    def checked(x):
        assert (x > 0).sum() == x.shape[0], "rows"
        return x * 2

    paddle.jit.save(paddle.jit.to_static(checked), str(tmp_path / "p"), input_spec=[InputSpec([None, 1])])
    loaded = paddle.jit.load(str(tmp_path / "p"))
    assert loaded(paddle.ones([3, 1])).shape == [3, 1]
    with pytest.raises(AssertionError, match="rows"):
        loaded(paddle.zeros([3, 1]))
