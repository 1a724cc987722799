"""Layers that take what those of the same name do in torch."""

from ...core.argument_docs import document as _document
from . import functional
from .attention import MultiheadAttention
from .layers import AvgPool1D, AvgPool2D, AvgPool3D, Linear, Softmax, Unfold
from .recurrent import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNCell

AvgPool1d, AvgPool2d, AvgPool3d = AvgPool1D, AvgPool2D, AvgPool3D

__all__ = [
    *("AvgPool1D", "AvgPool1d", "AvgPool2D", "AvgPool2d", "AvgPool3D", "AvgPool3d", "Linear", "Softmax", "Unfold"),
    *("GRU", "GRUCell", "LSTM", "LSTMCell", "MultiheadAttention", "RNN", "RNNCell", "functional"),
]

_document(globals())
