"""Averages and steps ahead of an optimizer."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_averages_refuse_what_they_cannot_do():
    with pytest.raises(ValueError, match="alpha is 2"):
        paddle.incubate.LookAhead(None, alpha=2)
    with pytest.raises(ValueError, match="parameters is None"):
        paddle.incubate.ModelAverage(0.5)
