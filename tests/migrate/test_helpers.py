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


def test_names_of_published_programs_that_only_importing_does_not_test():
    from paddle_lite_py.io.dataloader.collate import default_collate_fn  # a module that is no file
    from paddle_lite_py.quantization.quanters.abs_max import FakeQuanterWithAbsMaxObserverLayer

    assert default_collate_fn([1, 2]).tolist() == [1, 2]
    assert isinstance(FakeQuanterWithAbsMaxObserverLayer(None), paddle.nn.Layer)
    assert paddle.framework.core.default_cpu_generator().get_state() is not None  # a function there, not the generator
    with pytest.raises(NotImplementedError, match="paddle.Dataset|paddle.io.Dataset"):
        paddle.dataset.mnist.train()


@pytest.mark.parametrize(("iteration", "expected"), [(0, False), (1, True)])
def test_a_range_of_iterations_that_is_profiled(iteration, expected):
    with helpers.job_schedule_profiler_range(iteration, 1, 3) as inside:
        assert inside is expected


def test_a_profiled_range_ends_the_program():
    with pytest.raises(SystemExit), helpers.job_schedule_profiler_range(2, 1, 3):
        pass
    with helpers.job_schedule_profiler_range(2, 1, 3, exit_after_prof=False):
        pass


def test_the_type_of_a_clipped_norm_is_remembered():
    assert not helpers.clip_in_wide_type(True)
    assert helpers.clip_in_wide_type(False) and not helpers.clip_in_wide_type()
    assert helpers.is_image_array(np.zeros((2, 2))) and not helpers.is_image_array(np.zeros(2))
