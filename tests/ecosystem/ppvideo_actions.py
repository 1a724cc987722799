"""Networks of PaddleVideo, from configurations: ST-GCN of skeletons, MS-TCN of sequences; its schedule and metrics.

Its import needs `paddle.fluid`, which PaddlePaddle has no longer (`paddle.base` stands for it), a metric `np.float`.
"""

import sys
from importlib.util import find_spec

import numpy as np
import paddle
import trial

np.float = float
paddle.fluid = paddle.base
sys.modules["paddle.fluid"] = paddle.base
for name in ("framework", "layer_helper", "data_feeder"):
    sys.modules[f"paddle.fluid.{name}"] = getattr(paddle.base, name)
sys.modules["paddle.fluid.dygraph"] = paddle.nn.layer  # for `layers`
sys.path += find_spec("ppvideo").submodule_search_locations  # where its modules import `paddlevideo` from

from paddlevideo.metrics.build import build_metric  # noqa: E402
from paddlevideo.modeling.builder import build_model  # noqa: E402
from paddlevideo.solver import build_lr  # noqa: E402
from paddlevideo.utils.config import AttrDict, create_attr_dict  # noqa: E402

config = AttrDict(
    skeletons={
        "framework": "RecognizerGCN",
        "backbone": {"name": "STGCN", "in_channels": 2, "layout": "fsd10", "strategy": "spatial"},
        "head": {"name": "STGCNHead", "num_classes": 6},
    },
    sequences={
        "framework": "MSTCN",
        "backbone": {"name": "MSTCN", "num_stages": 2, "num_layers": 4, "num_f_maps": 16, "dim": 32, "num_classes": 5},
        "head": {"name": "MSTCNHead", "num_classes": 5, "in_channels": 16},
    },
)
create_attr_dict(config)
skeletons, sequences = build_model(config.skeletons), build_model(config.sequences)
rng = np.random.RandomState(0)
clips = paddle.to_tensor(rng.randn(4, 2, 24, 25, 1).astype("float32")), paddle.to_tensor(rng.randint(0, 6, [4, 1]))
features = (
    paddle.to_tensor(rng.randn(1, 32, 60).astype("float32")),
    paddle.to_tensor(rng.randint(0, 5, [1, 12]).repeat(5, 1)),
)
optimizers, rates = [], []
for i, net in enumerate((skeletons, sequences)):
    trial.start_from(net, i, gain=1.0)
    trial.without_dropout(net)
    rate = {"name": "CustomWarmupCosineDecay", "max_epoch": 4, "warmup_epochs": 1, "warmup_start_lr": 1e-4}
    rates.append(build_lr({**rate, "cosine_base_lr": 1e-3, "num_iters": 2}, 2))
    optimizers.append(paddle.optimizer.Momentum(rates[-1], 0.9, net.parameters(), weight_decay=1e-4))


def step():
    total = 0.0
    for net, batch, optimizer, rate in zip((skeletons, sequences), (clips, features), optimizers, rates, strict=True):
        net.train()
        loss = net(batch, mode="train")["loss"]
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        total += float(loss)
    return total


def more():
    skeletons.eval()
    sequences.eval()
    metric = build_metric({"name": "SkeletonMetric", "data_size": 4, "batch_size": 4, "top_k": 2})
    with paddle.no_grad():
        valid = skeletons(clips, mode="valid")
        metric.update(0, clips, skeletons(clips, mode="test"))
        found = sequences(features, mode="test")
    values = [valid["loss"], valid["top1"], metric.top1[0], metric.top5[0], *trial.numbers(found["output_np"])]
    spec = [paddle.static.InputSpec([1, 32, None])]
    values += trial.exported(sequences.backbone, features[0], spec=spec)
    return values + trial.exported(skeletons.backbone, clips[0])


trial.report(step, 6, more)
