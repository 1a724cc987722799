"""A one-stage detector (Lin et al., 2017): anchors, matching, focal loss, decoding, suppression, pooled regions."""

import numpy as np
import paddle
import paddle.nn as nn
import paddle.nn.functional as F
from paddle.vision.ops import nms, roi_align

rng = np.random.RandomState(9)
image = paddle.to_tensor(rng.rand(2, 3, 32, 32).astype("float32"))
truth = [np.array([[2, 3, 14, 16], [16, 10, 30, 28]], "float32"), np.array([[5, 8, 20, 24]], "float32")]
kinds = [np.array([0, 1]), np.array([1])]


def anchors(size, stride, scales=(8.0, 14.0)):
    ys, xs = paddle.meshgrid(paddle.arange(size, dtype="float32"), paddle.arange(size, dtype="float32"))
    centers = (paddle.stack([xs, ys, xs, ys], axis=-1) + 0.5) * stride
    shapes = paddle.to_tensor([[-s / 2, -s / 2, s / 2, s / 2] for s in scales])
    return (centers.unsqueeze(2) + shapes.reshape([1, 1, -1, 4])).reshape([-1, 4])


def iou(a, b):
    low = paddle.maximum(a[:, None, :2], b[None, :, :2])
    high = paddle.minimum(a[:, None, 2:], b[None, :, 2:])
    inter = paddle.prod((high - low).clip(min=0), axis=-1)
    area = lambda x: (x[:, 2] - x[:, 0]) * (x[:, 3] - x[:, 1])
    return inter / (area(a)[:, None] + area(b)[None] - inter + 1e-9)


def encode(box, anchor):
    size, center = anchor[:, 2:] - anchor[:, :2], (anchor[:, 2:] + anchor[:, :2]) / 2
    return paddle.concat(
        [((box[:, 2:] + box[:, :2]) / 2 - center) / size, paddle.log((box[:, 2:] - box[:, :2]) / size)], 1
    )


def decode(delta, anchor):
    size, center = anchor[:, 2:] - anchor[:, :2], (anchor[:, 2:] + anchor[:, :2]) / 2
    c, s = delta[:, :2] * size + center, paddle.exp(delta[:, 2:].clip(max=2.0)) * size
    return paddle.concat([c - s / 2, c + s / 2], axis=1).clip(0, 32)


class Detector(nn.Layer):
    def __init__(self, classes=2, per=2):
        super().__init__()
        self.classes = classes
        self.stem = nn.Sequential(nn.Conv2D(3, 8, 3, 2, 1), nn.Hardswish(), nn.Conv2D(8, 8, 3, 2, 1), nn.ReLU6())
        self.deep = nn.Conv2D(8, 8, 3, 2, 1)
        self.side = nn.Conv2D(8, 8, 1)
        self.kind, self.box = nn.Conv2D(8, per * classes, 3, 1, 1), nn.Conv2D(8, per * 4, 3, 1, 1)

    def forward(self, x):
        a = self.stem(x)
        b = F.relu(self.deep(a))
        a = self.side(a) + F.interpolate(b, size=a.shape[2:], mode="bilinear", align_corners=False)
        out = []
        for level in (a, b):
            k = self.kind(level).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, self.classes])
            d = self.box(level).transpose([0, 2, 3, 1]).reshape([x.shape[0], -1, 4])
            out.append((k, d))
        return [paddle.concat(p, axis=1) for p in zip(*out)] + [a]


net = Detector()
for i, p in enumerate(net.parameters()):
    p.set_value((np.sin(np.arange(p.size) * 1.7 + i) * 0.2).reshape(p.shape).astype("float32"))
places = paddle.concat([anchors(8, 4), anchors(4, 8)])
opt = paddle.optimizer.AdamW(
    5e-3,
    parameters=[
        {"params": net.stem.parameters(), "learning_rate": 0.1},
        {"params": [p for l in (net.deep, net.side, net.kind, net.box) for p in l.parameters()]},
    ],
    weight_decay=0.01,
)
for step in range(12):
    scores, deltas, _ = net(image)
    loss = paddle.zeros([])
    for b in range(2):
        overlap = iou(places, paddle.to_tensor(truth[b]))
        best, which = overlap.max(axis=1), overlap.argmax(axis=1)
        positive = best > 0.35
        goal = paddle.zeros_like(scores[b])
        index = paddle.nonzero(positive).squeeze(-1)
        kind = paddle.to_tensor(kinds[b])[which[index]]
        goal[index, kind] = 1.0
        count = positive.astype("float32").sum().clip(min=1.0)
        loss += F.sigmoid_focal_loss(scores[b], goal, normalizer=count, alpha=0.25, gamma=2.0)
        matched = paddle.to_tensor(truth[b])[which[index]]
        loss += F.smooth_l1_loss(deltas[b][index], encode(matched, places[index]), reduction="sum") / count
    loss.backward()
    opt.step()
    opt.clear_grad()
    if step % 4 == 0:
        print(step, f"{loss.item():.4f}")
net.eval()
with paddle.no_grad():
    scores, deltas, features = net(image)
    boxes = decode(deltas[0], places)
    confidence, kind = F.sigmoid(scores[0]).max(axis=1), scores[0].argmax(axis=1)
    kept = nms(boxes, 0.5, confidence, category_idxs=kind, categories=[0, 1], top_k=5)
    print(kept.numpy().tolist(), np.round(confidence[kept].numpy(), 3).tolist())
    print(np.round(boxes[kept].numpy(), 2).tolist())
    pooled = roi_align(
        features, boxes[kept], paddle.to_tensor([len(kept), 0], dtype="int32"), output_size=2, spatial_scale=0.25
    )
    print(list(pooled.shape), f"{pooled.sum().item():.3f}")
