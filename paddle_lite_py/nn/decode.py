"""Decoding step by step: beam search, and the loop that runs a decoder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.interpreter import state
from ..core.no_effect import NO_GRADIENT, no_effect
from ..eager.tensor import Tensor
from ..ops.common import gather_tree
from ..ops.creation import full, zeros
from ..ops.gather import take_along_axis
from ..ops.joining import stack
from ..ops.search import topk, where
from ..ops.softmax import log_softmax

__all__ = ["BeamSearchDecoder", "Decoder", "dynamic_decode"]

FAR = 1e9  # a log-probability this low is never chosen


def _map(function: Callable[..., Any], *nests: Any) -> Any:
    """function of the tensors at each place of nested lists, tuples and dicts."""
    first = nests[0]
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*[_map(function, *parts) for parts in zip(*nests, strict=True)])
    if isinstance(first, list | tuple):
        return type(first)([_map(function, *parts) for parts in zip(*nests, strict=True)])
    if isinstance(first, dict):
        return {k: _map(function, *[n[k] for n in nests]) for k in first}
    return function(*nests)


class Decoder:
    """Base class of decoders for dynamic_decode(): define initialize(), step() and finalize().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.nn.BeamSearchDecoder, paddle.nn.Decoder)
        True
    """

    @property
    def tracks_own_finished(self) -> bool:
        """Whether step() itself reports, for good, which sequences have finished."""
        return False

    def initialize(self, inits: Any) -> tuple[Any, Any, Tensor]:
        """Return the first inputs, the first states, and which sequences have finished."""
        raise NotImplementedError(f"{type(self).__name__} must define initialize(inits)")

    def step(self, time: Any, inputs: Any, states: Any, **kwargs: Any) -> tuple[Any, Any, Any, Tensor]:
        """Compute one step: return outputs, new states, new inputs, and which sequences have finished."""
        raise NotImplementedError(f"{type(self).__name__} must define step(time, inputs, states)")

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Any, Any]:
        """Convert the outputs of all steps into what dynamic_decode() returns."""
        raise NotImplementedError


class BeamOutput(NamedTuple):
    """Output of one step of beam search: for each beam its score, its token, and the index of its parent beam."""

    scores: Tensor
    predicted_ids: Tensor
    parent_ids: Tensor


class BeamState(NamedTuple):
    """State of beam search; tensors are [batch, beams, ...]."""

    cell_states: Any
    log_probs: Tensor
    finished: Tensor
    lengths: Tensor


class BeamSearchDecoder(Decoder):
    """Beam search: keep the beam_size most likely sequences at each step; run it with dynamic_decode().

    Arguments:
        cell: a recurrent cell, called as `cell(inputs, states)`, that returns outputs and new states.
        start_token: id of the token that starts a sequence.
        end_token: id of the token that ends a sequence.
        beam_size: number of sequences to keep for each sample.
        embedding_fn: function from token ids to the inputs of the cell; None: the ids themselves.
        output_fn: function from the outputs of the cell to logits over the tokens; None: the outputs themselves.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> embed, cell = paddle.nn.Embedding(5, 4), paddle.nn.GRUCell(4, 4)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, 2, embed, paddle.nn.Linear(4, 5))
        >>> ids, _ = paddle.nn.dynamic_decode(decoder, paddle.zeros([3, 4]), max_step_num=0)
        >>> ids.shape
        paddle.Size([3, 1, 2])
    """

    def __init__(
        self,
        cell: Any,
        start_token: int,
        end_token: int,
        beam_size: int,
        embedding_fn: Callable[[Any], Any] | None = None,
        output_fn: Callable[[Any], Any] | None = None,
    ) -> None:
        self.cell, self.embedding_fn, self.output_fn = cell, embedding_fn, output_fn
        self.start_token, self.end_token, self.beam_size = start_token, end_token, beam_size

    @property
    def tracks_own_finished(self) -> bool:
        """True."""
        return True

    @staticmethod
    def tile_beam_merge_with_batch(x: Tensor, beam_size: int) -> Tensor:
        """Repeat each row beam_size times: [batch, ...] becomes [batch * beam_size, ...].

        Returns:
            A tensor [batch * beam_size, ...].

        Examples:
            >>> import paddle_lite_py as paddle
            >>> BeamSearchDecoder.tile_beam_merge_with_batch(paddle.to_tensor([1, 2]), 2).tolist()
            [1, 1, 2, 2]
        """
        return x.repeat_interleave(beam_size, 0)

    def _split(self, x: Tensor) -> Tensor:
        return x.reshape([-1, self.beam_size, *x.shape[1:]])

    def _merge(self, x: Tensor) -> Tensor:
        return x.reshape([-1, *x.shape[2:]])

    def initialize(self, initial_cell_states: Any) -> tuple[Any, BeamState, Tensor]:
        """Return the first inputs and states; only the first beam of each sample has a finite score."""
        tiled = _map(lambda s: self._split(self.tile_beam_merge_with_batch(s, self.beam_size)), initial_cell_states)
        leaf = tiled
        while not isinstance(leaf, Tensor):
            leaf = next(iter(leaf.values())) if isinstance(leaf, dict) else leaf[0]
        batch = leaf.shape[0]
        first = full([batch, self.beam_size], -FAR, "float32")
        first[:, 0] = 0.0
        tokens = full([batch, self.beam_size], self.start_token, "int64")
        lengths, finished = zeros([batch, self.beam_size], "int64"), zeros([batch, self.beam_size], "bool")
        inputs = tokens if self.embedding_fn is None else self.embedding_fn(tokens)
        return inputs, BeamState(tiled, first, finished, lengths), finished

    def step(self, time: Any, inputs: Any, states: BeamState, **kwargs: Any) -> tuple[Any, Any, Any, Tensor]:
        """Compute one step of all beams."""
        out, cells = self.cell(_map(self._merge, inputs), _map(self._merge, states.cell_states), **kwargs)
        logits = self._split(out if self.output_fn is None else self.output_fn(out))
        found, new = self._choose(logits, _map(self._split, cells), states)
        tokens = found.predicted_ids
        return found, new, tokens if self.embedding_fn is None else self.embedding_fn(tokens), new.finished

    def _choose(self, logits: Tensor, cells: Any, states: BeamState) -> tuple[BeamOutput, BeamState]:
        size = logits.shape[-1]
        normalize: Any = log_softmax
        step = normalize(logits, -1)
        ended = full([size], -FAR, step.dtype)
        ended[self.end_token] = 0.0
        step = where(states.finished.unsqueeze(-1), ended.expand(step.shape), step)
        total = step + states.log_probs.unsqueeze(-1)
        scores, index = topk(total.reshape([-1, self.beam_size * size]), self.beam_size)
        parents, tokens = index // size, index % size

        def follow(x: Tensor) -> Tensor:
            at = parents.reshape([*parents.shape, *[1] * (x.ndim - 2)])
            return take_along_axis(x, at.expand([*parents.shape, *x.shape[2:]]), 1)

        finished, lengths = follow(states.finished.astype("int64")).astype("bool"), follow(states.lengths)
        lengths = lengths + finished.logical_not().astype("int64")
        finished = finished.logical_or(tokens == self.end_token)
        return BeamOutput(scores, tokens, parents), BeamState(_map(follow, cells), scores, finished, lengths)

    def finalize(self, outputs: Any, final_states: Any, sequence_lengths: Any) -> tuple[Tensor, Any]:
        """Follow the parent beams back and return the sequences [time, batch, beams]."""
        trace: Any = gather_tree
        return trace(outputs.predicted_ids, outputs.parent_ids), final_states


@no_effect(is_test=NO_GRADIENT)
def dynamic_decode(
    decoder: Any,
    inits: Any = None,
    max_step_num: int | None = None,
    output_time_major: bool = False,
    impute_finished: bool = False,
    is_test: bool = False,
    return_length: bool = False,
    **kwargs: Any,
) -> tuple[Any, ...]:
    """Run a decoder step by step until all sequences have finished.

    Arguments:
        decoder: the decoder, such as a BeamSearchDecoder.
        inits: argument of decoder.initialize(), usually the initial states of the cell.
        max_step_num: index of the last step, from 0; required in a static program, which runs all steps.
        output_time_major: return outputs [time, batch, ...] instead of [batch, time, ...]. Default: False.
        impute_finished: keep the states of finished sequences unchanged. Default: False.
        return_length: also return the lengths of the sequences. Default: False.
        kwargs: further arguments of decoder.step().

    Returns:
        The outputs, the final states, and with return_length the lengths of the sequences.

    Raises:
        ValueError: in a static program without max_step_num.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> embed, cell, out = paddle.nn.Embedding(6, 4), paddle.nn.GRUCell(4, 4), paddle.nn.Linear(4, 6)
        >>> decoder = paddle.nn.BeamSearchDecoder(cell, 0, 1, 2, embed, out)
        >>> ids, _ = paddle.nn.dynamic_decode(decoder, paddle.zeros([3, 4]), max_step_num=2)
        >>> ids.shape[0], ids.shape[2]
        (3, 2)
    """
    eager = state.interpreter.is_eager
    if not eager and max_step_num is None:
        raise ValueError("dynamic_decode: a static program needs max_step_num")
    inputs, states, finished = decoder.initialize(inits)
    lengths = zeros(finished.shape, "int64")
    steps: list[Any] = []
    while max_step_num is None or len(steps) <= max_step_num:
        out, new, inputs, ended = decoder.step(len(steps), inputs, states, **kwargs)
        if not decoder.tracks_own_finished:
            lengths = lengths + finished.logical_not().astype("int64")
            ended = ended.logical_or(finished)
            if impute_finished:
                new = _map(lambda old, fresh, done=finished: _keep_finished(done, old, fresh), states, new)
        steps.append(out)
        states, finished = new, ended
        if eager and bool(finished.all()):
            break
    outputs = _map(lambda *parts: stack(list(parts), 0), *steps)
    if hasattr(states, "lengths"):
        lengths = states.lengths
    try:
        outputs, states = decoder.finalize(outputs, states, lengths)
    except NotImplementedError:
        pass  # a decoder whose outputs are final as they are
    if not output_time_major:
        outputs = _map(lambda x: x.transpose([1, 0, *range(2, x.ndim)]), outputs)
    return (outputs, states, lengths) if return_length else (outputs, states)


def _keep_finished(done: Tensor, old: Tensor, new: Tensor) -> Tensor:
    return where(done.reshape([*done.shape, *[1] * (new.ndim - done.ndim)]).expand(new.shape), old, new)
