"""What published programs import though it is not public."""

from __future__ import annotations

import copy
import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn
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


def rosenbrock(x):
    return ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()


@pytest.mark.parametrize("name", ["minimize_bfgs", "minimize_lbfgs"])
def test_functions_are_minimized(name):
    minimize = getattr(paddle.incubate.optimizer.functional, name)
    start = paddle.to_tensor([-1.2, 1.0], "float64")
    done, calls, place, value, slope, *inverse = minimize(rosenbrock, start, max_iters=100, dtype="float64")
    np.testing.assert_allclose(place.numpy(), [1.0, 1.0], rtol=1e-6)
    assert done and calls < 100 and float(value) < 1e-12 and float(slope.abs().max()) < 1e-5
    for matrix in inverse:  # that of the Hessian at the minimum
        np.testing.assert_allclose(matrix.numpy(), [[0.5, 1.0], [1.0, 2.005]], rtol=0.1)
    for settings, error, text in (
        ({"dtype": "int32"}, ValueError, "dtype is 'int32'"),
        ({"line_search_fn": "hager_zhang"}, NotImplementedError, "expected 'strong_wolfe'"),
        ({"initial_inverse_hessian_estimate": -paddle.eye(2)}, ValueError, "positive definite"),
    ):
        with pytest.raises(error, match=text):
            minimize(rosenbrock, start, **settings)


REFUSED = [
    ("distributed.rpc.init_rpc", "run no functions"),
    ("device.xpu.memory_allocated", "no Kunlun XPU"),
    ("cuda.cudart", "belong to XLA"),
    ("cost_model.CostModel", "compile_for"),
    ("device.IPUPlace", "no Graphcore IPU"),
    ("incubate.graph_khop_sampler", "sample_neighbors"),
    ("nn.functional.flash_attention.flash_attention_v3_varlen", "kernel"),
]


@pytest.mark.parametrize("path, why", REFUSED)
def test_names_without_a_counterpart_say_so_when_called(path, why):
    module, _, name = path.rpartition(".")
    with pytest.raises(NotImplementedError, match=f"paddle.{path} is not available here: .*{why}"):
        getattr(importlib.import_module(f"paddle_lite_py.{module}"), name)()


def test_groups_of_inputs_have_scales():
    observer = paddle.quantization.observers.GroupWiseWeightObserver(group_size=64)
    weight = np.random.RandomState(0).randn(128, 3).astype("float32")
    layer = observer._instance(nn.Linear(128, 3))
    assert layer(paddle.to_tensor(weight)).shape == [128, 3] and layer.quant_axis() == -1
    np.testing.assert_allclose(layer.scales().numpy(), np.abs(weight).reshape(2, 64, 3).max(1))
    with pytest.raises(ValueError, match="a multiple of group_size=64"):
        layer(paddle.ones([100, 3]))
    with pytest.raises(TypeError, match="expected a Linear"):
        observer._instance(nn.ReLU())


GIVEN = paddle.ParamAttr(learning_rate=0.5)
LAYERS = [  # of which packages that build one layer from another read what they were given
    (lambda: nn.Conv2D(2, 2, 1, weight_attr=GIVEN, bias_attr=False), ("_param_attr", "_bias_attr")),
    (lambda: nn.Linear(2, 2, weight_attr=GIVEN, bias_attr=False), ("_weight_attr", "_bias_attr")),
    (lambda: nn.Embedding(3, 2, padding_idx=0, weight_attr=GIVEN), ("_weight_attr",)),
    (lambda: nn.BatchNorm2D(2, weight_attr=GIVEN, bias_attr=False), ("_weight_attr", "_bias_attr")),
    (lambda: nn.BatchNorm(2, param_attr=GIVEN, bias_attr=False), ("_param_attr", "_bias_attr")),
    (lambda: nn.LayerNorm(2, weight_attr=GIVEN, bias_attr=False), ("_weight_attr", "_bias_attr")),
    (lambda: nn.GroupNorm(1, 2, weight_attr=GIVEN, bias_attr=False), ("_weight_attr", "_bias_attr")),
]


@pytest.mark.parametrize("make, names", LAYERS)
def test_layers_keep_the_attributes_they_were_given(make, names):
    assert [vars(make())[name] for name in names] == [GIVEN, False][: len(names)]


def test_every_tensor_is_a_variable_in_dynamic_mode():
    x = paddle.ones([1])
    assert isinstance(x, paddle.static.Variable) and not isinstance(1.0, paddle.static.Variable)
    paddle.enable_static()
    assert not isinstance(x, paddle.static.Variable)


def test_subclasses_of_normalizations_call_their_checks():
    norm = nn.BatchNorm2D(2)
    norm._check_data_format("NHWC")
    with pytest.raises(ValueError, match="BatchNorm2D: data_format is 'NCL'"):
        norm._check_data_format("NCL")
    with pytest.raises(ValueError, match="an input of 4 dimensions"):
        norm._check_input_dim(paddle.ones([2, 2]))


def test_copies_of_parameters_have_names_after_theirs():
    layer = nn.Linear(2, 2)
    for copied, own in zip(copy.deepcopy(layer.parameters()), layer.parameters(), strict=True):
        assert re.fullmatch(re.escape(own.name) + r"_deepcopy_\d+", copied.name)


def test_the_switch_of_older_programs_tells_its_state():
    switch = paddle.jit.dy2static.program_translator.ProgramTranslator.get_instance()
    assert switch.enable_to_static
    switch.enable(False)
    assert not switch.enable_to_static
    switch.enable(True)


def test_sizes_that_a_program_leaves_open():
    @paddle.jit.to_static
    def doubled(x):
        paddle.jit.api.set_dynamic_shape(x, [-1, 2])
        return x * 2

    for rows in (1, 3):
        assert doubled(paddle.ones([rows, 2])).tolist() == [[2.0, 2.0]] * rows
    with pytest.raises(TypeError, match="variable is int, a tensor is expected"):
        paddle.jit.api.set_dynamic_shape(3, [-1])
    with pytest.raises(ValueError, match="shape_list has 1 sizes, variable has 2 dimensions"):
        paddle.jit.api.set_dynamic_shape(paddle.ones([1, 2]), [-1])
