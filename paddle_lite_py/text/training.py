"""Batches and losses for the fine-tuning of language models."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..nn import functional as F
from ..ops.convert import to_tensor
from ..ops.logic import not_equal

__all__ = ["PackedBatch", "answer_log_probs", "dpo_loss", "pack_sequences", "sft_loss"]

IGNORED = -100  # the label of positions without a loss


class PackedBatch(NamedTuple):
    """Rows of fixed length that have several sequences each; int64 tensors [rows, length].

    Arguments:
        input_ids: the tokens.
        labels: the token that follows each token in its sequence; -100 where there is none, in prompts and in padding.
        segment_ids: 1, 2, ... for the sequences of a row, 0 for padding.

    Examples:
        >>> pack_sequences([[5, 6], [7]], length=4).input_ids.tolist()
        [[5, 6, 7, 0]]
    """

    input_ids: Tensor
    labels: Tensor
    segment_ids: Tensor


def pack_sequences(
    sequences: Sequence[Sequence[int]], length: int, prompt_lengths: Sequence[int] | None = None, pad_token_id: int = 0
) -> PackedBatch:
    """Pack sequences into rows of a fixed length, so that few tokens are padding.

    Each sequence goes into the fullest row that has room for it. `CausalLM` keeps them apart with `segment_ids`: logits
    and gradients are those of rows with one sequence each.

    Args:
        sequences: Tokens of each sequence; prompt and answer together.
        length: Number of tokens of a row.
        prompt_lengths: Number of tokens of each sequence that are not learned; None: all tokens are.
        pad_token_id: Token at the end of rows.

    Returns:
        Tokens, labels and segment ids.

    Raises:
        ValueError: A sequence is empty or longer than a row, or the number of prompt lengths is another one.

    Example:
        >>> model = paddle.text.models.CausalLM(paddle.text.models.tiny_config())
        >>> batch = pack_sequences([[5, 6, 7], [8, 9], [1, 2, 3]], length=6, prompt_lengths=[2, 0, 0])
        >>> batch.labels.tolist()
        [[-100, 7, -100, 9, -100, -100], [2, 3, -100, -100, -100, -100]]
        >>> batch.segment_ids.tolist()
        [[1, 1, 1, 2, 2, 0], [1, 1, 1, 0, 0, 0]]
        >>> sft_loss(model(batch.input_ids, segment_ids=batch.segment_ids), batch.labels).shape
        paddle.Size([])
    """
    prompts = [0] * len(sequences) if prompt_lengths is None else list(prompt_lengths)
    if len(prompts) != len(sequences):
        raise ValueError(f"pack_sequences: {len(sequences)} sequences, but {len(prompts)} prompt lengths")
    rows = _best_fit([len(sequence) for sequence in sequences], length)
    ids, labels, segments = (np.full((len(rows), length), v, "int64") for v in (pad_token_id, IGNORED, 0))
    for row, members in enumerate(rows):
        start = 0
        for number, i in enumerate(members, 1):
            end, learned = start + len(sequences[i]), max(prompts[i], 1)
            ids[row, start:end], segments[row, start:end] = sequences[i], number
            labels[row, start + learned - 1 : end - 1] = sequences[i][learned:]
            start = end
    return PackedBatch(to_tensor(ids), to_tensor(labels), to_tensor(segments))


def _best_fit(sizes: Sequence[int], length: int) -> list[list[int]]:
    """Return the indices of the sequences of each row."""
    rows: list[list[int]] = []
    room: list[tuple[int, int]] = []  # the free tokens of each row, and its index; sorted
    for i, size in enumerate(sizes):
        if not 0 < size <= length:
            raise ValueError(f"pack_sequences: sequence {i} has {size} tokens; expected 1 to {length}")
        place = bisect_left(room, (size, 0))
        if place == len(room):
            room.append((length, len(rows)))
            rows.append([])
        free, row = room.pop(place)
        rows[row].append(i)
        insort(room, (free - size, row))
    return rows


def sft_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Compute the loss of supervised fine-tuning: the mean cross-entropy of the tokens with a label.

    Args:
        logits: [batch, n, vocab_size].
        labels: [batch, n], the token that each position should predict (the next one); -100 for no loss, as in prompts.

    Returns:
        A float32 scalar; 0 if there is no label.

    Example:
        >>> logits = paddle.zeros([1, 3, 8])
        >>> print(f"{sft_loss(logits, paddle.to_tensor([[-100, 2, 5]])).item():.4f}")  # log(8)
        2.0794
    """
    labelled = not_equal(labels, IGNORED).astype("float32").sum()  # cross_entropy() counts all, as in PaddlePaddle
    return _losses(logits, labels).sum() / labelled.clip(min=1.0)


def answer_log_probs(logits: Tensor, labels: Tensor) -> Tensor:
    """Sum the log-probabilities of the tokens of each row that have a label: of the answer to a prompt.

    Args:
        logits: [batch, n, vocab_size].
        labels: [batch, n], the token that each position should predict (the next one); -100 in prompts and padding.

    Returns:
        A float32 tensor [batch].

    Example:
        >>> logits = paddle.zeros([1, 3, 8])
        >>> print(f"{answer_log_probs(logits, paddle.to_tensor([[-100, 2, 5]])).item():.4f}")  # -2 log(8)
        -4.1589
    """
    return -_losses(logits, labels).sum(-1)


def _losses(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the cross-entropy of each position [batch, n]; 0 without a label."""
    return F.cross_entropy(logits.astype("float32"), labels, ignore_index=IGNORED, reduction="none")


def dpo_loss(
    policy_chosen: Tensor, policy_rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor, beta: float = 0.1
) -> Tensor:
    """Compute the loss of direct preference optimization, from log-probabilities of pairs of answers.

    Args:
        policy_chosen: [batch], log-probabilities of the preferred answers; see `answer_log_probs()`.
        policy_rejected: [batch], of the other answers to the same prompts.
        ref_chosen: [batch], of the preferred answers with the model before training, without gradients.
        ref_rejected: [batch], of the other answers with that model.
        beta: How strongly the model is kept near the one before training.

    Returns:
        The scalar mean of `-log sigmoid(beta * ((policy_chosen - ref_chosen) - (policy_rejected - ref_rejected)))`.

    Source: Rafailov et al., Direct Preference Optimization, 2023.

    Example:
        >>> before = paddle.to_tensor([-5.0, -3.0])
        >>> after = paddle.to_tensor([-4.0, -3.0])
        >>> print(f"{dpo_loss(after, before, before, before, beta=1.0).item():.4f}")
        0.5032
    """
    gain = (policy_chosen - ref_chosen) - (policy_rejected - ref_rejected)
    return -F.log_sigmoid(gain * beta).mean()


_document(globals())
