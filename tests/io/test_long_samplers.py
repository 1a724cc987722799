"""Samplers of programs that count steps and not epochs."""

from __future__ import annotations

import itertools

import numpy as np

import paddle_lite_py as paddle


def test_a_random_sampler_of_very_many_indices_draws_them_when_they_are_read():
    np.random.seed(1)
    many = [*itertools.islice(paddle.io.RandomSampler(range(9), True, 10**10), 5)]
    np.random.seed(1)
    assert many == [*paddle.io.RandomSampler(range(9), True, 5)]
