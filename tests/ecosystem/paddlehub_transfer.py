"""A module of PaddleHub in a local folder: fine-tuned by its trainer on ten pictures, evaluated, used to predict."""

import os

import numpy as np
import paddle
import trial

MODULE = """
import paddle
from paddle import nn
from paddlehub.module.cv_module import ImageClassifierModule
from paddlehub.module.module import moduleinfo
import paddlehub.vision.transforms as T


@moduleinfo(name="small_net", type="CV/classification", version="1.0.0", meta=ImageClassifierModule)
class SmallNet(nn.Layer):
    def __init__(self, label_list=None, load_checkpoint=None):
        super(SmallNet, self).__init__()
        self.labels = label_list
        self.convolutions = nn.Sequential(
            nn.Conv2D(3, 8, 3, 2, 1, bias_attr=False), nn.BatchNorm2D(8), nn.ReLU(),
            nn.Conv2D(8, 16, 3, 2, 1), nn.ReLU(),
        )
        self.last = nn.Linear(16, len(label_list))

    def transforms(self, images):
        return T.Compose([T.Resize((32, 32)), T.Normalize()], to_rgb=True)(images)

    def forward(self, x):
        feature = self.convolutions(x).mean([2, 3])
        return self.last(feature), feature
"""
os.makedirs("small_net")
with open("small_net/module.py", "w") as file:
    file.write(MODULE)
open("small_net/__init__.py", "w").close()

import paddlehub as hub  # noqa: E402

rng = np.random.RandomState(0)
kinds = np.arange(10) % 2
pictures = (rng.randint(0, 100, [10, 40, 40, 3]) + kinds[:, None, None, None] * 100).astype("uint8")
net = hub.Module(directory="small_net", label_list=["dark", "bright"])
trial.start_from(net, gain=1.0)
data = paddle.io.TensorDataset([
    paddle.to_tensor(np.stack([net.transforms(p) for p in pictures])), paddle.to_tensor(kinds.astype("int64"))
])  # fmt: skip
optimizer = paddle.optimizer.Adam(0.002, parameters=net.parameters())
trainer = hub.Trainer(net, optimizer, use_vdl=False, checkpoint_dir="checkpoints")


def step():
    net.train()
    loss, _ = trainer.training_step(data[:], 0)
    optimizer.step()
    optimizer.clear_grad()
    return loss


def more():
    trainer.train(data, epochs=2, batch_size=5, eval_dataset=data, save_interval=1, log_interval=10)
    metrics = trainer.evaluate(data, batch_size=5)
    again = hub.Module(directory="small_net", label_list=["dark", "bright"])
    again.set_state_dict(paddle.load("checkpoints/best_model/model.pdparams"))
    found = again.predict([*pictures], batch_size=4, top_k=2)
    values = [
        metrics["loss"],
        metrics["metrics"]["acc"],
        *[float(p[kind]) for p in found for kind in ("dark", "bright")],
    ]
    return values + trial.exported(net, data[:][0])


trial.report(step, 8, more)
