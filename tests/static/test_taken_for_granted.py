"""Sizes that operators of a static program take for granted: compared with what is fed, and kept in files."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import static


@pytest.fixture
def program():
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main):
        x = static.data("x", [None, 4])
        yield main, x
    paddle.disable_static()


def rows(n):
    return np.arange(n * 4, dtype="float32").reshape(n, 4)


@pytest.mark.parametrize(
    "f", [lambda x: x[1], lambda x: x[1, 2] + x[0, 0], lambda x: x[:2] + paddle.ones([2, 4]), lambda x: x[:2] * x[1]]
)
def test_an_index_leaves_the_size_open_and_is_looked_at(program, f):
    main, x = program
    out, exe = f(x), static.Executor()
    for n in (2, 3, 4):
        paddle.disable_static()
        expected = f(paddle.to_tensor(rows(n))).numpy()
        paddle.enable_static()
        assert np.array_equal(exe.run(main, feed={"x": rows(n)}, fetch_list=[out])[0], expected)
    with pytest.raises(ValueError, match=r"test_taken_for_granted.py:\d+ takes x_0 >= 2 for granted; fed were .* 1"):
        exe.run(main, feed={"x": rows(1)}, fetch_list=[out])


@pytest.mark.parametrize("mode", ["program", "saved"])
def test_the_smaller_of_a_size_and_a_number_is_found_when_it_runs(program, mode, tmp_path):
    main, x = program

    def twice(x):
        return paddle.concat([paddle.diagonal(x), paddle.diagonal(x)])

    out = twice(x)
    if mode == "saved":
        paddle.disable_static()
        paddle.jit.save(twice, str(tmp_path / "m"), [static.InputSpec([None, 4])])
        loaded = paddle.jit.load(str(tmp_path / "m"))
    for n in (5, 3, 1):
        if mode == "saved":
            found = loaded(paddle.to_tensor(rows(n))).numpy()
        else:
            (found,) = static.Executor().run(main, feed={"x": rows(n)}, fetch_list=[out])
        assert found.tolist() == 2 * np.diagonal(rows(n)).tolist()


def test_what_is_taken_for_granted_stands_in_files(program, tmp_path):
    main, x = program
    out, exe, prefix = x[1] * x[3], static.Executor(), str(tmp_path / "m")
    static.save_inference_model(prefix, [x], [out], exe, program=main)
    loaded, _, fetches = static.load_inference_model(prefix, exe)
    again = static.deserialize_program(static.serialize_program([x], [out], program=main))
    whole = static.deserialize_program(main.serialize_to_string())
    assert exe.run(loaded, feed={"x": rows(4)}, fetch_list=fetches)[0].tolist() == [48.0, 65.0, 84.0, 105.0]
    assert again.builder.unknown.constraints == whole.builder.unknown.constraints == ["x_0 >= 4"]
    with pytest.raises(ValueError, match="the program takes x_0 >= 4 for granted"):
        exe.run(loaded, feed={"x": rows(3)}, fetch_list=fetches)
    with pytest.raises(ValueError, match="was saved for x_0 >= 4"):
        paddle.jit.load(prefix)(paddle.ones([3, 4]))


def test_windows_over_windows_are_built_at_once(program):
    main = static.Program()
    with static.program_guard(main, static.Program()):
        y = static.data("x", [None, 1, None, None])
        for _ in range(7):
            y = F.max_pool2d(F.conv2d(y, paddle.ones([1, 1, 3, 3]) / 9), 3, 2)
        total = y.sum()
    (found,) = static.Executor().run(main, feed={"x": np.ones([2, 1, 640, 700], "float32")}, fetch_list=[total])
    assert found == pytest.approx(8.0)
