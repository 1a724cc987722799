"""Requests that come together run together; see batching.py."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from paddle_lite_py.serving import ServingError, TensorSpec, batching
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


@pytest.mark.parametrize(("again", "batches"), [(0, [1, 4]), (float("inf"), [1, 3, 1])])
def test_who_asks_again_joins_those_who_waited_for_a_long_batch(again, batches, monkeypatch):
    monkeypatch.setattr(batching, "AGAIN", again)
    ran = []

    async def ask():
        first, go = asyncio.Event(), asyncio.Event()

        async def run(arrays):
            ran.append(len(arrays["x"]))
            if len(ran) == 1:
                first.set()
                await go.wait()
            return {"y": arrays["x"]}

        info = ModelInfo("python", SPEC, SPEC, Rows((1, 2, 3, 4, 6, 8), ""), 0.0)
        batcher = Batcher(info, run, Limits(batch=8, delay=0.2), slots=1)

        async def client(times):
            for _ in range(times):
                await batcher.submit({"x": np.zeros(1, "float32")})

        one = asyncio.ensure_future(client(2))
        await first.wait()
        others = [asyncio.ensure_future(client(1)) for _ in range(3)]
        await asyncio.sleep(0.3)  # longer than the delay, in which they would be joined anyway
        go.set()
        await asyncio.gather(one, *others)

    asyncio.run(ask())
    assert ran == batches


def test_a_batch_that_is_late_is_not_tried_row_by_row():
    ran = []

    async def late(arrays):
        ran.append(len(arrays["x"]))
        raise ServingError("late", "it took too long")

    async def ask():
        info = ModelInfo("python", SPEC, SPEC, Rows((1, 2, 4, 6, 8), ""), 0.0)
        batcher = Batcher(info, late, Limits(batch=8), slots=1)
        asked = [batcher.submit({"x": np.zeros(1, "float32")}) for _ in range(4)]
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [e.kind for e in asyncio.run(ask())] == ["late"] * 4
    assert ran == [4]
