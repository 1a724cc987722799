"""Text that shows tensors, where Python itself needs it: that of the call under way."""

from __future__ import annotations

import warnings

import pytest
from paddle_lite_py.jit import DataDependentWarning, to_static
from paddle_lite_py.jit.errors import StagingError

import paddle_lite_py as paddle


def compared(x):
    shown = f"{bool(x.sum() > 0)}"
    return [
        shown == "True",
        shown != "True",
        shown < "U",
        "True" in shown,
        len(shown),
        shown[0],
        shown * 2,
        list(shown),
    ]


def as_a_key(x):
    n = int((x > 0).sum())
    found = {f"a{n}": 1}
    found[f"b{n}"] = 2
    return found, {f"c{n}"}, f"a{n}" in found


def asked(x):
    n = int((x > 0).sum())
    shown = f"{x.shape[0]}:{n}"
    kinds = [isinstance(shown, str), type(shown).__name__, isinstance(n, str)]
    return [*kinds, shown.endswith("3"), shown.split(":")[1], str(n).zfill(3), int(str(n)), ",".join([str(n), "a"])]


@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("fn", [compared, as_a_key, asked])
def test_it_is_what_it_is_in_eager_code(fn, full_graph):
    static = to_static(fn, full_graph=full_graph)
    for sign in (1.0, -1.0, 1.0):
        x = paddle.full([3], sign)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DataDependentWarning)
            assert static(x) == fn(x)


def test_text_of_floats_has_no_program():
    def f(x):
        return f"{float(x.sum())}" == "3.0"

    with pytest.raises(StagingError, match=r"str.__eq__\(\) needs the text `<float64\[\] tensor>`"):
        to_static(f, full_graph=True)(paddle.ones([3]))
    with pytest.warns(UserWarning, match="cannot be staged as a whole"):
        assert to_static(f)(paddle.ones([3])) is True
