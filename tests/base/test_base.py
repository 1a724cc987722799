"""Names below the public ones that programs import: the same things as in the public modules."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py import common_ops_import as ops


def test_functions_of_the_tensor_module():
    assert paddle.tensor.triu(paddle.ones([2, 2])).tolist() == [[1.0, 1.0], [0.0, 1.0]]
    assert paddle.tensor.search.argmax is paddle.argmax and paddle.tensor.manipulation.concat is paddle.concat
    with pytest.raises(AttributeError, match="no attribute 'tiru'"):
        paddle.tensor.tiru  # noqa: B018


def test_core_and_framework():
    assert paddle.base.core is paddle.framework.core
    assert isinstance(paddle.ones([1]), paddle.framework.core.eager.Tensor)
    assert paddle.base.core.is_compiled_with_cuda() == paddle.is_compiled_with_cuda()
    assert isinstance(paddle.nn.Linear(1, 1).weight, paddle.framework.io.EagerParamBase)
    assert paddle.framework.in_dynamic_mode() and paddle.base.dygraph.enabled()
    assert paddle.framework._current_expected_place() == paddle.CPUPlace()


def test_eager_code_in_static_mode(static_mode):
    assert not paddle.base.in_dygraph_mode()
    with paddle.base.dygraph.guard():
        assert paddle.base.dygraph.to_variable([1.0]).item() == 1.0
    assert not paddle.base.in_dygraph_mode()


def test_checks_of_arguments():
    assert ops.convert_dtype(paddle.bfloat16) == "bfloat16"
    ops.check_variable_and_dtype(paddle.ones([1]), "x", ["float32"], "f")
    with pytest.raises(TypeError, match="f: x is a int; expected"):
        ops.check_type(1, "x", str, "f")
    with pytest.raises(TypeError, match="f: x has the dtype float32; expected int32, int64"):
        ops.check_dtype(paddle.float32, "x", ["int32", "int64"], "f")


def test_operators_are_not_appended_by_name():
    with pytest.raises(NotImplementedError, match=r"LayerHelper\('yolo_box'\).append_op: operators are not"):
        ops.LayerHelper("yolo_box").append_op(type="yolo_box")


def test_kernels_by_name():
    for found in (
        paddle._C_ops.argsort(paddle.to_tensor([1.0, 3.0, 2.0]), 0, True),
        paddle._legacy_C_ops.argsort(paddle.to_tensor([1.0, 3.0, 2.0]), "axis", 0, "descending", True),
    ):
        assert [t.tolist() for t in found] == [[3.0, 2.0, 1.0], [1, 2, 0]]
    with pytest.raises(AttributeError, match="no kernel 'yolo'"):
        paddle._C_ops.yolo  # noqa: B018
