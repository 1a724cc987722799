"""PP-YOLOE of PaddleDetection on pictures with annotations of COCO: its reader, losses, evaluation, an export."""

import json
import os

import cv2
import numpy as np
import paddle
import trial
from paddle import nn
from ppdet.data.reader import TrainReader
from ppdet.data.source.coco import COCODataSet
from ppdet.metrics import COCOMetric
from ppdet.modeling import CSPResNet, CustomCSPPAN, YOLOv3
from ppdet.modeling.assigners import ATSSAssigner, TaskAlignedAssigner
from ppdet.modeling.heads.ppyoloe_head import PPYOLOEHead
from ppdet.modeling.layers import MultiClassNMS
from ppdet.optimizer import ModelEMA

rng = np.random.RandomState(0)
images, annotations = [], []
os.makedirs("coco/images")
for i in range(4):
    picture = rng.randint(0, 60, [64, 64, 3]).astype("uint8")
    for kind in (1, 2):
        x, y, size = (int(v) for v in rng.randint(4, 30, 3))
        cv2.rectangle(picture, (x, y), (x + size, y + size), (kind * 100, 250 - kind * 100, 90), -1)
        box = [x, y, size, size]
        annotations.append({"id": len(annotations) + 1, "image_id": i, "category_id": kind, "bbox": box,
                            "area": size * size, "iscrowd": 0})  # fmt: skip
    cv2.imwrite(f"coco/images/{i}.png", picture)
    images.append({"id": i, "file_name": f"{i}.png", "width": 64, "height": 64})
categories = [{"id": 1, "name": "one"}, {"id": 2, "name": "two"}]
with open("coco/boxes.json", "w") as file:
    json.dump({"images": images, "annotations": annotations, "categories": categories}, file)

fields = ["image", "gt_bbox", "gt_class", "is_crowd"]
data = COCODataSet(dataset_dir="coco", image_dir="images", anno_path="boxes.json", data_fields=fields)
data.parse_dataset()
reader = TrainReader(
    sample_transforms=[{"Decode": {}}],
    batch_transforms=[
        {"BatchRandomResize": {"target_size": [64, 64], "keep_ratio": False, "random_size": False}},
        {"NormalizeImage": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25]}},
        {"Permute": {}},
        {"PadGT": {}},
    ],
    batch_size=4, shuffle=False, drop_last=True, collate_batch=True,
)  # fmt: skip
[batch] = reader(data, 0)
batch["epoch_id"], batch["gt_class"] = 1, batch["gt_class"].astype("int64")
layers = {"layers": [1, 1, 1, 1], "channels": [16, 16, 32, 32, 64]}
head = PPYOLOEHead(
    in_channels=[48, 32, 16], num_classes=2, static_assigner_epoch=2, static_assigner=ATSSAssigner(4, num_classes=2),
    assigner=TaskAlignedAssigner(13, 1.0, 6.0), loss_weight={"class": 1.0, "iou": 2.5, "dfl": 0.5},
    nms=MultiClassNMS(nms_top_k=50, keep_top_k=10, score_threshold=0.01, nms_threshold=0.6),
)  # fmt: skip
neck = CustomCSPPAN(act="swish", in_channels=[32, 32, 64], out_channels=[48, 32, 16], stage_num=1, block_num=1)
model = YOLOv3(backbone=CSPResNet(act="swish", **layers), neck=neck, yolo_head=head, post_process=None)
fixed = head.proj_conv.weight.numpy()  # 0, 1, 2, ...: what distances are expected from
trial.start_from(model, gain=1.0)
head.proj_conv.weight.set_value(fixed)
optimizer = paddle.optimizer.Momentum(0.002, 0.9, parameters=model.parameters(), weight_decay=5e-4)
average = ModelEMA(model, 0.9998)


def step():
    model.train()
    losses = model(batch)
    losses["loss"].backward()
    optimizer.step()
    optimizer.clear_grad()
    average.update(model)
    return losses["loss"]


class Boxes(nn.Layer):
    """The network as it is exported: scores and boxes of pictures alone, before the suppression."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, image):
        return self.model.yolo_head(self.model.neck(self.model.backbone({"image": image})))[:2]


def more():
    model.eval()
    with paddle.no_grad():
        found = model(batch)
    metric = COCOMetric(anno_file="coco/boxes.json", clsid2catid={0: 1, 1: 2}, save_prediction_only=False)
    metric.update(batch, found)
    metric.accumulate()
    values = [*found["bbox_num"].numpy(), *trial.numbers(found["bbox"]), *metric.get_results()["bbox"][:3]]
    return values + trial.exported(Boxes(), batch["image"])


trial.report(step, 12, more)
