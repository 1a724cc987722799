"""Recurrent cells: one step of a recurrent layer."""

from __future__ import annotations

from typing import Any

from ..eager.tensor import Tensor
from ..ops.creation import full
from ..ops.linalg import matmul
from ..ops.splitting import split
from . import functional as F
from .base import Layer
from .common import uniform_by_size
from .initializer import Constant

__all__ = ["GRUCell", "LSTMCell", "RNNCellBase", "SimpleRNNCell"]


class RNNCellBase(Layer):
    """Base class of recurrent cells: `outputs, new_states = cell(inputs, states)`.

    Arguments:
        settings: name_scope and dtype; see Layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> isinstance(paddle.nn.GRUCell(2, 3), paddle.nn.RNNCellBase)
        True
    """

    _gates = 1

    def _make(
        self, input_size: int, hidden_size: int, attrs: tuple[Any, Any, Any, Any], out_size: int | None = None
    ) -> None:
        """The weights [gates * hidden, input] and [gates * hidden, hidden], and their biases."""
        if hidden_size <= 0:
            raise ValueError(f"{type(self).__name__}: hidden_size is {hidden_size}; expected at least 1")
        self.input_size, self.hidden_size = input_size, hidden_size
        rows, draw = self._gates * hidden_size, uniform_by_size(hidden_size)
        ih, hh, bih, bhh = attrs
        self.weight_ih = self._weight([rows, input_size], ih, draw)
        self.weight_hh = self._weight([rows, out_size or hidden_size], hh, draw)
        self.bias_ih = self._weight([rows], bih, draw, is_bias=True)
        self.bias_hh = self._weight([rows], bhh, draw, is_bias=True)

    def _weight(self, shape: list[int], attr: Any, draw: Any, is_bias: bool = False) -> Any:
        """Return a parameter; where its ParamAttr is False, one that stays what changes nothing."""
        if attr is not False:
            return self.create_parameter(shape, attr, is_bias=is_bias, default_initializer=draw)
        fixed: Any = self.create_parameter(shape, None, None, is_bias, Constant(0.0 if is_bias else 1.0))
        fixed.stop_gradient = True
        return fixed

    @property
    def state_shape(self) -> Any:
        """Shape of the state of one sample, or a tuple of shapes."""
        return (self.hidden_size,)

    def get_initial_states(
        self, batch_ref: Tensor, shape: Any = None, dtype: Any = None, init_value: float = 0.0, batch_dim_idx: int = 0
    ) -> Any:
        """Create initial states filled with one value.

        Arguments:
            batch_ref: tensor from which the batch size is taken.
            shape: shape of the state of one sample, or nested shapes; None: state_shape.
            dtype: dtype of the states; None: the default dtype.
            init_value: the value. Default: 0.0.
            batch_dim_idx: batch dimension of batch_ref. Default: 0.

        Returns:
            A tensor [batch, *shape], or a nested structure of such tensors.
        """
        shape = self.state_shape if shape is None else shape
        if shape and isinstance(shape[0], list | tuple):
            return tuple(self.get_initial_states(batch_ref, s, dtype, init_value, batch_dim_idx) for s in shape)
        sizes = [batch_ref.shape[batch_dim_idx], *[n for n in shape if n != -1]]
        return full(sizes, init_value, dtype)

    def _projected(self, inputs: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        from_input, from_state = (
            _product(inputs, self.weight_ih, self.bias_ih),
            _product(h, self.weight_hh, self.bias_hh),
        )
        return from_input, from_state

    def extra_repr(self) -> str:
        """Return its sizes."""
        return f"{self.input_size}, {self.hidden_size}"


def _product(x: Tensor, weight: Any, bias: Any) -> Tensor:
    out = matmul(x, weight, transpose_y=True)
    return out if bias is None else out + bias


class SimpleRNNCell(RNNCellBase):
    """Elman RNN cell, one time step: `h' = activation(W_ih @ x + b_ih + W_hh @ h + b_hh)`.

    Arguments:
        activation: "tanh" or "relu". Default: 'tanh'.

    Shape:
        inputs: [batch, input_size]; states: [batch, hidden_size].
        Output: the pair (h', h') of [batch, hidden_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> y, h = paddle.nn.SimpleRNNCell(3, 4)(paddle.ones([2, 3]))
        >>> y.shape, h.shape
        (paddle.Size([2, 4]), paddle.Size([2, 4]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        activation: str = "tanh",
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if activation not in ("tanh", "relu"):
            raise ValueError(f"SimpleRNNCell: activation is {activation!r}; expected 'tanh' or 'relu'")
        self.activation = activation
        self._make(input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, Tensor]:
        """Compute one time step.

        Returns:
            The new hidden state [batch, hidden_size], as output and as state.
        """
        h = self.get_initial_states(inputs) if states is None else states
        x, u = self._projected(inputs, h)
        out = getattr(F, self.activation)(x + u)
        return out, out


class LSTMCell(RNNCellBase):
    """LSTM cell, one time step (Hochreiter and Schmidhuber, 1997).

    `i, f, g, o = W_ih @ x + b_ih + W_hh @ h + b_hh` (four parts), `c' = sigmoid(f) * c + sigmoid(i) * tanh(g)`, `h' =
    sigmoid(o) * tanh(c')`. The weights have the gates in the order i, f, g, o.

    Arguments:
        proj_size: if above 0, size to which the hidden state is projected. Default: 0.

    Shape:
        inputs: [batch, input_size]; states: the pair (h, c) of [batch, hidden_size].
        Output: h' and the pair (h', c').

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.LSTMCell(2, 3)(paddle.ones([1, 2]))[0].shape
        paddle.Size([1, 3])
    """

    _gates = 4

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        proj_size: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__()
        if not 0 <= proj_size < max(hidden_size, 1):
            raise ValueError(f"LSTMCell: proj_size is {proj_size}; expected a number below hidden_size, {hidden_size}")
        self.proj_size = proj_size
        self._make(
            input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr), proj_size or None
        )
        if proj_size:
            self.weight_ho = self.create_parameter(
                [hidden_size, proj_size], weight_hh_attr, default_initializer=uniform_by_size(hidden_size)
            )

    @property
    def state_shape(self) -> Any:
        """Shapes of the hidden and cell state of one sample."""
        return ((self.proj_size or self.hidden_size,), (self.hidden_size,))

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Compute one time step.

        Returns:
            The new hidden state, and the pair of new hidden and cell state, each [batch, hidden_size].
        """
        h, c = self.get_initial_states(inputs) if states is None else states
        x, u = self._projected(inputs, h)
        i, f, g, o = split(x + u, 4, axis=-1)
        c = F.sigmoid(f) * c + F.sigmoid(i) * F.tanh(g)
        h = F.sigmoid(o) * F.tanh(c)
        if self.proj_size:
            h = matmul(h, self.weight_ho)
        return h, (h, c)


class GRUCell(RNNCellBase):
    """GRU cell, one time step (Cho et al., 2014).

    `r = sigmoid(W_r @ x + U_r @ h)`, `z = sigmoid(W_z @ x + U_z @ h)`, `c = tanh(W_c @ x + r * (U_c @ h))`, `h' = z * h
    + (1 - z) * c`, each with biases. The weights have the gates in the order r, z, c.

    Shape:
        inputs: [batch, input_size]; states: [batch, hidden_size].
        Output: the pair (h', h') of [batch, hidden_size].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.GRUCell(2, 3)(paddle.ones([1, 2]))[0].shape
        paddle.Size([1, 3])
    """

    _gates = 3

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        weight_ih_attr: Any = None,
        weight_hh_attr: Any = None,
        bias_ih_attr: Any = None,
        bias_hh_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._make(input_size, hidden_size, (weight_ih_attr, weight_hh_attr, bias_ih_attr, bias_hh_attr))

    def forward(self, inputs: Tensor, states: Any = None) -> tuple[Tensor, Tensor]:
        """Compute one time step.

        Returns:
            The new hidden state [batch, hidden_size], as output and as state.
        """
        h = self.get_initial_states(inputs) if states is None else states
        x, u = self._projected(inputs, h)
        (xr, xz, xc), (ur, uz, uc) = split(x, 3, axis=-1), split(u, 3, axis=-1)
        candidate = F.tanh(xc + F.sigmoid(xr + ur) * uc)
        out = (h - candidate) * F.sigmoid(xz + uz) + candidate
        return out, out
