"""PP-LiteSeg of PaddleSeg: pictures in files, its transforms, losses, training step and inference.

Its CrossEntropyLoss (float32 times int64) and `core.evaluate` (a concat of numbers) fail on PaddlePaddle 3.3.1."""

import cv2
import numpy as np
import paddle
import paddleseg.transforms as T
import trial
from paddleseg.core.infer import aug_inference, inference
from paddleseg.core.train import loss_computation
from paddleseg.datasets import Dataset
from paddleseg.models import PPLiteSeg
from paddleseg.models.backbones import STDC1
from paddleseg.models.losses import BCELoss, DiceLoss, LovaszSoftmaxLoss, MixedLoss, OhemCrossEntropyLoss
from paddleseg.utils import metrics

rng = np.random.RandomState(0)
with open("list.txt", "w") as lines:
    for i in range(4):
        label = np.zeros([64, 64], "uint8")
        x, y = (int(v) for v in rng.randint(10, 50, 2))
        cv2.rectangle(label, (x - 8, y - 8), (x + 8, y + 8), 1, -1)
        cv2.circle(label, (60 - x, 60 - y), 8, 2, -1)
        picture = label[..., None] * 90 + rng.randint(0, 70, [64, 64, 3])
        cv2.imwrite(f"{i}.png", picture.astype("uint8"))
        cv2.imwrite(f"{i}_label.png", label)
        lines.write(f"{i}.png {i}_label.png\n")

data = Dataset("train", ".", [T.Resize((64, 64)), T.Normalize()], 3, train_path="list.txt")
test = Dataset("val", ".", [T.Normalize()], 3, val_path="list.txt")
batches = paddle.io.DataLoader(data, batch_size=4)
model = PPLiteSeg(3, STDC1(), arm_out_chs=[16, 24, 32], seg_head_inter_chs=[16, 16, 16], cm_out_ch=32)
trial.start_from(model, gain=1.0)
entropy = OhemCrossEntropyLoss(min_kept=20000)
losses = {
    "types": [entropy, MixedLoss([BCELoss(), LovaszSoftmaxLoss()], [0.8, 0.2]), DiceLoss()],
    "coef": [1, 0.5, 0.2],
}
rate = paddle.optimizer.lr.PolynomialDecay(0.001, 20, power=0.9)
optimizer = paddle.optimizer.Momentum(rate, 0.9, parameters=model.parameters(), weight_decay=4e-5)


def step():
    model.train()
    [batch] = batches
    loss = sum(loss_computation(model(batch["img"]), batch["label"].astype("int64"), None, losses))
    loss.backward()
    optimizer.step()
    rate.step()
    model.clear_gradients()
    return loss


def more():
    model.eval()
    pictures = paddle.to_tensor(np.stack([test[i]["img"] for i in range(4)]))
    labels = np.concatenate([test[i]["label"] for i in range(4)])
    with paddle.no_grad():
        found, logits = inference(model, pictures, trans_info=[("resize", [64, 64])])
        _, flipped = aug_inference(model, pictures, [("resize", [64, 64])], scales=[0.5, 1.0], flip_horizontal=True)
    found, labels = found.numpy().reshape(4, 64, 64), labels.reshape(4, 64, 64)
    masks = [np.where(found == labels, found, 3), found, labels]
    areas = [paddle.to_tensor([int(np.sum(mask == kind)) for kind in range(3)]) for mask in masks]
    _, iou = metrics.mean_iou(*areas)
    return [iou, metrics.kappa(*areas), *trial.numbers([logits, flipped]), *trial.exported(model, pictures)]


trial.report(step, 6, more)
