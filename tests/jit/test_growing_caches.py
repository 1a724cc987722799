"""Decoding, token after token, with a cache that grows by concat: few compilations in each mode."""

from __future__ import annotations

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, load, save, to_static

import paddle_lite_py as paddle
from helpers.decoders import compilations, decoder
from paddle_lite_py import static
from paddle_lite_py.__main__ import main

PROMPT = np.arange(5).reshape(1, 5)
MORE, MOST = 24, 3
LARGE = {"words": 600, "width": 64, "heads": 4}  # more than NumPy's tier takes
SIZES = pytest.mark.parametrize("sizes", [{}, LARGE], ids=["small", "large"])


@pytest.fixture
def expected():
    def found(sizes):
        with paddle.no_grad():
            return decoder(**sizes).unrolled(paddle.to_tensor(PROMPT), MORE).numpy()

    return found


@SIZES
def test_in_a_saved_loop(sizes, expected, tmp_path):
    net, prefix = decoder(**sizes), str(tmp_path / "net")
    save(to_static(net, input_spec=[InputSpec([1, None], "int64"), InputSpec([1], "int64")]), prefix)
    loaded, count = load(prefix), paddle.to_tensor([MORE])
    with compilations() as first:
        found = loaded(paddle.to_tensor(PROMPT), count)
    with compilations() as again:
        loaded(paddle.to_tensor(PROMPT), count)
    np.testing.assert_array_equal(found.numpy(), expected(sizes))
    assert first[0] <= MOST
    assert again[0] <= 1
    other = loaded(paddle.to_tensor(PROMPT[:, :2]), paddle.to_tensor([3]))
    assert other.shape == [1, 5]


@SIZES
def test_in_a_loop_of_static_mode(sizes, expected):
    want = expected(sizes)
    paddle.enable_static()
    try:
        main, startup = static.Program(), static.Program()
        with static.program_guard(main, startup):
            tokens = static.data("tokens", [1, -1], "int64")
            net = decoder(**sizes)
            scores, keys, values = net.step(tokens)

            def body(n, tokens, scores, keys, values):
                best = scores.argmax(-1)
                return n + 1, paddle.concat([tokens, best], axis=1), *net.step(best, keys, values)

            start = [paddle.zeros([1], "int64"), tokens, scores, keys, values]
            out = static.nn.while_loop(lambda n, *_: n < MORE, body, start)[1]
        executor = static.Executor()
        executor.run(startup)
        with compilations() as first:
            (found,) = executor.run(main, feed={"tokens": PROMPT}, fetch_list=[out])
        with compilations() as again:
            executor.run(main, feed={"tokens": PROMPT}, fetch_list=[out])
    finally:
        paddle.disable_static()
    np.testing.assert_array_equal(found, want)
    assert first[0] <= MOST
    assert again[0] <= 1


def test_a_loop_unrolled_is_not_compiled_as_a_whole(expected):
    net = decoder()
    run = to_static(net.unrolled)
    with paddle.no_grad(), compilations() as first:
        found = run(paddle.to_tensor(PROMPT), MORE)
    np.testing.assert_array_equal(found.numpy(), expected({}))
    assert first[0] <= MOST


@pytest.mark.parametrize("looks", [False, True])
@pytest.mark.parametrize("grad", [False, True])
def test_eagerly(looks, grad):
    """A compilation for each op of a fixed shape at most, none for each length."""
    net = decoder(**LARGE)
    with paddle.set_grad_enabled(grad), compilations() as count:
        tokens = paddle.to_tensor(PROMPT)
        scores, keys, values = net.step(tokens)
        before = []
        for _ in range(MORE):
            best = scores.argmax(-1)
            if looks:
                assert int(best[0, 0]) >= 0
            tokens = paddle.concat([tokens, best], axis=1)
            scores, keys, values = net.step(best, keys, values)
            before.append(count[0])
        tokens.numpy()
    assert before[-1] == before[MORE // 2]


def test_caches_that_begin_alike_are_told_apart_in_a_file(tmp_path):
    def forward(x, count):
        y, n = x * 1, paddle.zeros([1], "int64")
        while n < count:
            x, y = paddle.concat([x, x[:1]]), paddle.concat([y, y[:1], y[:1]])
            n = n + 1
        return x, y

    save(to_static(forward, input_spec=[InputSpec([None, 3]), InputSpec([1], "int64")]), str(tmp_path / "f"))
    loaded = load(str(tmp_path / "f"))
    for count in (0, 2):
        x, y = loaded(paddle.ones([2, 3]), paddle.to_tensor([count]))
        assert (x.shape, y.shape) == ([2 + count, 3], [2 + 2 * count, 3])


def test_branches_that_grow_alike_give_sizes_that_are_equal(tmp_path):
    def forward(x, flag):
        keys, values = x * 1, x * 2
        if flag.sum() > 0:
            keys, values = paddle.concat([keys, x]), paddle.concat([values, x])
        return paddle.matmul(keys, values, transpose_x=True)

    save(to_static(forward, input_spec=[InputSpec([None, 3]), InputSpec([1])]), str(tmp_path / "f"))
    loaded = load(str(tmp_path / "f"))
    for flag in (1.0, 0.0):
        given = paddle.rand([4, 3]), paddle.to_tensor([flag])
        np.testing.assert_allclose(loaded(*given).numpy(), forward(*given).numpy(), rtol=1e-5)


def test_the_parts_are_shown_with_what_their_runs_have_cost(tmp_path, capsys):
    net, prefix = decoder(), str(tmp_path / "net")
    save(to_static(net, input_spec=[InputSpec([1, None], "int64"), InputSpec([1], "int64")]), prefix)
    loaded = load(prefix)
    assert "run by Python" in loaded.text() and " runs" not in loaded.text()
    loaded(paddle.to_tensor(PROMPT), paddle.to_tensor([3]))
    loop = next(line for line in loaded.text().splitlines() if "while at decoders.py" in line)
    assert "(1 runs" in loop
    body = next(line for line in loaded.text().splitlines() if "compiled for each size_" in line)
    assert "3 runs, 3 sizes, 0 compiled" in body
    main(["inspect", prefix])
    assert loop.split(" (")[0] in capsys.readouterr().out


def test_a_profiler_tells_parts_apart():
    paddle.enable_static()
    try:
        program = static.Program()
        with static.program_guard(program):
            x = static.data("x", [4])
            out = (x[x > 0] * 2).sum()
        assert "part 2: " in str(program)
        profiler = paddle.profiler.Profiler()
        profiler.start()
        static.Executor().run(program, feed={"x": np.ones(4, "float32")}, fetch_list=[out])
        profiler.stop()
    finally:
        paddle.disable_static()
    names = {e.get("args", {}).get("op") for e in profiler.profiler_result.events}
    assert {"part 1", "part 2"} <= names
