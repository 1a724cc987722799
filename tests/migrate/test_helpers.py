"""What published programs import though it is not public."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.migrate import helpers


def test_a_file_of_numbers(tmp_path: Path):
    file = tmp_path / "numbers"
    np.arange(6, dtype="float32").tofile(file)
    storage = paddle.MmapStorage(str(file), 24)
    assert storage.get_slice(dtype=paddle.float32, start=1, stop=6, step=2).tolist() == [1.0, 3.0, 5.0]
    assert storage.get_slice(stop=4).dtype == "uint8"
    with pytest.raises(ValueError, match="nbytes is 25, and .* has 24 bytes"):
        paddle.MmapStorage(str(file), 25)


def test_random_numbers_of_a_batch():
    found = paddle.tensor.random.uniform_random_batch_size_like(paddle.ones([1, 3]), [2, 4], "float32", 1, 1, 2.0, 3.0)
    assert found.shape == [2, 3] and (found >= 2).all() and (found <= 3).all()


def test_operators_that_may_be_quantized():
    found = paddle.static.quantization.quant_config
    assert found.SUPPORT_WEIGHT_QUANTIZATION_OP_DICT["conv2d"] == [["Input", "Filter"], ["Output"]]
    assert found.SUPPORT_ACT_QUANTIZATION_OP_DICT["fill_constant"] == [[], ["Out"]]
    assert "conv2d" not in found.SUPPORT_ACT_QUANTIZATION_OP_DICT and len(found.SUPPORT_QUANTIZATION_OP_DICT) == 92


def test_names_of_older_launchers_and_data_sets():
    factory = helpers.DatasetFactory()
    assert type(factory.create_dataset("InMemoryDataset")).__name__ == "InMemoryDataset"
    with pytest.raises(ValueError, match="expected one of QueueDataset"):
        factory.create_dataset("Other")
    assert helpers.fans(paddle.ones([4, 3, 2])) == (6, 8)
    with pytest.raises(ValueError, match="two or more"):
        helpers.fans(paddle.ones([4]))
    paddle.seed(7)
    assert helpers.initial_seed() == 7
