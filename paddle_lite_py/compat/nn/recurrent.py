"""Recurrent layers with torch's signatures and results."""

from __future__ import annotations

from typing import Any

from ... import nn as _nn
from ...ops.convert import to_tensor
from .sequences import PackedSequence, lengths_of, pack_padded_sequence, pad_packed_sequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNCell"]
nn: Any = _nn  # whose lists of names mypy cannot read


def _biases(bias: bool) -> dict[str, Any]:
    return {} if bias else {"bias_ih_attr": False, "bias_hh_attr": False}


def _of_batches(bias: bool, batch_first: bool, dropout: float, bidirectional: bool) -> dict[str, Any]:
    direction = "bidirect" if bidirectional else "forward"
    return {"direction": direction, "time_major": not batch_first, "dropout": dropout, **_biases(bias)}


class _Cell(nn.Layer):
    """A cell that returns its new state alone; beside the class of the cell."""

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, **settings: Any) -> None:
        super().__init__(input_size, hidden_size, **settings, **_biases(bias))
        self.bias = bias

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the state after one more step: [batch, hidden_size], of an LSTM the hidden and the cell state."""
        return super().forward(input, hx)[1]


class RNNCell(_Cell, nn.SimpleRNNCell):
    """paddle.nn.SimpleRNNCell, but it returns the new state alone.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.RNNCell(2, 3)(paddle.ones([1, 2])).shape
        paddle.Size([1, 3])
    """

    def __init__(self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh") -> None:
        super().__init__(input_size, hidden_size, bias, activation=nonlinearity)
        self.nonlinearity = nonlinearity


class GRUCell(_Cell, nn.GRUCell):
    """paddle.nn.GRUCell, but it returns the new state alone.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.GRUCell(2, 3, bias=False)(paddle.ones([1, 2])).shape
        paddle.Size([1, 3])
    """


class LSTMCell(_Cell, nn.LSTMCell):
    """paddle.nn.LSTMCell, but it returns the pair of new states alone.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> h, c = paddle.compat.nn.LSTMCell(2, 3)(paddle.ones([1, 2]))
        >>> h.shape, c.shape
        (paddle.Size([1, 3]), paddle.Size([1, 3]))
    """


class _RNNBase(nn.Layer):
    """Recurrent layers that also take a packed batch; beside the class of the layers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._buffers.pop("_dropout_state", None)  # torch's have no buffers

    @property
    def batch_first(self) -> bool:
        """Whether the input is [batch, length, input_size]."""
        return not self.time_major

    @property
    def bidirectional(self) -> bool:
        """Whether there is a second direction."""
        return self.num_directions == 2

    @property
    def bias(self) -> bool:
        """Whether there are biases."""
        return any(name.startswith("bias") for name, _ in self.named_parameters())

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the outputs of all steps, and the last states.

        Arguments:
            input: [length, batch, input_size], with batch_first [batch, length, input_size], without a batch
                [length, input_size], or a packed batch.
            hx: initial states; None: zeros.
        """
        if not isinstance(input, PackedSequence):
            return self._of_one(input, hx) if input.ndim == 2 else super().forward(input, hx)
        _, sizes, order, back = input
        lengths = to_tensor(lengths_of(input))
        x = pad_packed_sequence(input._replace(unsorted_indices=None), not self.time_major)[0]
        out, states = super().forward(x, _map(hx, order), lengths)
        data = pack_padded_sequence(out, lengths, not self.time_major).data
        return PackedSequence(data, sizes, order, back), _map(states, back)

    def _collect_state(self, out: Any, sublayers: bool, prefix: str, *settings: bool) -> dict[str, Any]:
        """Return the state by torch's names, without those of the cells, which have the same parameters."""
        found = super()._collect_state(out, sublayers, prefix, *settings)
        cells = tuple([f"{prefix}{i}." for i in range(self.num_layers)])
        for name in [n for n in found if n.startswith(cells)]:
            del found[name]
        return found

    def _of_one(self, input: Any, hx: Any) -> Any:
        given = hx if hx is None else tuple(h.unsqueeze(1) for h in hx) if isinstance(hx, tuple) else hx.unsqueeze(1)
        out, states = super().forward(input.unsqueeze(1 if self.time_major else 0), given)
        found = tuple(h.squeeze(1) for h in states) if isinstance(states, tuple) else states.squeeze(1)
        return out.squeeze(1 if self.time_major else 0), found


def _map(states: Any, order: Any) -> Any:
    """Return states [layers, batch, size] with the sequences in another order."""
    if states is None or order is None:
        return states
    return tuple(_map(h, order) for h in states) if isinstance(states, tuple) else states.index_select(order, 1)


class RNN(_RNNBase, nn.SimpleRNN):
    """paddle.nn.SimpleRNN, but time comes first by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> outputs, h = paddle.compat.nn.RNN(2, 3, nonlinearity="relu")(paddle.ones([5, 1, 2]))
        >>> outputs.shape, h.shape
        (paddle.Size([5, 1, 3]), paddle.Size([1, 1, 3]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh", bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
    ) -> None:  # fmt: skip
        settings = _of_batches(bias, batch_first, dropout, bidirectional)
        super().__init__(input_size, hidden_size, num_layers, activation=nonlinearity, **settings)
        self.nonlinearity = nonlinearity


class GRU(_RNNBase, nn.GRU):
    """paddle.nn.GRU, but time comes first by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.GRU(2, 3, batch_first=True, bidirectional=True)(paddle.ones([1, 5, 2]))[0].shape
        paddle.Size([1, 5, 6])
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, num_layers, **_of_batches(bias, batch_first, dropout, bidirectional))


class LSTM(_RNNBase, nn.LSTM):
    """paddle.nn.LSTM, but time comes first by default.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> outputs, (h, c) = paddle.compat.nn.LSTM(2, 3, num_layers=2)(paddle.ones([5, 1, 2]))
        >>> outputs.shape, h.shape
        (paddle.Size([5, 1, 3]), paddle.Size([2, 1, 3]))
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True, batch_first: bool = False,
        dropout: float = 0.0, bidirectional: bool = False, proj_size: int = 0,
    ) -> None:  # fmt: skip
        settings = _of_batches(bias, batch_first, dropout, bidirectional)
        super().__init__(input_size, hidden_size, num_layers, proj_size=proj_size, **settings)
