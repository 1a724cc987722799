"""Sequences of many lengths in few shapes."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.io import BucketBatchSampler, DataLoader, PadCollate, bucket_bounds

LENGTHS = np.random.default_rng(0).integers(1, 60, 50)


class Sentences(paddle.io.Dataset):
    """Row i holds LENGTHS[i] times the number i + 1."""

    def __getitem__(self, i):
        return np.full(LENGTHS[i], i + 1), i

    def __len__(self):
        return len(LENGTHS)


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_sample_comes_once_in_few_shapes(shuffle):
    bounds = bucket_bounds(LENGTHS, count=3)
    sampler = BucketBatchSampler(LENGTHS, bounds, 4, shuffle=shuffle)
    loader = DataLoader(Sentences(), batch_sampler=sampler, collate_fn=PadCollate(bounds, with_lengths=True))
    seen, widths = [], set()
    for ids, numbers, lengths in loader:
        widths.add(ids.shape[1])
        for row, number, length in zip(ids.numpy(), numbers.tolist(), lengths.tolist(), strict=True):
            assert (row[:length] == number + 1).all() and not row[length:].any() and length == LENGTHS[number]
            seen.append(number)
    assert sorted(seen) == list(range(50)) and widths <= set(bounds) and len(loader) == len(sampler)


def test_one_program_for_each_bucket():
    bounds = [16, 32, 64]
    sampler = BucketBatchSampler(LENGTHS, bounds, [8, 4, 2], drop_last=True)
    total = paddle.jit.to_static(lambda ids, lengths: (ids.sum(1) / lengths).sum())
    for ids, numbers, lengths in DataLoader(
        Sentences(), batch_sampler=sampler, collate_fn=PadCollate(bounds, with_lengths=True)
    ):
        assert total(ids, lengths).item() == pytest.approx(numbers.sum().item() + len(numbers), rel=1e-5)
    assert len(total.retraces) == 3


def test_settings_that_do_not_fit():
    with pytest.raises(ValueError, match="expected rising numbers"):
        BucketBatchSampler([1], [4, 4])
    with pytest.raises(ValueError, match="expected one for each"):
        BucketBatchSampler([1], [4, 8], [1])
    mapping = PadCollate([4])([{"x": np.ones((2, 3)), "y": 1}, {"x": np.ones((4, 3)), "y": 2}])
    assert mapping["x"].shape == (2, 4, 3) and mapping["y"].tolist() == [1, 2]
