"""paddle.cuda: devices under the names of CUDA, with a GPU or without."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_cuda_answers_without_a_gpu():
    assert paddle.cuda.current_device() == 0 and paddle.cuda.manual_seed_all is paddle.seed
    paddle.cuda.empty_cache()


def test_devices_under_the_names_of_cuda():
    state = paddle.cuda.get_rng_state()
    first = paddle.rand([2]).tolist()
    paddle.cuda.set_rng_state(new_state=state)
    assert paddle.rand([2]).tolist() == first
    assert paddle.cuda.FloatTensor(2, 3).shape == [2, 3] and paddle.cuda.is_initialized()
    told = pytest.warns(UserWarning, match="backends=3 has no effect")
    with told, pytest.raises(ValueError, match="backends is 3; expected"), paddle.nn.attention.sdpa_kernel(3):
        pass
