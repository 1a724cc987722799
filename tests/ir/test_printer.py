"""A program as text."""

from __future__ import annotations

import paddle_lite_py as paddle
from traces import X, traced


def test_a_program_reads_like_the_function():
    w = paddle.to_tensor([3.0, 4.0])
    w.name = "w"
    text = str(traced(lambda x: (x * w).sum(), paddle.to_tensor(X)).program)
    head, product, total, end = text.splitlines()
    assert head == "program(%x0: float32[2], %w: float32[2]) -> (%3) {"
    assert product.startswith("  %2: float32[2] = multiply(%x0, %w)") and "test_printer.py:" in product
    assert total.startswith("  %3: float32[] = sum(%2) {axis=None")
    assert end == "}"
