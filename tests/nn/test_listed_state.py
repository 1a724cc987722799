"""What layers list as parameters, buffers and state: names, shapes, dtypes and order as PaddlePaddle lists them."""

import json
from pathlib import Path

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "layer_state.json").read_text())
PLAIN = {
    **dict.fromkeys(("Conv1D", "Conv2D", "Conv3D", "Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"), (2, 4, 3)),
    **dict.fromkeys(("BatchNorm", "BatchNorm1D", "BatchNorm2D", "BatchNorm3D", "SyncBatchNorm", "LayerNorm"), (4,)),
    **dict.fromkeys(("InstanceNorm1D", "InstanceNorm2D", "InstanceNorm3D"), (4,)),
    **dict.fromkeys(("LSTM", "GRU", "SimpleRNN", "LSTMCell", "GRUCell", "SimpleRNNCell", "Linear"), (3, 4)),
    **dict.fromkeys(("TransformerEncoderLayer", "TransformerDecoderLayer"), (8, 2, 16)),
    "Bilinear": (3, 4, 2), "Embedding": (5, 3), "GroupNorm": (2, 4), "SpectralNorm": ([4, 3],),
    "MultiHeadAttention": (8, 2), "Transformer": (8, 2, 1, 1, 16), "PReLU": (), "HSigmoidLoss": (3, 6),
}  # fmt: skip
NONE = {"weight_attr": False, "bias_attr": False}
OTHERS = {
    "two layers of a bidirectional LSTM": lambda: nn.LSTM(3, 4, 2, direction="bidirect"),
    "GRU with dropout": lambda: nn.GRU(3, 4, 2, dropout=0.5),
    "projected LSTM": lambda: nn.LSTM(3, 4, proj_size=2),
    "LSTM without biases": lambda: nn.LSTM(3, 4, bias_ih_attr=False, bias_hh_attr=False),
    "RNN": lambda: nn.RNN(nn.LSTMCell(3, 4)),
    "BiRNN": lambda: nn.BiRNN(nn.GRUCell(3, 4), nn.GRUCell(3, 4)),
    "spectral norm": lambda: nn.utils.spectral_norm(nn.Linear(3, 4)),
    "weight norm": lambda: nn.utils.weight_norm(nn.Linear(3, 4)),
    "BatchNorm2D without weights": lambda: nn.BatchNorm2D(4, **NONE),
    "GroupNorm without weights": lambda: nn.GroupNorm(2, 4, **NONE),
    "MultiHeadAttention of other sizes": lambda: nn.MultiHeadAttention(8, 2, kdim=4, vdim=6),
    "TransformerEncoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16), 2, nn.LayerNorm(8)),
    "ParameterList": lambda: nn.ParameterList([paddle.create_parameter([2], "float32")]),
    "ParameterDict": lambda: nn.ParameterDict({"a": paddle.create_parameter([2], "float32")}),
    "Sequential": lambda: nn.Sequential(("x", nn.Linear(2, 2)), ("y", nn.BatchNorm1D(2))),
}
CASES = {name: lambda name=name: getattr(nn, name)(*PLAIN[name]) for name in PLAIN} | OTHERS


def listed(pairs):
    return [f"{k} {[*v.shape]} {str(v.dtype).split('.')[-1]}" for k, v in pairs]


def facts(layer):
    return {
        "state": listed(layer.state_dict().items()),
        "buffers": listed(layer.named_buffers()),
        "parameters": listed(layer.named_parameters()),
        "names": [p.name for p in layer.parameters()],
        "layers": [k for k, _ in layer.named_sublayers()],
    }


@pytest.mark.parametrize("name", CASES)
def test_a_layer_lists_what_paddlepaddle_lists(name):
    with paddle.utils.unique_name.guard():
        found = facts(CASES[name]())
    assert found == RECORDED[name]
