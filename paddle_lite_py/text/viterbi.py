"""Viterbi decoding: the most likely tags of sequences."""

from __future__ import annotations

from typing import Any

from ..nn.base import Layer
from ..ops.viterbi import viterbi

__all__ = ["ViterbiDecoder", "viterbi_decode"]


def viterbi_decode(
    potentials: Any, transition_params: Any, lengths: Any, include_bos_eos_tag: bool = True, name: Any = None
) -> tuple[Any, Any]:
    """Find the most likely tag sequence of each input by the Viterbi algorithm.

    Arguments:
        potentials: scores of the tags (unary potentials), [batch, time, tags].
        transition_params: score of each transition from tag i to tag j, [tags, tags].
        lengths: lengths of the sequences, int64 [batch].
        include_bos_eos_tag: the last tag is the start tag and the one before it the end tag; their transitions are
            added. Default: True.

    Returns:
        The scores of the best paths [batch], and their tags, int64 [batch, largest length].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> scores = paddle.to_tensor([[[1.0, 0.0], [0.0, 3.0]]])
        >>> score, path = paddle.text.viterbi_decode(scores, paddle.zeros([2, 2]), paddle.to_tensor([2]), False)
        >>> score.tolist(), path.tolist()
        ([4.0], [[0, 1]])
    """
    fn: Any = viterbi
    scores, path = fn(potentials, transition_params, lengths, ends=include_bos_eos_tag)
    return scores, path[:, : int(lengths.max()._static_value("the greatest length of viterbi_decode()"))]


class ViterbiDecoder(Layer):
    """Layer that finds the most likely tag sequences by the Viterbi algorithm; see viterbi_decode().

    Arguments:
        transitions: score of each transition from tag i to tag j, [tags, tags].
        include_bos_eos_tag: the last tag is the start tag and the one before it the end tag. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> decoder = paddle.text.ViterbiDecoder(paddle.zeros([2, 2]), include_bos_eos_tag=False)
        >>> decoder(paddle.to_tensor([[[0.0, 1.0], [1.0, 0.0]]]), paddle.to_tensor([2]))[1].tolist()
        [[1, 0]]
    """

    def __init__(self, transitions: Any, include_bos_eos_tag: bool = True, name: str | None = None) -> None:
        super().__init__()
        self.transitions, self.include_bos_eos_tag = transitions, include_bos_eos_tag

    def forward(self, potentials: Any, lengths: Any) -> tuple[Any, Any]:
        """Decode a batch.

        Returns:
            The scores of the best paths [batch], and their tags, int64 [batch, largest length].
        """
        return viterbi_decode(potentials, self.transitions, lengths, self.include_bos_eos_tag)
