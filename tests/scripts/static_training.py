import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
import paddle.static as static

paddle.enable_static()
rng = np.random.RandomState(0)


def drawn(*shape):
    return paddle.ParamAttr(initializer=nn.initializer.Assign((rng.randn(*shape) * 0.3).astype("float32")))


main, startup = static.Program(), static.Program()
with static.program_guard(main, startup):
    image, label = static.data("image", [None, 3, 16, 16]), static.data("label", [None], "int64")
    h = F.relu(nn.BatchNorm2D(8)(nn.Conv2D(3, 8, 3, padding=1, weight_attr=drawn(8, 3, 3, 3))(image)))
    h = F.relu(nn.BatchNorm2D(8)(nn.Conv2D(8, 8, 3, padding=1, weight_attr=drawn(8, 8, 3, 3))(h)) + h)
    h = F.avg_pool2d(F.interpolate(F.adaptive_avg_pool2d(h, 4), scale_factor=2), 2)
    h = F.gelu(nn.Linear(128, 10, weight_attr=drawn(128, 10))(paddle.flatten(h, 1)))
    loss = F.cross_entropy(h, label)
    rate = paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.CosineAnnealingDecay(0.05, 10), 3, 0.0, 0.05)
    clip, decay = nn.ClipGradByGlobalNorm(0.5), paddle.regularizer.L2Decay(1e-4)
    opt = paddle.optimizer.Momentum(rate, 0.9, use_nesterov=True, weight_decay=decay, grad_clip=clip)
    opt.minimize(loss)

exe = static.Executor(paddle.CPUPlace())
exe.run(startup)


def step():
    feed = {"image": rng.randn(4, 3, 16, 16).astype("float32"), "label": rng.randint(0, 10, 4)}
    (value,) = exe.run(main, feed=feed, fetch_list=[loss])
    return f"{float(value):.3f}"


for _ in range(5):
    print(step())
    rate.step()
static.save(main, "checkpoint")
state = rng.get_state()
print("then", step(), step())
exe.run(startup)
static.load(main, "checkpoint", exe)
rng.set_state(state)
print("again", step(), step())
print(sorted(p.name for p in main.global_block().all_parameters() if "." in p.name))
