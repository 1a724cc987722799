"""A picture that comes near another one by SSIM; MS-SSIM of both."""

import numpy as np
import paddle
import trial
from paddle_msssim import MS_SSIM, SSIM, ssim

rng = np.random.RandomState(0)
ramp = np.linspace(0.2, 0.8, 176, dtype="float32")
there = paddle.to_tensor(np.broadcast_to(ramp[:, None] * ramp, [1, 3, 176, 176]).copy())
noise = rng.rand(1, 3, 176, 176).astype("float32") * 0.2
here = paddle.create_parameter([1, 3, 176, 176], "float32", default_initializer=paddle.nn.initializer.Constant(0.0))
here.set_value(there.numpy() + noise)
optimizer = paddle.optimizer.Adam(0.01, parameters=[here])
similarity = SSIM(data_range=1.0, win_size=7)


def step():
    loss = 1 - similarity(here, there)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


trial.report(step, 5, lambda: [ssim(here, there, data_range=1.0), MS_SSIM(data_range=1.0)(here, there)])
