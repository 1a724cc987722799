"""The table of the ops for networks: rows as in ops_table.py, whose oracle is a list of figures.

The figures are the results of PaddlePaddle 3.3.1 for the same samples; golden/nn_ops_figures.py writes them.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from ops_table import Row, Sampler, between, distinct, fixed, ints, normal

FIGURES = Path(__file__).parents[1] / "golden" / "nn_ops_figures.json"
ROWS: list[Row] = []


def key(name: str, attrs: dict[str, Any], at: int) -> str:
    """Under which the figures of a row are kept."""
    return f"{at} {name}({', '.join(f'{k}={v!r}' for k, v in attrs.items())})"


@functools.cache
def figures() -> dict[str, list[dict[str, Any]]]:
    """All figures: for each row its results, each with dtype, shape and flat values."""
    return json.loads(FIGURES.read_text())


def recorded(name: str, attrs: dict[str, Any], at: int) -> Any:
    """An oracle that knows one answer."""

    def oracle(*_: Any) -> tuple[np.ndarray, ...]:
        outs = figures()[key(name, attrs, at)]
        return tuple(np.array(o["values"], o["dtype"]).reshape(o["shape"]) for o in outs)

    return oracle


def row(name: str, *inputs: Any, grad: bool = True, tol: float = 2e-5, oracle: Any = None, **attrs: Any) -> None:
    """Add a row; `name` may be "family.op". `names` are keywords of the inputs, `out` the dtypes of the results."""
    own = {k: attrs.pop(k) for k in ("names", "out") if k in attrs}
    at = sum(r.name == name for r in ROWS)
    ROWS.append(Row(name, inputs, oracle or recorded(name, attrs, at), attrs, grad=grad, tol=tol, **own))


def rows(name: str, *inputs: Any, options: list[dict[str, Any]], **common: Any) -> None:
    """A row for each set of options."""
    for attrs in options:
        row(name, *inputs, **common, **attrs)


def apart(*shape: int) -> Sampler:
    """Distinct numbers around 0, none of them near a kink at a multiple of 1/2."""
    sample = distinct(*shape)
    return lambda rng, dtype: (sample(rng, dtype) * 0.8 + 0.13).astype(dtype)


# -- activations --
X = apart(2, 4)
for _name in (
    "relu",
    "relu6",
    "silu",
    "swish",
    "mish",
    "hardswish",
    "softsign",
    "tanhshrink",
    "log_sigmoid",
    "logsigmoid",
):
    row(f"activation.{_name}", X)
rows("leaky_relu", X, options=[{}, {"negative_slope": 0.3}])
rows("elu", X, options=[{}, {"alpha": 0.4}])
rows("celu", X, options=[{}, {"alpha": 0.4}])
rows("selu", X, options=[{}, {"scale": 1.2, "alpha": 0.5}])
rows("gelu", X, options=[{}, {"approximate": True}])
rows("hardsigmoid", X, options=[{}, {"slope": 0.2, "offset": 0.4}])
rows("hardtanh", X, options=[{}, {"min": -0.4, "max": 1.7}])
rows("softplus", X, options=[{}, {"beta": 2.0, "threshold": 1.5}])
rows("hardshrink", X, options=[{}, {"threshold": 1.0}])
rows("softshrink", X, options=[{}, {"threshold": 1.0}])
rows("thresholded_relu", X, options=[{}, {"threshold": 0.2, "value": -1.5}])
rows("rrelu", X, options=[{"training": False}, {"lower": 0.1, "upper": 0.2, "training": False}])
row("prelu", X, normal(1))
row("prelu", apart(2, 3, 2, 2), normal(3))
row("prelu", apart(2, 2, 2, 3), normal(3), data_format="NHWC")
rows("softmax.softmax", X, options=[{}, {"axis": 0}])
row("softmax.softmax", X, dtype="float64", out="float64")
rows("log_softmax", X, options=[{}, {"axis": 0}])
rows("glu", X, options=[{}, {"axis": 0}])
row("swiglu", X)
row("swiglu", X, normal(2, 4))
row("maxout", apart(2, 4, 2, 2), groups=2)
row("maxout", apart(2, 2, 2, 4), groups=2, axis=-1)

# -- linear maps, ids --
row("linear", normal(2, 3, 4), normal(4, 5))
row("linear", normal(3, 4), normal(4, 5), normal(5))
row("bilinear", normal(2, 3), normal(2, 4), normal(5, 3, 4))
row("bilinear", normal(2, 3), normal(2, 4), normal(5, 3, 4), normal(1, 5))
rows("common.embedding", ints(0, 4, 2, 3), normal(4, 3), options=[{}, {"padding_idx": 1}, {"padding_idx": -1}])
rows("sequence_mask", ints(1, 4, 3), grad=False, options=[{"maxlen": 5}, {"maxlen": 3, "dtype": "float32"}, {}])
row("gather_tree", ints(0, 9, 3, 2, 2), ints(0, 2, 3, 2, 2), grad=False)

# -- convolutions --
I1, I2, I3 = normal(2, 4, 7), normal(2, 4, 6, 5), normal(1, 2, 4, 3, 5)
rows("conv1d", I1, normal(6, 4, 3), normal(6), tol=5e-5, options=[
    *({}, {"stride": 2}, {"padding": 1}, {"padding": [2, 1]}, {"padding": "SAME", "stride": 2}, {"padding": "VALID"}),
    *({"dilation": 2}, {"padding": [[0, 0], [0, 0], [1, 2]]}),
])  # fmt: skip
row("conv1d", normal(2, 7, 4), normal(6, 2, 3), normal(6), groups=2, data_format="NLC", tol=5e-5)
rows("conv2d", I2, normal(6, 4, 3, 2), normal(6), tol=5e-5, options=[
    *({}, {"stride": [2, 1]}, {"padding": 1}, {"padding": [2, 1]}, {"padding": [1, 0, 2, 1]}, {"dilation": [2, 1]}),
    *({"padding": "SAME", "stride": 2}, {"padding": "same", "dilation": 2}, {"padding": "VALID"}),
    *({"padding": [[0, 0], [0, 0], [1, 2], [0, 0]]}, {"padding": [[0, 0], [0, 0], [0, 0], [2, 1]]}),
])  # fmt: skip
row("conv2d", I2, normal(6, 2, 2, 2), groups=2, tol=5e-5)
row("conv2d", I2, normal(8, 1, 3, 3), normal(8), groups=4, padding=1, tol=5e-5)
rows("conv2d", normal(2, 6, 5, 4), normal(6, 4, 3, 2), normal(6), data_format="NHWC", tol=5e-5, options=[
    *({}, {"padding": [[0, 0], [1, 2], [0, 1], [0, 0]]}, {"stride": 2, "padding": "SAME"}),
])  # fmt: skip
rows("conv3d", I3, normal(4, 2, 2, 3, 2), normal(4), tol=5e-5, options=[
    *({}, {"stride": 2, "padding": 1}, {"padding": [0, 1, 1, 1, 2, 0]}, {"dilation": [1, 1, 2]}, {"padding": "SAME"}),
])  # fmt: skip
row("conv3d", normal(1, 4, 3, 5, 2), normal(4, 1, 2, 3, 2), groups=2, data_format="NDHWC", tol=5e-5)
rows("conv1d_transpose", I1, normal(4, 3, 3), normal(3), tol=5e-5, options=[
    *({}, {"stride": 2}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2}, {"padding": [2, 1]}),
    *({"stride": 2, "output_size": 16}, {"padding": "SAME"}, {"padding": "VALID"}),
])  # fmt: skip
row("conv1d_transpose", normal(2, 7, 4), normal(4, 3, 3), normal(6), groups=2, data_format="NLC", tol=5e-5)
rows("conv2d_transpose", I2, normal(4, 3, 3, 2), normal(3), tol=5e-5, options=[
    *({}, {"stride": [2, 3]}, {"stride": 2, "padding": 1, "output_padding": 1}, {"dilation": 2, "padding": [1, 0]}),
    *({"stride": 2, "output_size": [14, 10]}, {"padding": "SAME", "stride": 2}, {"padding": "VALID", "stride": 2}),
    *({"padding": [1, 0, 0, 1]}, {"padding": 3}),
])  # fmt: skip
row("conv2d_transpose", I2, normal(4, 3, 3, 3), normal(6), groups=2, stride=2, tol=5e-5)
row("conv2d_transpose", normal(2, 6, 5, 4), normal(4, 3, 3, 3), normal(3), data_format="NHWC", stride=2, tol=5e-5)
rows("conv3d_transpose", I3, normal(2, 3, 2, 3, 2), normal(3), tol=5e-5, options=[
    *({}, {"stride": 2, "padding": 1}, {"stride": 2, "output_padding": 1}, {"dilation": [1, 2, 1]}),
])  # fmt: skip

# -- pools --
P1, P2, P3 = distinct(2, 3, 9), distinct(2, 3, 7, 6), distinct(1, 2, 5, 4, 6)
WINDOWS = [
    *({"kernel_size": 2}, {"kernel_size": 3, "stride": 2}, {"kernel_size": 3, "stride": 2, "padding": 1}),
    *(
        {"kernel_size": 3, "stride": 2, "ceil_mode": True},
        {"kernel_size": 3, "stride": 2, "padding": 1, "ceil_mode": True},
    ),
]
rows(
    "max_pool1d", P1, options=[*WINDOWS, {"kernel_size": 3, "padding": "SAME"}, {"kernel_size": 2, "return_mask": True}]
)
rows("max_pool2d", P2, options=[
    *WINDOWS,
    *({**w, "return_mask": True} for w in WINDOWS),
    *({"kernel_size": [3, 2], "stride": [1, 2], "padding": [1, 0]}, {"kernel_size": 2, "stride": 2, "padding": "SAME"}),
    *({"kernel_size": 3, "stride": 2, "padding": "VALID"}, {"kernel_size": 3, "stride": 2, "padding": [1, 0, 0, 1]}),
    *({"kernel_size": 2, "padding": [[0, 0], [0, 0], [1, 0], [0, 1]]}, {"kernel_size": 3, "stride": 3},),
    {"kernel_size": 3, "stride": 3, "data_format": "NHWC"},
])  # fmt: skip
# The last window lies in the padding altogether.
row("max_pool2d", P2, grad=False, kernel_size=2, stride=2, padding=1, ceil_mode=True)
rows("max_pool3d", P3, options=[*WINDOWS[:4], {"kernel_size": 2, "return_mask": True}])
rows("avg_pool1d", P1, options=[*WINDOWS, {"kernel_size": 3, "stride": 2, "padding": 1, "exclusive": False}])
rows("avg_pool2d", P2, options=[
    *WINDOWS,
    *({**w, "exclusive": False} for w in WINDOWS),
    *({"kernel_size": 3, "padding": 1, "divisor_override": 4}, {"kernel_size": 2, "padding": "SAME"}),
    *({"kernel_size": 3, "stride": 2, "padding": 1, "data_format": "NHWC"}, {"kernel_size": 2, "padding": 1},),
    {"kernel_size": 2, "padding": [1, 0, 0, 1]},
])  # fmt: skip
rows("avg_pool3d", P3, options=[*WINDOWS, {"kernel_size": 2, "stride": 2, "padding": 1, "exclusive": False}])
rows(
    "lp_pool1d",
    between(0.5, 2, 2, 3, 9),
    options=[{"norm_type": 2, "kernel_size": 3}, {"norm_type": 3, "kernel_size": 2}],
)
rows(
    "lp_pool2d", P2, options=[{"norm_type": 2, "kernel_size": 3, "stride": 2}, {"norm_type": 4, "kernel_size": [2, 3]}]
)
rows("adaptive_avg_pool1d", P1, options=[{"output_size": n} for n in (1, 3, 4, 9, 11)])
rows("adaptive_avg_pool2d", P2, options=[{"output_size": n} for n in (1, [7, 2], [3, 4], [None, 3])])
rows("adaptive_avg_pool3d", P3, options=[{"output_size": n} for n in (1, [2, 3, 5])])
row("adaptive_avg_pool2d", P2, output_size=[3, 4], data_format="NHWC")
rows("adaptive_max_pool1d", P1, options=[{"output_size": 4}, {"output_size": 3, "return_mask": True}])
rows(
    "adaptive_max_pool2d",
    P2,
    options=[{"output_size": 1}, {"output_size": [3, 4]}, {"output_size": [3, 4], "return_mask": True}],
)
rows("adaptive_max_pool3d", P3, options=[{"output_size": [2, 3, 5]}, {"output_size": 2, "return_mask": True}])


def places(*shape: int, area: int) -> Sampler:
    """Distinct flat indices for each channel."""

    def sample(rng: np.random.Generator, dtype: str) -> np.ndarray:
        n = int(np.prod(shape[2:]))
        drawn = [rng.permutation(area)[:n] for _ in range(shape[0] * shape[1])]
        return np.array(drawn, "int32").reshape(shape)

    return sample


row("max_unpool1d", normal(2, 3, 4), places(2, 3, 4, area=8), kernel_size=2)
row("max_unpool2d", normal(2, 3, 2, 3), places(2, 3, 2, 3, area=24), kernel_size=2)
row("max_unpool2d", normal(2, 3, 2, 3), places(2, 3, 2, 3, area=35), kernel_size=2, output_size=[5, 7])
row("max_unpool3d", normal(1, 2, 1, 2, 2), places(1, 2, 1, 2, 2, area=32), kernel_size=2)

# -- norms --
WB = (normal(4), normal(4))
for _shape in ((3, 4), (2, 4, 3), (2, 4, 3, 2), (2, 4, 2, 3, 2)):
    row("batch_norm", normal(*_shape), normal(4), between(0.5, 2, 4), *WB)
    if len(_shape) > 2:
        row("instance_norm", normal(*_shape), *WB, names=("x", "weight", "bias"), tol=1e-4)
    row("group_norm", normal(*_shape), num_groups=2, tol=1e-4)
row("batch_norm", normal(2, 3, 2, 4), normal(4), between(0.5, 2, 4), *WB, data_format="NHWC")
row("batch_norm", normal(3, 4), normal(4), between(0.5, 2, 4), *WB, epsilon=0.1)
row("group_norm", normal(2, 3, 2, 4), num_groups=2, data_format="NHWC", tol=1e-4)
row("group_norm", normal(2, 4, 3), *WB, names=("x", "weight", "bias"), num_groups=2, tol=1e-4)
row("layer_norm", normal(2, 3, 4), *WB, names=("x", "weight", "bias"), normalized_shape=4, tol=1e-4)
row("instance_norm", normal(2, 4, 3), eps=0.1, tol=1e-4)
row("layer_norm", normal(2, 3, 4), normalized_shape=4, tol=1e-4)
row("layer_norm", normal(2, 3, 4), normalized_shape=[3, 4], epsilon=0.001)
row(
    "rms_norm",
    normal(2, 3, 4),
    normalized_shape=[4],
    oracle=lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5),
)
row("rms_norm", normal(2, 3, 4), normal(3, 4), names=("input", "weight"), normalized_shape=[3, 4], eps=0.1,
    oracle=lambda x, w: x / np.sqrt((x * x).mean((1, 2), keepdims=True) + 0.1) * w)  # fmt: skip
rows(
    "normalize",
    normal(2, 3, 4),
    options=[{}, {"p": 1}, {"p": 3, "axis": -1}, {"p": float("inf"), "axis": 0}, {"epsilon": 2.0}],
)
rows(
    "local_response_norm",
    normal(2, 5, 3),
    options=[{"size": 3, "alpha": 0.5}, {"size": 2, "alpha": 0.5, "k": 2.0, "beta": 0.5}],
)
row("local_response_norm", normal(2, 3, 2, 5), size=3, alpha=0.5, data_format="NHWC")

# -- padding, resizing, images --
rows("padding.pad", normal(2, 3, 4, 5), options=[
    *({"pad": [1, 2, 0, 1]}, {"pad": [1, 2, 0, 1], "value": 3.0}, {"pad": [1, 2, 0, 1], "mode": "reflect"}),
    *({"pad": [1, 2, 0, 1], "mode": "replicate"}, {"pad": [1, 2, 0, 1], "mode": "circular"}),
    *({"pad": [0, 1, 1, 0, 2, 0, 0, 1]}, {"pad": [1, 2, 0, 1], "data_format": "NHWC"}),
    *({"pad": [1, 0, 0, 0, 0, 0, 0, 2], "pad_from_left_axis": False},),
])  # fmt: skip
row("padding.pad", normal(2, 3, 4), pad=[1, 2], data_format="NCL")
row("padding.pad", normal(1, 2, 3, 2, 2), pad=[1, 0, 0, 1, 2, 0], data_format="NCDHW", mode="replicate")
row("zeropad2d", normal(2, 3, 4, 5), padding=[1, 2, 0, 1])
SIZES = [{"size": [6, 7]}, {"size": [3, 2]}, {"scale_factor": 2}, {"scale_factor": [1.5, 0.7]}]
for _mode in ("nearest", "bilinear", "bicubic"):
    rows("interpolate", normal(1, 2, 4, 5), tol=1e-4, options=[{**s, "mode": _mode} for s in SIZES])
rows("interpolate", normal(1, 2, 4, 5), tol=1e-4, options=[
    *({"size": n, "mode": "area"} for n in ([6, 7], [3, 2])),
    *({"size": [6, 7], "mode": m, "align_corners": True} for m in ("bilinear", "bicubic")),
    {"size": [6, 7], "mode": "bilinear", "align_mode": 1},
    *({"size": [1, 1], "mode": m} for m in ("bilinear", "bicubic", "nearest", "area")),
])  # fmt: skip
row("interpolate", normal(1, 4, 5, 2), size=[6, 7], mode="bilinear", data_format="NHWC")
rows("interpolate", normal(1, 2, 5), options=[
    *({"size": [n], "mode": "linear", "align_mode": m, "data_format": "NCW"} for n in (7, 1) for m in (0, 1)),
    {"scale_factor": [0.3], "mode": "linear", "data_format": "NCW"},
])  # fmt: skip
rows("interpolate", normal(1, 2, 2, 3, 2), options=[
    *({"size": n, "mode": m, "data_format": "NCDHW"} for n in ([3, 4, 5], [1, 1, 1])
      for m in ("trilinear", "nearest", "area")),
])  # fmt: skip
rows("pixel_shuffle", normal(1, 8, 2, 3), options=[{"upscale_factor": 2}])
row("pixel_shuffle", normal(1, 2, 3, 8), upscale_factor=2, data_format="NHWC")
row("pixel_unshuffle", normal(1, 2, 4, 6), downscale_factor=2)
row("pixel_unshuffle", normal(1, 4, 6, 2), downscale_factor=2, data_format="NHWC")
row("channel_shuffle", normal(1, 6, 2, 2), groups=3)
row("channel_shuffle", normal(1, 2, 2, 6), groups=3, data_format="NHWC")
row("temporal_shift", normal(4, 8, 2, 2), seg_num=2)
row("temporal_shift", normal(4, 2, 2, 8), seg_num=2, shift_ratio=0.3, data_format="NHWC")
rows("vision_ops.unfold", normal(2, 3, 6, 5), options=[
    *({"kernel_sizes": 2}, {"kernel_sizes": [3, 2], "strides": 2, "paddings": 1}),
    *({"kernel_sizes": 2, "dilations": 2, "paddings": [1, 0, 2, 1]},),
])  # fmt: skip
rows("fold", normal(2, 12, 20), options=[{"output_sizes": [5, 6], "kernel_sizes": 2}])
row("fold", normal(2, 12, 12), output_sizes=[5, 6], kernel_sizes=2, strides=2, paddings=1)
row("fold", normal(1, 4, 12), output_sizes=[4, 6], kernel_sizes=2, dilations=[1, 2], paddings=[0, 0, 0, 0])
row("affine_grid", normal(2, 2, 3), out_shape=[2, 3, 3, 4])
row("affine_grid", normal(2, 2, 3), out_shape=[2, 3, 3, 4], align_corners=False)
row("affine_grid", normal(1, 3, 4), out_shape=[1, 3, 2, 3, 4])
GRID = between(-1.37, 1.41, 2, 4, 3, 2)
for _mode in ("bilinear", "nearest"):
    for _pad in ("zeros", "border", "reflection"):
        rows("grid_sample", normal(2, 3, 4, 5), GRID, tol=1e-4, options=[
            {"mode": _mode, "padding_mode": _pad, "align_corners": a} for a in (True, False)
        ])  # fmt: skip
row("grid_sample", normal(1, 2, 3, 4, 2), between(-1.2, 1.2, 1, 2, 2, 2, 3))

# -- losses --
REDUCTIONS: list[dict[str, Any]] = [{}, {"reduction": "sum"}, {"reduction": "none"}]
A, B = normal(3, 4), normal(3, 4)
PROB, SOFT, IDS = between(0.1, 0.9, 3, 4), between(0.1, 0.9, 3, 4), ints(0, 4, 3)
SIGNS = fixed([1.0, -1.0, 1.0, -1.0], [1.0, 1.0, -1.0, -1.0], [-1.0, 1.0, 1.0, 1.0], dtype="float32")
for _name in ("mse_loss", "l1_loss"):
    rows(_name, A, B, options=REDUCTIONS)
row("square_error_cost", A, B)
rows("smooth_l1_loss", A, B, options=[*REDUCTIONS, {"delta": 0.5}, {"delta": 0.5, "is_huber": False}])
rows("cross_entropy", A, IDS, options=[
    *REDUCTIONS, {"ignore_index": 1}, {"label_smoothing": 0.1}, {"label_smoothing": 0.1, "reduction": "none"},
])  # fmt: skip
rows("cross_entropy", A, ints(0, 4, 3, 1), options=REDUCTIONS)
rows("cross_entropy", A, IDS, between(0.5, 2, 4), options=[*REDUCTIONS, {"ignore_index": 1}])
rows("cross_entropy", A, SOFT, options=[{"soft_label": True, **r} for r in REDUCTIONS])
row("cross_entropy", A, SOFT, soft_label=True, label_smoothing=0.1)
row("cross_entropy", A, SOFT, between(0.5, 2, 4), soft_label=True)
rows("cross_entropy", normal(2, 4, 3), ints(0, 4, 2, 3), options=[{"axis": 1, **r} for r in REDUCTIONS])
rows("cross_entropy", PROB, IDS, options=[{"use_softmax": False}])
rows("softmax_with_cross_entropy", A, ints(0, 4, 3, 1), options=[{}, {"return_softmax": True}, {"ignore_index": 1}])
row("softmax_with_cross_entropy", A, SOFT, soft_label=True)
rows("nll_loss", A, IDS, options=[*REDUCTIONS, {"ignore_index": 1}])
rows("nll_loss", A, IDS, between(0.5, 2, 4), options=REDUCTIONS)
row("nll_loss", normal(2, 4, 3, 2), ints(0, 4, 2, 3, 2))
rows("binary_cross_entropy", PROB, SOFT, options=REDUCTIONS)
row("binary_cross_entropy", PROB, SOFT, between(0.5, 2, 4))
rows("binary_cross_entropy_with_logits", A, SOFT, options=REDUCTIONS)
row("binary_cross_entropy_with_logits", A, SOFT, between(0.5, 2, 4))
row("binary_cross_entropy_with_logits", A, SOFT, between(0.5, 2, 4), names=("logit", "label", "pos_weight"))
rows("kl_div", A, SOFT, options=[*REDUCTIONS, {"reduction": "batchmean"}, {"log_target": True}])
rows("log_loss", between(0.1, 0.9, 3, 1), between(0.1, 0.9, 3, 1), options=[{}, {"epsilon": 0.01}])
rows("margin_ranking_loss", A, B, SIGNS, grad=False, options=[*REDUCTIONS, {"margin": 0.5}])
rows("soft_margin_loss", A, SIGNS, grad=False, options=REDUCTIONS)
rows("hinge_embedding_loss", A, SIGNS, grad=False, options=[*REDUCTIONS, {"margin": 0.5}])
rows("cosine_similarity", A, B, options=[{}, {"axis": 0}])
LABEL = fixed(1, -1, 1)
rows("cosine_embedding_loss", A, B, LABEL, options=[*REDUCTIONS, {"margin": 0.3}])
rows(
    "pairwise_distance",
    A,
    B,
    options=[{}, {"p": 1.0}, {"keepdim": True}, {"p": float("inf")}, {"p": 3.0, "epsilon": 0.1}],
)
rows("triplet_margin_loss", A, B, normal(3, 4), options=[*REDUCTIONS, {"swap": True}, {"p": 1, "margin": 0.2}])
rows("triplet_margin_with_distance_loss", A, B, normal(3, 4), options=[*REDUCTIONS, {"swap": True}])
row("npair_loss", A, B, fixed(0.0, 1.0, 0.0, dtype="float32"), grad=False)
row("dice_loss", PROB, ints(0, 4, 3, 1))
rows("poisson_nll_loss", A, between(0.5, 5, 3, 4), options=[*REDUCTIONS, {"full": True}])
row("poisson_nll_loss", PROB, between(0.5, 5, 3, 4), log_input=False)
rows("gaussian_nll_loss", A, B, between(0.5, 2, 3, 4), options=[*REDUCTIONS, {"full": True}])
row("gaussian_nll_loss", A, B, between(0.5, 2, 3, 1))
rows("multi_label_soft_margin_loss", A, SOFT, options=REDUCTIONS)
row("multi_label_soft_margin_loss", A, SOFT, between(0.5, 2, 4))
row("multi_margin_loss", A, IDS, between(0.5, 2, 4), names=("input", "label", "weight"))
rows("multi_label_margin_loss", A, fixed([3, 0, -1, 1], [0, -1, 1, 2], [1, 2, 3, -1]), options=REDUCTIONS)
rows("multi_margin_loss", A, IDS, options=[*REDUCTIONS, {"p": 2}, {"margin": 0.5}])
rows("sigmoid_focal_loss", A, SOFT, options=[*REDUCTIONS, {"alpha": 0.5, "gamma": 3.0}])
row("sigmoid_focal_loss", A, SOFT, fixed(2.0))
rows("label_smooth", PROB, options=[{}, {"epsilon": 0.3}])
CTC = (normal(6, 3, 5), fixed([1, 2, 2], [3, 0, 0], [4, 1, 0], dtype="int32"), fixed(6, 4, 5), fixed(3, 1, 2))
rows("ctc_loss", *CTC, tol=1e-4, options=REDUCTIONS)
row(
    "ctc_loss",
    normal(6, 3, 5),
    fixed([1, 2, 2], [3, 0, 0], [0, 1, 0], dtype="int32"),
    fixed(6, 4, 5),
    fixed(3, 1, 2),
    blank=4,
)

# -- attention --
Q, KEYS = normal(2, 3, 2, 4), normal(2, 5, 2, 4)
row("scaled_dot_product_attention", Q, KEYS, KEYS, tol=1e-4)
row("scaled_dot_product_attention", Q, Q, Q, is_causal=True, tol=1e-4)
row("scaled_dot_product_attention", Q, KEYS, KEYS, normal(2, 1, 3, 5), tol=1e-4)
row("scaled_dot_product_attention", normal(2, 3, 4, 4), KEYS, KEYS, tol=1e-4)
row("scaled_dot_product_attention", Q, KEYS, KEYS, is_causal=True, tol=1e-4)

# -- pools of random windows, margins --
FRACTIONAL = [{"output_size": [3, 4], "random_u": u} for u in (0.1, 0.77)]
rows("fractional_max_pool2d", P2, options=[
    *FRACTIONAL, *({**f, "kernel_size": [2, 3], "return_mask": True} for f in FRACTIONAL),
    {"output_size": [None, 3], "random_u": 0.4},
])  # fmt: skip
rows("fractional_max_pool3d", P3, options=[
    {"output_size": [2, 2, 3], "random_u": 0.4}, {"output_size": 2, "kernel_size": 2, "random_u": 0.4},
])  # fmt: skip


def margin_loss(x: np.ndarray, label: np.ndarray) -> np.ndarray:
    """By the formula, in the numbers of the row below."""
    rows = np.arange(len(label))
    x = x.astype("float64")
    x[rows, label] = np.cos(0.9 * np.arccos(x[rows, label]) + 0.3) - 0.1
    x = np.exp(x * 4.0)
    return -np.log(x[rows, label] / x.sum(1)).mean()


row("margin_cross_entropy", between(-0.9, 0.9, 3, 4), ints(0, 4, 3), oracle=margin_loss,
    margin1=0.9, margin2=0.3, margin3=0.1, scale=4.0)  # fmt: skip
