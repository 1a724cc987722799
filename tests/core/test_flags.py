"""Flags of the framework."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_flags_are_kept():
    with pytest.warns(UserWarning, match="FLAGS_cudnn_deterministic=True has no effect"):
        paddle.set_flags({"FLAGS_cudnn_deterministic": True})
    assert paddle.get_flags(["FLAGS_cudnn_deterministic"]) == {"FLAGS_cudnn_deterministic": True}
    with pytest.raises(TypeError, match="'deterministic' is no name of a flag"):
        paddle.set_flags({"deterministic": True})
    with pytest.raises(ValueError, match="FLAGS_nothing was not set"):
        paddle.get_flags("FLAGS_nothing")
