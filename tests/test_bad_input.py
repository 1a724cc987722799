"""Wrong arguments: an error that names the argument; see bad_input_cases.py and bad_input_library.py."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

import paddle_lite_py as paddle
from bad_input_cases import CASES
from bad_input_library import CASES as MORE


def names() -> dict[str, object]:
    x = paddle.ones([2, 3])
    small = {
        "x": x,
        "v": paddle.ones([3]),
        "m3": paddle.ones([2, 3, 3]),
        "i": paddle.to_tensor([0, 1]),
        "c": x * 1j,
        "b": x > 0,
    }
    images = {"img": paddle.ones([1, 4, 6, 6]), "e": paddle.zeros([0, 3])}
    return {"paddle": paddle, "np": np, "F": paddle.nn.functional, "nn": paddle.nn, **small, **images}


@pytest.mark.parametrize(("call", "error", "words"), [*CASES, *MORE], ids=[call[:60] for call, *_ in [*CASES, *MORE]])
def test_the_error_says_what_is_wrong(call: str, error: str, words: str):
    with pytest.raises(getattr(builtins, error)) as found:
        eval(call, names())
    assert words in str(found.value)
