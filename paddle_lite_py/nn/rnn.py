"""Recurrent layers: cells run over sequences, and SimpleRNN, LSTM and GRU as one op a layer and direction."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..eager.tensor import Tensor
from ..ops.creation import ones_like, zeros
from ..ops.joining import concat, stack
from ..ops.search import where
from . import functional as F
from .base import Layer
from .container import LayerList
from .rnn_cells import GRUCell, LSTMCell, SimpleRNNCell

__all__ = ["GRU", "LSTM", "RNN", "BiRNN", "SimpleRNN"]


def _is_known(*sizes: Any) -> bool:
    """Whether all sizes are numbers; the op says of others that they are the same."""
    return all(isinstance(n, int) for n in sizes)


def _swap(x: Tensor) -> Tensor:
    """Batch first to time first, and back."""
    return x.transpose([1, 0, *range(2, x.ndim)])


def run_op(
    kind: str, x: Tensor, states: tuple[Tensor, ...], weights: list[Any], lengths: Any, **attrs: Any
) -> tuple[Any, ...]:
    """Run one layer in one direction over x [time, batch, input] as a single op."""
    function = {"lstm": F.lstm_layer, "gru": F.gru_layer, "rnn": F.rnn_layer}[kind]
    return function(x, *states, *weights, lengths, **attrs)


class RNN(Layer):
    """Run a recurrent cell over the time steps of sequences.

    Arguments:
        cell: a cell such as LSTMCell, or any layer called as `cell(inputs, states)` that returns outputs and new
            states. The built-in cells run as a single op.
        is_reverse: run from the last time step to the first. Default: False.
        time_major: the input is [time, batch, ...] instead of [batch, time, ...]. Default: False.

    Shape:
        inputs: [batch, time, input_size]; with time_major [time, batch, input_size].
        outputs: [batch, time, hidden_size]; with time_major time first.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> outputs, h = paddle.nn.RNN(paddle.nn.GRUCell(3, 4))(paddle.ones([2, 5, 3]))
        >>> outputs.shape, h.shape
        (paddle.Size([2, 5, 4]), paddle.Size([2, 4]))
    """

    def __init__(self, cell: Layer, is_reverse: bool = False, time_major: bool = False) -> None:
        super().__init__()
        self.cell, self.is_reverse, self.time_major = cell, is_reverse, time_major

    def forward(
        self, inputs: Tensor, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Any, Any]:
        """Run the cell over all time steps.

        Arguments:
            inputs: [batch, time, ...]; with time_major [time, batch, ...].
            initial_states: states before the first step; None: zeros.
            sequence_length: number of steps of each sequence, integers [batch]; None: all. The state does not change
                after a sequence has ended.
            kwargs: further arguments of the cell.

        Returns:
            The outputs of all steps, and the final states.
        """
        x = inputs if self.time_major else _swap(inputs)
        states = initial_states
        if states is None:
            states = self.cell.get_initial_states(x, dtype=x.dtype, batch_dim_idx=1)
        kind = _KINDS.get(type(self.cell))
        if kind is not None and not kwargs and not getattr(self.cell, "proj_size", 0):
            out, states = self._fused(kind, x, states, sequence_length)
        else:
            out, states = self._steps(x, states, sequence_length, kwargs)
        return out if self.time_major else _map(_swap, out), states

    def _fused(self, kind: str, x: Tensor, states: Any, lengths: Any) -> tuple[Tensor, Any]:
        cell: Any = self.cell
        given = tuple(states) if kind == "lstm" else (states,)
        attrs = {"activation": cell.activation} if kind == "rnn" else {}
        weights = [cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh]
        out, *last = run_op(kind, x, given, weights, lengths, reverse=self.is_reverse, **attrs)
        if lengths is not None:  # beyond its length, each output is a step from the state that is kept
            kept = given if self.is_reverse else last
            kept = [s.unsqueeze(0) for s in kept]
            beyond = cell(x, tuple(kept) if kind == "lstm" else kept[0])[0]
            steps = ones_like(x[:, :1, 0]).cumsum(0)  # [time, 1]: 1, 2, ...
            out = where((steps <= lengths.astype(x.dtype)).unsqueeze(-1), out, beyond)
        return out, tuple(last) if kind == "lstm" else last[0]

    def _steps(self, x: Tensor, states: Any, lengths: Any, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        steps = x.shape[0]
        outs: list[Any] = [None] * steps
        for t in reversed(range(steps)) if self.is_reverse else range(steps):
            outs[t], new = self.cell(x[t], states, **kwargs)
            if lengths is not None:
                inside = (lengths > t).astype(x.dtype).unsqueeze(-1)
                new = _map2(lambda a, b, m=inside: a * m + b * (1 - m), new, states)
            states = new
        if isinstance(outs[0], tuple | list):
            return type(outs[0])(stack(list(column)) for column in zip(*outs, strict=True)), states
        return stack(outs), states


_KINDS: dict[type, str] = {LSTMCell: "lstm", GRUCell: "gru", SimpleRNNCell: "rnn"}


def _map(f: Any, x: Any) -> Any:
    return type(x)(_map(f, v) for v in x) if isinstance(x, tuple | list) else f(x)


def _map2(f: Any, x: Any, y: Any) -> Any:
    return type(x)(_map2(f, a, b) for a, b in zip(x, y, strict=True)) if isinstance(x, tuple | list) else f(x, y)


class BiRNN(Layer):
    """Run two recurrent cells over sequences, one in each direction, and concatenate their outputs.

    Arguments:
        cell_fw: cell of the forward direction.
        cell_bw: cell of the backward direction.
        time_major: the input is [time, batch, ...] instead of [batch, time, ...]. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.BiRNN(paddle.nn.GRUCell(2, 3), paddle.nn.GRUCell(2, 3))(paddle.ones([1, 4, 2]))[0].shape
        paddle.Size([1, 4, 6])
    """

    def __init__(self, cell_fw: Layer, cell_bw: Layer, time_major: bool = False) -> None:
        super().__init__()
        self.cell_fw, self.cell_bw, self.time_major = cell_fw, cell_bw, time_major

    def forward(
        self, inputs: Tensor, initial_states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> tuple[Tensor, tuple[Any, Any]]:
        """Run both cells over all time steps.

        Arguments:
            inputs: [batch, time, ...]; with time_major [time, batch, ...].
            initial_states: a pair of states, one for each cell; None: zeros.
            sequence_length: number of steps of each sequence, integers [batch]; None: all.
            kwargs: further arguments of the cells.

        Returns:
            The concatenated outputs of all steps, and the pair of final states.
        """
        first, second = (None, None) if initial_states is None else initial_states
        forward, backward = RNN(self.cell_fw, False, self.time_major), RNN(self.cell_bw, True, self.time_major)
        out_fw, state_fw = forward(inputs, first, sequence_length, **kwargs)
        out_bw, state_bw = backward(inputs, second, sequence_length, **kwargs)
        return concat([out_fw, out_bw], axis=-1), (state_fw, state_bw)


_PARTS = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")


class _Mode(NamedTuple):
    """A kind of recurrent layer: its op, its cell, how many states it has, and what else both take."""

    kind: str
    cell: Any
    n_states: int
    settings: dict[str, Any]


MODES = {
    "RNN_TANH": _Mode("rnn", SimpleRNNCell, 1, {"activation": "tanh"}),
    "RNN_RELU": _Mode("rnn", SimpleRNNCell, 1, {"activation": "relu"}),
    "LSTM": _Mode("lstm", LSTMCell, 2, {}),
    "GRU": _Mode("gru", GRUCell, 1, {}),
}


class RNNBase(LayerList):
    """Base class of SimpleRNN, LSTM and GRU: the cells of all layers and directions, and their parameters.

    Arguments:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        proj_size: if above 0, size to which the hidden state of an LSTM is projected. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> RNNBase("GRU", 2, 3)(paddle.ones([1, 4, 2]))[0].shape
        paddle.Size([1, 4, 3])
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"{type(self).__name__}: mode is {mode!r}; expected one of {', '.join(MODES)}")
        if proj_size and mode != "LSTM":
            raise ValueError(f"{type(self).__name__}: proj_size is {proj_size}; only an LSTM projects its states")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        kind = MODES[mode]
        super().__init__()
        if direction not in ("forward", "bidirect", "bidirectional"):
            raise ValueError(f"{type(self).__name__}: direction is {direction!r}; expected 'forward' or 'bidirect'")
        if hidden_size <= 0 or num_layers <= 0:
            raise ValueError(
                f"{type(self).__name__}: hidden_size {hidden_size} and num_layers {num_layers} must be at least 1"
            )
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.num_directions = 1 if direction == "forward" else 2
        self.time_major, self.dropout, self.state_components = time_major, dropout, kind.n_states
        self.mode, self.proj_size = mode, proj_size
        # No code reads it here: programs that list the buffers find the one that PaddlePaddle's kernels have.
        if not proj_size:
            self.register_buffer("_dropout_state", zeros([], "uint8"), persistable=False)
        projected = {"proj_size": proj_size} if proj_size else {}
        for layer in range(num_layers):
            size = input_size if layer == 0 else (proj_size or hidden_size) * self.num_directions
            settings = (
                {f"{name}_attr": attr for name, attr in zip(_PARTS, attrs, strict=True)} | kind.settings | projected
            )
            cells = [kind.cell(size, hidden_size, **settings) for _ in range(self.num_directions)]
            run: Any = RNN if len(cells) == 1 else BiRNN
            self.append(run(*cells, time_major=time_major))
            for suffix, cell in zip(self._suffixes(layer), cells, strict=True):
                self._name(suffix, cell, attrs)

    def _suffixes(self, layer: int) -> list[str]:
        return [f"_l{layer}", f"_l{layer}_reverse"][: self.num_directions]

    @property
    def _all_weights(self) -> list[Any]:
        # Of all layers and directions, the biases behind the weights: programs initialize them by this list.
        suffixes = [s for layer in range(self.num_layers) for s in self._suffixes(layer)]
        order = [name + s for kind in (_PARTS[:2], _PARTS[2:]) for s in suffixes for name in kind]
        return [self._parameters[name] for name in order if name in self._parameters]

    def _name(self, suffix: str, cell: Layer, attrs: tuple[Any, Any, Any, Any]) -> None:
        """The parameters of a cell as attributes, too, but for fixed biases, as in the files of PaddlePaddle."""
        for name, attr in zip(_PARTS, attrs, strict=True):
            if attr is not False or name.startswith("weight"):
                setattr(self, name + suffix, getattr(cell, name))

    def forward(self, inputs: Tensor, initial_states: Any = None, sequence_length: Any = None) -> tuple[Tensor, Any]:
        """Run all layers over all time steps.

        Arguments:
            inputs: [batch, time, input_size]; with time_major [time, batch, input_size].
            initial_states: initial hidden state [num_layers * directions, batch, hidden_size]; for an LSTM the pair of
                hidden and cell state; None: zeros.
            sequence_length: number of steps of each sequence, integers [batch]; None: all. After the end of a sequence
                the outputs are 0 and the state does not change.

        Returns:
            The outputs of the last layer [batch, time, directions * hidden_size], and the final states in the form of
                initial_states.
        """
        if inputs.ndim != 3 or inputs.shape[-1] != self.input_size:
            raise ValueError(
                f"{type(self).__name__}: inputs [.., .., {self.input_size}] are expected, got {[*inputs.shape]}"
            )
        if self.proj_size:
            return self._by_cells(inputs, initial_states, sequence_length)
        x = inputs if self.time_major else _swap(inputs)
        states = self._initial(x, initial_states)
        last: list[tuple[Tensor, ...]] = []
        for layer in range(self.num_layers):
            if layer and self.dropout:
                x = F.dropout(x, self.dropout, training=self.training)
            outs = []
            for suffix in self._suffixes(layer):
                out, *new = self._run(x, tuple(s[len(last)] for s in states), suffix, sequence_length)
                outs.append(out)
                last.append(tuple(new))
            x = outs[0] if len(outs) == 1 else concat(outs, axis=-1)
        final = tuple(stack(list(column)) for column in zip(*last, strict=True))
        return x if self.time_major else _swap(x), final if self.state_components > 1 else final[0]

    def _by_cells(self, x: Tensor, given: Any, lengths: Any) -> tuple[Tensor, Any]:
        """Step by step, as an LSTM whose hidden states are projected."""
        last: list[Any] = []
        for layer, run in enumerate(self):
            if layer and self.dropout:
                x = F.dropout(x, self.dropout, training=self.training)
            at = range(len(last), len(last) + self.num_directions)
            started = None if given is None else [tuple(s[i] for s in given) for i in at]
            x, states = run(x, started[0] if started and len(started) == 1 else started, lengths)
            last += [states] if self.num_directions == 1 else states
        return x, tuple(stack(list(column)) for column in zip(*last, strict=True))

    def flatten_parameters(self) -> None:
        """Do nothing; kept for compatibility, since XLA decides the layout of the weights."""

    def _initial(self, x: Tensor, given: Any) -> tuple[Tensor, ...]:
        shape = [self.num_layers * self.num_directions, x.shape[1], self.hidden_size]
        if given is None:
            return tuple(zeros(shape, x.dtype) for _ in range(self.state_components))
        states = tuple(given) if self.state_components > 1 else (given,)
        for s in states:
            if len(s.shape) != 3 or any(n != m for n, m in zip(s.shape, shape, strict=True) if _is_known(n, m)):
                raise ValueError(
                    f"{type(self).__name__}: initial states of the shape {shape} are expected, got {[*s.shape]}"
                )
        return states

    def _run(self, x: Tensor, states: tuple[Tensor, ...], suffix: str, lengths: Any) -> tuple[Any, ...]:
        weights = [getattr(self, name + suffix, None) for name in _PARTS]  # a bias without a name is zero
        mode = MODES[self.mode]
        backwards = suffix.endswith("_reverse")
        return run_op(mode.kind, x, states, weights, lengths, reverse=backwards, **mode.settings)

    def extra_repr(self) -> str:
        """Return its settings, but for those at their defaults."""
        out = f"{self.input_size}, {self.hidden_size}"
        out += f", num_layers={self.num_layers}" if self.num_layers != 1 else ""
        out += f", time_major={self.time_major}" if self.time_major else ""
        return out + (f", dropout={self.dropout}" if self.dropout else "")


class SimpleRNN(RNNBase):
    """Multi-layer Elman RNN: `h_t = activation(W_ih @ x_t + b_ih + W_hh @ h_(t-1) + b_hh)`.

    Arguments:
        activation: "tanh" or "relu". Default: 'tanh'.

    Shape:
        inputs: [batch, time, input_size]; with time_major [time, batch, input_size].
        outputs: [batch, time, directions * hidden_size]; with time_major time first.
        initial_states, final states: [num_layers * directions, batch, hidden_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.SimpleRNN(2, 3)(paddle.ones([1, 4, 2]))[0].shape
        paddle.Size([1, 4, 3])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        if activation not in ("tanh", "relu"):
            raise ValueError(f"SimpleRNN: activation is {activation!r}; expected 'tanh' or 'relu'")
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        shape = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        super().__init__(f"RNN_{activation.upper()}", *shape, *attrs)
        self.activation = activation


class LSTM(RNNBase):
    """Multi-layer LSTM (Hochreiter and Schmidhuber, 1997).

    `i, f, g, o = W_ih @ x + b_ih + W_hh @ h + b_hh` (four parts), `c' = sigmoid(f) * c + sigmoid(i) * tanh(g)`, `h' =
    sigmoid(o) * tanh(c')`.

    Arguments:
        proj_size: if above 0, size to which the hidden state is projected. Default: 0.

    Shape:
        inputs: [batch, time, input_size]; with time_major [time, batch, input_size].
        outputs: [batch, time, directions * hidden_size]; with time_major time first.
        initial_states, final states: a pair (h, c) of [num_layers * directions, batch, hidden_size].

    Raises:
        ValueError: if an argument is out of its range.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> outputs, (h, c) = paddle.nn.LSTM(3, 4, num_layers=2)(paddle.ones([2, 5, 3]))
        >>> outputs.shape, h.shape, c.shape
        (paddle.Size([2, 5, 4]), paddle.Size([2, 2, 4]), paddle.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        shape = (input_size, hidden_size, num_layers, direction, time_major, dropout)
        super().__init__("LSTM", *shape, *attrs, proj_size)


class GRU(RNNBase):
    """Multi-layer GRU (Cho et al., 2014).

    `r = sigmoid(W_r @ x + U_r @ h)`, `z = sigmoid(W_z @ x + U_z @ h)`, `c = tanh(W_c @ x + r * (U_c @ h))`, `h' = z * h
    + (1 - z) * c`, each with biases.

    Shape:
        inputs: [batch, time, input_size]; with time_major [time, batch, input_size].
        outputs: [batch, time, directions * hidden_size]; with time_major time first.
        initial_states, final states: [num_layers * directions, batch, hidden_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> outputs, h = paddle.nn.GRU(3, 4, direction="bidirect")(paddle.ones([2, 5, 3]))
        >>> outputs.shape, h.shape
        (paddle.Size([2, 5, 8]), paddle.Size([2, 2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        direction: str = "forward",
        time_major: bool = False,
        dropout: float = 0.0,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        attrs = (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr)
        super().__init__("GRU", input_size, hidden_size, num_layers, direction, time_major, dropout, *attrs)
