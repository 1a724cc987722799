"""paddle.onnx.export where the package that it needs is not installed."""

from __future__ import annotations

import sys

import pytest

import paddle_lite_py as paddle


def test_the_package_that_is_needed_is_named(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "jax2onnx", None)
    with pytest.raises(ImportError, match="needs the package jax2onnx: pip install"):
        paddle.onnx.export(paddle.nn.ReLU(), str(tmp_path / "f"), input_spec=[paddle.static.InputSpec([1])])
