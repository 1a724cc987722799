"""Tensors of dynamic mode that programs change: eager code goes on with them."""

import numpy as np

import paddle_lite_py as paddle
from paddle_lite_py import nn, static


def test_eager_code_and_runs_change_the_same_statistics():
    net, array = nn.BatchNorm1D(2, momentum=0.5), np.array([[0.0, 2.0], [2.0, 6.0]], "float32")
    paddle.enable_static()
    main = static.Program()
    with static.program_guard(main, static.Program()):
        y = net(static.data("x", [None, 2]))
    paddle.disable_static()
    assert net._mean[:1].tolist() == [0.0] and (net._mean + 1).tolist() == [1.0, 1.0]
    exe = static.Executor()
    exe.run(main, {"x": array}, [y])
    assert net._mean.tolist() == [0.5, 2.0]
    net(paddle.to_tensor(array))
    assert net._mean.tolist() == [0.75, 3.0]
    exe.run(main, {"x": array}, [y])
    assert net._mean.tolist() == [0.875, 3.5] == (net._mean * 1.0).tolist()
    net._mean.set_value(np.zeros(2, "float32"))
    exe.run(main, {"x": array}, [y])
    assert net._mean.tolist() == [0.5, 2.0]
    paddle.enable_static()
    with static.program_guard(main, static.Program()):
        more = y * 2
        assert exe.run(main, {"x": array}, [more])[0].shape == (2, 2)
    paddle.disable_static()
    assert net._mean.tolist() == [0.75, 3.0]
