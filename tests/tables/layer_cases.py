"""Layers with inputs, run in the same way here and in PaddlePaddle; see tests/golden/make.py.

A case is the expression that makes a layer, and its inputs: arrays, None, or tuples of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

rs = np.random.RandomState(0)


def f(*shape: int) -> np.ndarray:
    """Normal float32."""
    return rs.randn(*shape).astype("float32")


def ids(high: int, *shape: int) -> np.ndarray:
    """Integers below `high`."""
    return rs.randint(0, high, shape).astype("int64")


def part(*shape: int) -> np.ndarray:
    """Float32 between 0.1 and 0.9."""
    return (rs.rand(*shape) * 0.8 + 0.1).astype("float32")


def probabilities(*shape: int) -> np.ndarray:
    """Float32 with sum 1 along the last axis."""
    found = part(*shape)
    return found / found.sum(-1, keepdims=True)


SIGNS = np.array([1, -1, 1, -1])
LENGTHS = np.array([5, 3], "int64")

CASES: list[tuple[str, list[Any]]] = [
    ("Linear(3, 2)", [f(4, 3)]),
    ("Linear(3, 2, bias_attr=False)", [f(4, 5, 3)]),
    ("Bilinear(2, 3, 4)", [f(5, 2), f(5, 3)]),
    ("Embedding(5, 3, padding_idx=2)", [ids(5, 2, 3)]),
    ("Conv1D(2, 4, 3, padding=1, stride=2)", [f(2, 2, 8)]),
    ("Conv2D(2, 4, 3, padding=1, groups=2)", [f(2, 2, 5, 5)]),
    ("Conv2D(2, 4, 3, padding='SAME', data_format='NHWC')", [f(2, 5, 5, 2)]),
    ("Conv2D(2, 4, 3, padding=1, padding_mode='reflect')", [f(2, 2, 5, 5)]),
    ("Conv2D(2, 4, 3, padding=2, padding_mode='circular')", [f(2, 2, 5, 5)]),
    ("Conv3D(2, 4, 2)", [f(1, 2, 3, 3, 3)]),
    ("Conv1DTranspose(2, 3, 3, stride=2)", [f(1, 2, 4)]),
    ("Conv2DTranspose(2, 4, 3, stride=2, padding=1, output_padding=1, groups=2)", [f(1, 2, 4, 4)]),
    ("Conv3DTranspose(1, 2, 2, stride=2)", [f(1, 1, 2, 2, 2)]),
    ("BatchNorm1D(3)", [f(4, 3)]),
    ("BatchNorm1D(3, data_format='NLC')", [f(4, 5, 3)]),
    ("BatchNorm2D(3, momentum=0.7, epsilon=1e-3)", [f(4, 3, 2, 2)]),
    ("BatchNorm2D(3, weight_attr=False, bias_attr=False)", [f(4, 3, 2, 2)]),
    ("BatchNorm2D(3, use_global_stats=True)", [f(4, 3, 2, 2)]),
    ("evaluated(BatchNorm2D(3))", [f(4, 3, 2, 2)]),
    ("BatchNorm3D(2)", [f(2, 2, 2, 2, 2)]),
    ("BatchNorm(3, act='relu')", [f(4, 3, 2, 2)]),
    ("LayerNorm([2, 3])", [f(4, 2, 3)]),
    ("LayerNorm(3, weight_attr=False, bias_attr=False)", [f(4, 2, 3)]),
    ("GroupNorm(2, 4)", [f(2, 4, 3, 3)]),
    ("InstanceNorm1D(3)", [f(2, 3, 4)]),
    ("InstanceNorm2D(3)", [f(2, 3, 4, 4)]),
    ("InstanceNorm3D(2)", [f(2, 2, 2, 2, 2)]),
    ("LocalResponseNorm(3)", [f(2, 4, 3, 3)]),
    ("MaxPool1D(2)", [f(1, 2, 6)]),
    ("MaxPool2D(3, stride=2, padding=1)", [f(1, 2, 6, 6)]),
    ("MaxPool2D(2, ceil_mode=True)", [f(1, 2, 5, 5)]),
    ("MaxPool2D(2, return_mask=True)", [f(1, 2, 4, 4)]),
    ("MaxPool3D(2)", [f(1, 1, 4, 4, 4)]),
    ("AvgPool1D(2)", [f(1, 2, 6)]),
    ("AvgPool2D(3, stride=2, padding=1)", [f(1, 2, 6, 6)]),
    ("AvgPool2D(3, stride=2, padding=1, exclusive=False)", [f(1, 2, 6, 6)]),
    ("AvgPool3D(2)", [f(1, 1, 4, 4, 4)]),
    ("AdaptiveAvgPool1D(3)", [f(1, 2, 7)]),
    ("AdaptiveAvgPool2D(3)", [f(1, 2, 7, 5)]),
    ("AdaptiveAvgPool2D((None, 2))", [f(1, 2, 7, 5)]),
    ("AdaptiveAvgPool3D(2)", [f(1, 1, 4, 4, 4)]),
    ("AdaptiveMaxPool1D(2)", [f(1, 2, 6)]),
    ("AdaptiveMaxPool2D(2)", [f(1, 2, 6, 5)]),
    ("AdaptiveMaxPool3D(2)", [f(1, 1, 4, 4, 4)]),
    ("LPPool2D(2, 2)", [part(1, 2, 4, 4)]),
    *[
        (expression, [f(2, 4, 6)])
        for expression in [
            *("ReLU()", "ReLU6()", "LeakyReLU(0.1)", "ELU(0.5)", "CELU(0.5)", "SELU()", "GELU()", "GELU(True)"),
            *(
                "Sigmoid()",
                "Tanh()",
                "Silu()",
                "Swish()",
                "Mish()",
                "Hardswish()",
                "Hardsigmoid()",
                "Hardtanh(-0.5, 0.5)",
            ),
            *("Hardshrink()", "Softshrink()", "Tanhshrink()", "ThresholdedReLU()", "Softplus(2)", "Softsign()"),
            *("LogSigmoid()", "Softmax(1)", "LogSoftmax()", "GLU()", "PReLU(4)", "PReLU()", "Flatten()", "Identity()"),
            *("Unflatten(1, [2, 2])", "Pad1D(1)", "Pad1D([1, 2], mode='reflect')", "ZeroPad1D(2)"),
        ]
    ],
    *[
        (expression, [f(2, 4, 4, 4)])
        for expression in [
            *(
                "Softmax2D()",
                "Maxout(2)",
                "Pad2D([1, 2, 0, 1])",
                "Pad2D(1, mode='replicate')",
                "Pad2D(1, mode='circular')",
            ),
            *("ZeroPad2D(1)", "ReflectionPad2D(1)", "PixelShuffle(2)", "PixelUnshuffle(2)", "ChannelShuffle(2)"),
            *(
                "Upsample(scale_factor=2)",
                "Upsample(size=[3, 5], mode='bilinear')",
                "UpsamplingBilinear2D(scale_factor=2)",
            ),
            *(
                "Upsample(scale_factor=2, mode='bicubic')",
                "UpsamplingNearest2D(size=[6, 6])",
                "Unfold(2)",
                "Dropout2D(0.0)",
            ),
        ]
    ],
    ("Fold([3, 3], 2)", [f(1, 8, 4)]),
    ("Pad3D(1)", [f(1, 1, 2, 2, 2)]),
    ("CosineSimilarity()", [f(3, 4), f(3, 4)]),
    ("PairwiseDistance()", [f(3, 4), f(3, 4)]),
    ("evaluated(Dropout(0.5, mode='downscale_in_infer'))", [f(3, 4)]),
    ("CrossEntropyLoss()", [f(4, 5), ids(5, 4)]),
    ("CrossEntropyLoss(weight=tensor([1.0, 2.0, 3.0, 4.0, 5.0]), ignore_index=1)", [f(4, 5), ids(5, 4)]),
    ("CrossEntropyLoss(label_smoothing=0.1, reduction='sum')", [f(4, 5), ids(5, 4)]),
    ("CrossEntropyLoss(soft_label=True, reduction='sum')", [f(4, 5), probabilities(4, 5)]),
    ("CrossEntropyLoss(axis=1, reduction='none')", [f(2, 5, 3), ids(5, 2, 3)]),
    ("MSELoss()", [f(3, 4), f(3, 4)]),
    ("L1Loss('sum')", [f(3, 4), f(3, 4)]),
    ("SmoothL1Loss(delta=0.5)", [f(3, 4), f(3, 4)]),
    ("NLLLoss()", [f(4, 5), ids(5, 4)]),
    ("BCELoss()", [part(3, 4), part(3, 4)]),
    ("BCEWithLogitsLoss(pos_weight=tensor([1.0, 2.0, 3.0, 4.0]))", [f(3, 4), part(3, 4)]),
    ("KLDivLoss('batchmean')", [f(3, 4), part(3, 4)]),
    ("MarginRankingLoss(0.1)", [f(4), f(4), SIGNS.astype("float32")]),
    ("CosineEmbeddingLoss(0.1)", [f(4, 3), f(4, 3), SIGNS]),
    ("HingeEmbeddingLoss()", [f(4), SIGNS.astype("float32")]),
    ("TripletMarginLoss()", [f(4, 3), f(4, 3), f(4, 3)]),
    ("TripletMarginWithDistanceLoss()", [f(4, 3), f(4, 3), f(4, 3)]),
    ("MultiLabelSoftMarginLoss()", [f(4, 3), ids(2, 4, 3).astype("float32")]),
    ("MultiMarginLoss()", [f(4, 3), ids(3, 4)]),
    ("SoftMarginLoss()", [f(4), SIGNS.astype("float32")]),
    ("PoissonNLLLoss()", [f(4), part(4)]),
    ("GaussianNLLLoss()", [f(4), f(4), part(4)]),
    (
        "CTCLoss()",
        [f(5, 2, 4), np.array([[1, 2], [3, 1]], "int32"), np.array([5, 4], "int64"), np.array([2, 2], "int64")],
    ),
    ("SimpleRNN(3, 4)", [f(2, 5, 3)]),
    ("SimpleRNN(3, 4, 2, 'bidirect', activation='relu')", [f(2, 5, 3)]),
    ("LSTM(3, 4, 2, 'bidirect')", [f(2, 5, 3)]),
    ("LSTM(3, 4, time_major=True)", [f(5, 2, 3)]),
    ("LSTM(3, 4, 1, 'bidirect')", [f(2, 5, 3), None, LENGTHS]),
    ("LSTM(3, 4, 2)", [f(2, 5, 3), (f(2, 2, 4), f(2, 2, 4)), LENGTHS]),
    ("GRU(3, 4, 2, 'bidirect')", [f(2, 5, 3), f(4, 2, 4)]),
    ("GRU(3, 4)", [f(2, 5, 3), None, LENGTHS]),
    ("SimpleRNNCell(3, 4)", [f(2, 3)]),
    ("LSTMCell(3, 4)", [f(2, 3), (f(2, 4), f(2, 4))]),
    ("GRUCell(3, 4)", [f(2, 3), f(2, 4)]),
    ("RNN(GRUCell(3, 4), is_reverse=True)", [f(2, 5, 3)]),
    ("RNN(LSTMCell(3, 4))", [f(2, 5, 3), None, LENGTHS]),
    ("BiRNN(LSTMCell(3, 4), LSTMCell(3, 4))", [f(2, 5, 3)]),
    ("MultiHeadAttention(8, 2)", [f(2, 5, 8)]),
    ("MultiHeadAttention(8, 2, kdim=6, vdim=4, need_weights=True)", [f(2, 5, 8), f(2, 3, 6), f(2, 3, 4)]),
    ("MultiHeadAttention(8, 2)", [f(2, 5, 8), f(2, 3, 8), f(2, 3, 8), ids(2, 2, 1, 5, 3).astype(bool)]),
    ("TransformerEncoderLayer(8, 2, 16, 0.0)", [f(2, 5, 8)]),
    ("TransformerEncoderLayer(8, 2, 16, 0.0, 'gelu', normalize_before=True)", [f(2, 5, 8), f(5, 5)]),
    ("TransformerDecoderLayer(8, 2, 16, 0.0)", [f(2, 5, 8), f(2, 3, 8)]),
    ("TransformerEncoder(TransformerEncoderLayer(8, 2, 16, 0.0), 2, LayerNorm(8))", [f(2, 5, 8)]),
    ("Transformer(8, 2, 1, 1, 16, 0.0)", [f(2, 4, 8), f(2, 3, 8)]),
    ("HSigmoidLoss(3, 5)", [f(4, 3), ids(5, 4, 1)]),
    (
        "RNNTLoss()",
        [f(2, 3, 3, 4), np.array([[1, 2], [3, 1]], "int32"), np.array([3, 2], "int32"), np.array([2, 1], "int32")],
    ),
    ("MultiHeadAttention(8, 2)", [f(2, 5, 8), f(2, 5, 8)]),
]


def flat(value: Any) -> list[Any]:
    """The tensors in nested tuples and lists."""
    if isinstance(value, tuple | list):
        return [x for v in value for x in flat(v)]
    return [] if value is None else [value]


def _input(paddle: Any, value: Any) -> Any:
    if value is None or isinstance(value, tuple):
        return None if value is None else tuple(_input(paddle, v) for v in value)
    out = paddle.to_tensor(value)
    out.stop_gradient = value.dtype != np.float32
    return out


def make(paddle: Any, expression: str) -> Any:
    """The layer, with weights that depend on nothing but their shapes."""

    def evaluated(layer: Any) -> Any:
        layer.eval()
        return layer

    names = vars(paddle.nn) | {"tensor": paddle.to_tensor, "evaluated": evaluated}
    layer = eval(expression, dict(names))
    draw(layer)
    return layer


def draw(layer: Any) -> None:
    """Give a layer weights that depend on nothing but their shapes."""
    random = np.random.RandomState(7)
    for p in layer.parameters():
        if not p.stop_gradient:
            p.set_value((random.rand(*p.shape) - 0.4).astype("float32"))


def run(paddle: Any, expression: str, inputs: list[Any]) -> dict[str, np.ndarray]:
    """Outputs, gradients of parameters and inputs, and statistics afterwards, by name."""
    layer, given = make(paddle, expression), [_input(paddle, v) for v in inputs]
    outs = flat(layer(*given))
    found = {f"out{i}": np.asarray(o.numpy()) for i, o in enumerate(outs)}
    loss = 0.0
    for o in outs:
        if "float" in str(o.dtype):
            weights = np.cos(np.arange(o.size)).astype("float32").reshape(list(o.shape))
            loss = loss + (o * paddle.to_tensor(weights)).sum()
    if not loss.stop_gradient:
        loss.backward()
        named = [*layer.named_parameters(), *((f"in{i}", t) for i, t in enumerate(flat(given)))]
        # The gradient of a label is left out: PaddlePaddle has none for some losses.
        labels = 1 if "Loss" in expression else len(named)
        keep = [(n, t) for n, t in named if not n.startswith("in") or int(n[2:]) < labels]
        found |= {f"grad of {n}": np.asarray(t.grad.numpy()) for n, t in keep if t.grad is not None}
    state = layer.state_dict()
    return found | {k: np.asarray(v.numpy()) for k, v in state.items() if k.endswith(("_mean", "_variance"))}


def summary(array: np.ndarray) -> list[Any]:
    """What tells one array from another: its shape, its first elements, and a weighted sum."""
    row = array.astype("float64").ravel()
    numbers = [float(f"{x:.6g}") for x in [*row[:3], float(row @ np.sin(1.0 + np.arange(row.size)))]]
    return [list(array.shape), numbers[:-1], numbers[-1]]
