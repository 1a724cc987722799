"""Weights to safetensors and back: a file, bytes, several dtypes."""

import tempfile

import numpy as np
import paddle
import trial
from safetensors import safe_open
from safetensors.paddle import load, load_file, save, save_file

net = paddle.nn.Sequential(paddle.nn.Linear(4, 8), paddle.nn.ReLU(), paddle.nn.Linear(8, 1))
trial.start_from(net)
x = paddle.to_tensor(np.random.RandomState(0).rand(6, 4).astype("float32"))
path = tempfile.mkdtemp() + "/net.safetensors"


def step():
    save_file(net.state_dict(), path, metadata={"of": "trial"})
    for p in net.parameters():
        p.set_value(p * 0)
    net.set_state_dict(load_file(path))
    return net(x).sum()


kinds = {k: paddle.ones([2], k) for k in ("float16", "bfloat16", "int64", "bool", "float64")} | {
    "none": paddle.zeros([0, 3])
}
again = load(save(kinds))
same = all(again[k].dtype == t.dtype and again[k].shape == t.shape for k, t in kinds.items())
step()
with safe_open(path, framework="paddle") as file:
    part = file.get_slice("0.weight")[:, 2:4]
    told = file.metadata()["of"] == "trial"
trial.report(step, steps=5, more=lambda: [same, told, part.astype("float32").sum()])
