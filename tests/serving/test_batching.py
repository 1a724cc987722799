"""Requests that come together run together; see batching.py."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from paddle_lite_py.serving import TensorSpec
from paddle_lite_py.serving.batching import Batcher, Limits
from paddle_lite_py.serving.host import ModelInfo
from paddle_lite_py.serving.joining import Rows

SPEC = [TensorSpec("x", "FP32", ("n",))]


@pytest.mark.parametrize(("requests", "batches"), [
    ([1], [1]),
    ([1] * 5, [6]),  # filled up to a size that is compiled
    ([1] * 10, [8, 2]),
    ([3, 3, 3], [6, 4]),
    ([20], [8, 8, 4]),
])  # fmt: skip
def test_what_comes_in_one_turn_of_the_loop_is_one_batch_without_a_delay(requests, batches):
    ran = []

    async def double(arrays):
        ran.append(len(arrays["x"]))
        return {"y": arrays["x"] * 2}

    async def ask_at_once():
        info = ModelInfo("python", SPEC, SPEC, Rows((1, 2, 4, 6, 8), ""), 0.0)
        batcher = Batcher(info, double, Limits(batch=8), slots=1)
        given = [np.full(n, i, "float32") for i, n in enumerate(requests)]
        return given, await asyncio.gather(*[batcher.submit({"x": x}) for x in given])

    given, found = asyncio.run(ask_at_once())
    assert ran == batches
    for x, answer in zip(given, found, strict=True):
        np.testing.assert_array_equal(answer["y"], x * 2)
