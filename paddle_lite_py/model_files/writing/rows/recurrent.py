"""Rows of recurrent layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..emitter import Emitter
from ..pir_text import FileValue, TensorType
from .shaping import joined
from .table import row


def _recurrent(
    w: Emitter,
    mode: str,
    x: FileValue,
    states: Sequence[FileValue],
    weights: Sequence[Any],
    lengths: Any,
    reverse: bool,
) -> tuple[FileValue, ...]:
    """Return one layer. One that reads from the end of given lengths is the second half of one in both directions."""
    size, both = states[0].type.shape[-1], reverse and lengths is not None
    given = [x, w.flip(x, [0])][reverse and not both]
    times = 2 if both else 1
    before = [_layers(w, s, times) for s in states]
    zero = [w.full(0.0, x.type.dtype, [weights[0].type.shape[0]]) if b is None else b for b in weights[2:]]
    held = [*list(weights[:2]) * times, *zero * times]
    t, batch = x.type.shape[:2]
    made = TensorType((t, batch, size * times), x.type.dtype)
    states_of = [TensorType((times, batch, size), x.type.dtype)] * len(states)
    dropout = w.full(0, "uint8", [1])
    attrs = {
        "dropout_prob": 0.0, "is_bidirec": both, "input_size": x.type.shape[-1], "hidden_size": size, "num_layers": 1,
        "mode": mode, "seed": 0, "is_test": True,
    }  # fmt: skip
    operands = [given, w.combined(before), w.combined(held), lengths, dropout]
    out, _, last, _ = w.emit("rnn", operands, [made, dropout.type, states_of, made], **attrs)
    ends = w.items(last)
    if both:
        out, ends = w.slice(out, 2, size, 2 * size), [w.slice(s, 0, 1, 2) for s in ends]
    elif reverse:
        out = w.flip(out, [0])
    return out, *[w.reshape(s, (batch, size)) for s in ends]


def _layers(w: Emitter, state: FileValue, times: int) -> FileValue:
    one = w.unsqueeze(state, 0)
    return one if times == 1 else joined(w, [one, one], 0, TensorType((2, *state.type.shape), state.type.dtype))


@row("lstm_layer")
def lstm_layer(
    w: Emitter, x: Any, h: Any, c: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, lengths: Any, reverse: bool
) -> Any:
    return _recurrent(w, "LSTM", x, (h, c), (w_ih, w_hh, b_ih, b_hh), lengths, reverse)


@row("gru_layer")
def gru_layer(
    w: Emitter, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, lengths: Any, reverse: bool
) -> Any:
    return _recurrent(w, "GRU", x, (h,), (w_ih, w_hh, b_ih, b_hh), lengths, reverse)


@row("rnn_layer")
def rnn_layer(
    w: Emitter, x: Any, h: Any, w_ih: Any, w_hh: Any, b_ih: Any, b_hh: Any, lengths: Any, activation: str, reverse: bool
) -> Any:
    mode = "RNN_TANH" if activation == "tanh" else "RNN_RELU"
    return _recurrent(w, mode, x, (h,), (w_ih, w_hh, b_ih, b_hh), lengths, reverse)
