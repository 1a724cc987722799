"""Test-time augmentation of patta: a classifier is trained, then flipped, turned and multiplied inputs average."""

import numpy as np
import paddle
import patta
import trial
from paddle import nn

rng = np.random.RandomState(0)
x = paddle.to_tensor(rng.randn(8, 3, 24, 24).astype("float32"))
y = paddle.to_tensor(rng.randint(0, 4, [8]))
convolutions = nn.Conv2D(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2D(8, 8, 3, 1, 1), nn.ReLU()
net = nn.Sequential(*convolutions, nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(32, 4), nn.Softmax())
trial.start_from(net, gain=1.4)
optimizer = paddle.optimizer.Adam(0.01, parameters=net.parameters())


def step():
    loss = nn.functional.nll_loss(paddle.log(net(x)), y)
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    return loss


class Masks(nn.Layer):
    """A network whose first result is a mask, as its wrapper of segmentation expects."""

    def __init__(self):
        super().__init__()
        self.last = nn.Conv2D(3, 2, 3, padding=1)

    def forward(self, x):
        return [nn.functional.sigmoid(self.last(x))]


def more():
    net.eval()
    masks = Masks()
    trial.start_from(masks, 1, gain=1.0)
    several = patta.Compose([patta.Multiply([0.9, 1.1]), patta.HorizontalFlip()])
    values = []
    with paddle.no_grad():
        for merge in ("mean", "gmean", "sum"):
            for transforms in (several, patta.aliases.d4_transform(), patta.aliases.flip_transform()):
                values += trial.numbers(patta.ClassificationTTAWrapper(net, transforms, merge_mode=merge)(x))
                values += trial.numbers(patta.SegmentationTTAWrapper(masks, transforms, merge_mode=merge)(x))
        crops = patta.aliases.five_crop_transform(16, 16)
        values += trial.numbers(patta.ClassificationTTAWrapper(net, crops)(x))
    return values + trial.exported(patta.ClassificationTTAWrapper(net, patta.aliases.flip_transform()), x)


trial.report(step, 20, more)
