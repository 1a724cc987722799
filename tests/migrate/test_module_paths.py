"""Module paths of PaddlePaddle: each name of the tables is found, and hot modules are asked for nothing more."""

from __future__ import annotations

import importlib
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.migrate import module_paths
from paddle_lite_py.migrate.unavailable import REASONS

TABLE = module_paths.table()
OF_USE = [name for name in TABLE if ".distributed" not in name]


@pytest.mark.parametrize("module", OF_USE)
def test_each_name_of_the_table_is_there(module: str):
    found = importlib.import_module(module.rstrip("+"))
    for name, (home, _) in module_paths.places(TABLE[module]).items():
        if home.startswith("!"):
            assert home[1:] in REASONS
        elif name != "*":
            assert hasattr(found, name), name


def test_a_module_of_the_table_is_no_file():
    computed = [name for name in TABLE if not name.endswith("+")]
    files = [n for n in computed if not isinstance(importlib.import_module(n), module_paths.ComputedModule)]
    assert not files


def test_paths_as_programs_write_them():
    assert paddle.nn.layer.norm.BatchNorm2D is paddle.nn.BatchNorm2D
    assert issubclass(paddle.nn.BatchNorm2D, getattr(paddle.nn.layer.norm, "_BatchNormBase"))  # noqa: B009
    assert issubclass(paddle.nn.InstanceNorm2D, getattr(paddle.nn.layer.norm, "_InstanceNormBase"))  # noqa: B009
    assert not issubclass(paddle.nn.BatchNorm, getattr(paddle.nn.layer.norm, "_BatchNormBase"))  # noqa: B009
    sharded = importlib.import_module("paddle_lite_py.distributed.fleet.meta_parallel.sharding.group_sharded_utils")
    assert sharded.Type(paddle.float16).name == "fp16"
    assert paddle.tensor.math.add is paddle.add
    assert paddle.framework.core.VarDesc.VarType.FP32 == paddle.float32
    assert paddle.base.core.eager.Tensor is paddle.Tensor
    assert paddle.batch.__name__ == "batch" and not isinstance(paddle.batch, module_paths.ComputedModule)


# Module and class, a class derived from it, and what both draw with the same settings.
INITIALIZERS = {
    "kaiming.MSRAInitializer": ("KaimingUniform", {"uniform": True}, {}),
    "kaiming.MSRAInitializer ": ("KaimingNormal", {"uniform": False, "fan_in": 3}, {"fan_in": 3}),
    "xavier.XavierInitializer": ("XavierUniform", {}, {}),
    "xavier.XavierInitializer ": ("XavierNormal", {"uniform": False, "gain": 2.0}, {"gain": 2.0}),
    "normal.NormalInitializer": ("Normal", {"loc": 1.0, "scale": 2.0}, {"mean": 1.0, "std": 2.0}),
    "normal.TruncatedNormalInitializer": ("TruncatedNormal", {"scale": 2.0}, {"std": 2.0}),
    "uniform.UniformInitializer": ("Uniform", {"low": 0.0}, {"low": 0.0}),
    "constant.ConstantInitializer": ("Constant", {"value": 2.0}, {"value": 2.0}),
    "assign.NumpyArrayInitializer": ("Assign", {"value": np.ones([4, 5])}, {"value": np.ones([4, 5])}),
}


@pytest.mark.parametrize("path", INITIALIZERS)
def test_initializers_by_the_classes_that_they_are_derived_from(path: str):
    module, name = path.strip().split(".")
    base = getattr(importlib.import_module(f"paddle_lite_py.nn.initializer.{module}"), name)
    derived, settings, own = INITIALIZERS[path]
    kind = getattr(paddle.nn.initializer, derived)
    assert issubclass(kind, base) and repr(kind(**own)).startswith(f"{derived}(")
    drawn = []
    for initializer in (base(**settings), kind(**own)):
        paddle.seed(3)
        drawn.append(paddle.create_parameter([4, 5], "float32", default_initializer=initializer).numpy())
    np.testing.assert_array_equal(*drawn)


def test_an_initializer_with_a_stream_and_a_diagonal():
    uniform = paddle.nn.initializer.uniform.UniformInitializer(seed=5, diag_num=3, diag_step=3, diag_val=9.0)
    a, b = (paddle.create_parameter([3, 3], "float32", default_initializer=uniform).numpy() for _ in range(2))
    np.testing.assert_array_equal(a, b)
    assert (a.diagonal() == 9).all() and (a == 9).sum() == 3


@pytest.mark.parametrize("module", ["nn", "nn.functional", "tensor", "ops"])
def test_modules_of_hot_paths_have_their_names_themselves(module: str):
    assert "__getattr__" not in vars(importlib.import_module(f"paddle_lite_py.{module}"))


def test_what_is_not_available_says_so_when_it_is_used():
    kernel = paddle.incubate.nn.functional.moe_combine
    with pytest.raises(NotImplementedError, match="paddle.incubate.nn.functional.moe_combine is not available here"):
        kernel(paddle.ones([1]))


def test_an_unknown_name_is_an_error():
    with pytest.raises(AttributeError, match="'paddle.nn.layer.norm' has no attribute 'no_such'"):
        _ = paddle.nn.layer.norm.no_such


def test_a_module_shows_all_that_it_has():
    found = paddle.nn.layer.activation.__dict__
    assert found["ReLU"] is paddle.nn.ReLU and {"GELU", "Softmax"} <= set(dir(paddle.nn.layer.activation))
    assert vars(paddle.tensor.math)["add"] is paddle.add


def test_settings_of_printing_and_types_of_arguments():
    shown = importlib.import_module("paddle_lite_py.tensor.to_string")
    assert shown.DEFAULT_PRINT_OPTIONS.threshold == 1000
    x, text_of = paddle.arange(8), vars(shown)["_format_tensor"]
    assert text_of(x, "") == "[0, 1, 2, 3, 4, 5, 6, 7]"
    assert text_of(x, True) == "[0, 1, 2, ..., 5, 6, 7]"
    types = importlib.import_module("paddle_lite_py._typing")
    assert isinstance(x, types.TensorOrTensors.__args__[0]) and isinstance("float32", types.DTypeLike)


def test_each_module_stands_on_one_line():
    text = (Path(module_paths.__file__).with_name("private_names.txt")).read_text(encoding="utf-8")
    modules = [line.partition(":")[0] for line in text.splitlines() if not line.startswith("#")]
    assert sorted(modules) == sorted(set(modules))
