import numpy as np
import paddle
import paddle.static as static

paddle.enable_static()
rng = np.random.RandomState(0)
main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    x = static.data("x", [None, None, 8])
    mask = static.data("mask", [None, 1, 1, None])
    constant = paddle.ParamAttr(initializer=paddle.nn.initializer.Constant(0.1))
    h = paddle.nn.MultiHeadAttention(8, 2, weight_attr=constant)(x, x, x, mask)
    h = paddle.reshape(h, [0, -1, 2, 4]).transpose([0, 2, 1, 3])
    sizes = paddle.shape(h)
    flat = h.reshape([sizes[0], -1])
    pooled = paddle.concat([h.mean(axis=2), h.max(axis=2)], axis=-1)
    wide = paddle.split(pooled, 2, axis=-1)[0].flatten(1)
    places = paddle.arange(0, sizes[2], dtype="int64")
    top, index = paddle.topk(wide, 3)
    hot = paddle.nn.functional.one_hot(index, 8).sum(1)
    y = (wide * hot).sum(-1, keepdim=True) + paddle.cast(sizes[2], "float32").reshape([1, 1])
exe = static.Executor()
exe.run(startup)
for n, steps in ((3, 5), (2, 4)):
    hidden = np.zeros((n, 1, 1, steps), "float32")
    hidden[..., -1] = -1e4
    feed = {"x": rng.randn(n, steps, 8).astype("float32"), "mask": hidden}
    for out in exe.run(main, feed=feed, fetch_list=[flat, pooled, y, places]):
        print(out.shape, f"{out.astype('float64').sum():.3f}")
