import numpy as np
import paddle
import paddle.static as static

paddle.enable_static()
main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    x = static.data("x", [2], "float32")
    index = static.data("index", [1], "int32")
    a = static.nn.cond(x.sum() > 0, lambda: x * 2, lambda: x - 1)
    b, c = static.nn.cond(x.sum() > 0, lambda: (x, x + 1), lambda: (x + 2, x))
    n = paddle.full([1], 10, "int64")
    i, total = static.nn.while_loop(
        lambda i, s: i < n, lambda i, s: [i + 1, s + x], [paddle.full([1], 0, "int64"), paddle.zeros([2])]
    )
    chosen = static.nn.switch_case(index, {1: lambda: x * 10, 2: lambda: x * 20}, default=lambda: x * 0)
    first = static.nn.case([(x.max() < 0, lambda: x * 3), (x.max() < 1, lambda: x * 4)], default=lambda: x * 5)
exe = static.Executor()
exe.run(startup)
for values, k in (([1.0, 2.0], 1), ([-1.0, -2.0], 2), ([0.5, 0.1], 7)):
    feed = {"x": np.array(values, "float32"), "index": np.array([k], "int32")}
    for out in exe.run(main, feed=feed, fetch_list=[a, b, c, i, total, chosen, first]):
        print([f"{v:.3f}" for v in out])
