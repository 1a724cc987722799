"""Layers that take what those of the same name do in torch."""

from ...core.argument_docs import document as _document
from . import functional, init, utils
from .activations import (
    CELU,
    ELU,
    SELU,
    AlphaDropout,
    Dropout,
    FeatureAlphaDropout,
    Hardsigmoid,
    Hardswish,
    Hardtanh,
    LeakyReLU,
    Mish,
    ReLU,
    ReLU6,
    RReLU,
    SiLU,
)
from .attention import MultiheadAttention
from .batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from .containers import ParameterDict, ParameterList
from .convolutions import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .embeddings import Embedding, EmbeddingBag
from .hooks import register_full_backward_hook, register_full_backward_pre_hook
from .layers import (
    AvgPool1D,
    AvgPool2D,
    AvgPool3D,
    Dropout2d,
    Dropout3d,
    GroupNorm,
    LayerNorm,
    Linear,
    MaxPool1d,
    MaxPool2d,
    MaxPool3d,
    PReLU,
    Softmax,
    Softmin,
    Threshold,
    Unfold,
    in_place,
)
from .lazy import (
    LazyBatchNorm1d,
    LazyBatchNorm2d,
    LazyBatchNorm3d,
    LazyConv1d,
    LazyConv2d,
    LazyConv3d,
    LazyConvTranspose1d,
    LazyConvTranspose2d,
    LazyConvTranspose3d,
    LazyInstanceNorm1d,
    LazyInstanceNorm2d,
    LazyInstanceNorm3d,
    LazyLinear,
)
from .losses import CrossEntropyLoss
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell
from .sequences import (
    PackedSequence,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpad_sequence,
)
from .transformers import (
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from .weights import weight_norm

AvgPool1d, AvgPool2d, AvgPool3d = AvgPool1D, AvgPool2D, AvgPool3D

__all__ = [
    *("AvgPool1D", "AvgPool1d", "AvgPool2D", "AvgPool2d", "AvgPool3D", "AvgPool3d", "Linear", "Softmax", "Unfold"),
    *("CrossEntropyLoss", "Embedding", "EmbeddingBag", "MaxPool1d", "MaxPool2d", "MaxPool3d", "PReLU", "Softmin"),
    *("GroupNorm", "LayerNorm", "Threshold", "in_place", "init", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"),
    *("Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"),
    *("AlphaDropout", "CELU", "Dropout", "ELU", "FeatureAlphaDropout", "Hardsigmoid", "Hardswish", "Hardtanh"),
    *("LeakyReLU", "Mish", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU"),
    *("register_full_backward_hook", "register_full_backward_pre_hook"),
    *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Dropout2d", "Dropout3d"),
    *("Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"),
    *("PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence"),
    *("GRU", "GRUCell", "LSTM", "LSTMCell", "MultiheadAttention", "RNN", "RNNCell", "functional", "unpad_sequence"),
    *("LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d"),
    *("LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d"),
    *("LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear", "ParameterDict", "ParameterList", "utils"),
    "weight_norm",
]

_document(globals())
