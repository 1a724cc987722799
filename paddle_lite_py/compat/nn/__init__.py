"""Layers that take what those of the same name do in torch."""

from ...core.argument_docs import document as _document
from . import functional
from .attention import MultiheadAttention
from .batch_norm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from .layers import AvgPool1D, AvgPool2D, AvgPool3D, Dropout2d, Dropout3d, Linear, Softmax, Unfold
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

AvgPool1d, AvgPool2d, AvgPool3d = AvgPool1D, AvgPool2D, AvgPool3D

__all__ = [
    *("AvgPool1D", "AvgPool1d", "AvgPool2D", "AvgPool2d", "AvgPool3D", "AvgPool3d", "Linear", "Softmax", "Unfold"),
    *("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "Dropout2d", "Dropout3d"),
    *("Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"),
    *("PackedSequence", "pack_padded_sequence", "pack_sequence", "pad_packed_sequence", "pad_sequence"),
    *("GRU", "GRUCell", "LSTM", "LSTMCell", "MultiheadAttention", "RNN", "RNNCell", "functional", "unpad_sequence"),
]

_document(globals())
