"""A picture that comes near another one by LPIPS, a distance between features of a network, with given weights."""

import numpy as np
import paddle
import paddle_lpips
import trial

distance = paddle_lpips.LPIPS(pretrained=False, net="squeeze", pnet_rand=True, verbose=False)
trial.start_from(distance, gain=1.4)
for layer in distance.lins:  # the weights of differences are not negative
    for weight in layer.parameters():
        weight.set_value(weight.abs())
rng = np.random.RandomState(0)
there = paddle.to_tensor(rng.rand(1, 3, 48, 48).astype("float32"))
start = paddle.nn.initializer.Assign(rng.rand(1, 3, 48, 48).astype("float32"))
here = paddle.create_parameter([1, 3, 48, 48], "float32", default_initializer=start)
optimizer = paddle.optimizer.Adam(0.01, parameters=[here])


def step():
    loss = distance(here, there, normalize=True).mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


def more():
    apart = paddle_lpips.LPIPS(pretrained=False, net="squeeze", pnet_rand=True, spatial=True, verbose=False)
    apart.set_state_dict(distance.state_dict())
    return [*trial.numbers(apart(here, there)), *trial.exported(distance, here, there)]


trial.report(step, 20, more)
