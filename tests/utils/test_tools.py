"""Small helpers: versions, unique names, nested containers, DLPack."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.capsules import Capsule


def test_versions():
    paddle.utils.require_version("2.0.0", "4.0")
    with pytest.raises(RuntimeError, match="this program requires at least 99.0.0"):
        paddle.utils.require_version("99.0.0")
    with pytest.raises(ValueError, match="min_version is 'new'"):
        paddle.utils.require_version("new")


def test_names_are_counted_once():
    from paddle_lite_py.nn import unique_name

    with unique_name.guard():
        assert [paddle.utils.unique_name.generate("fc"), unique_name.generate("fc")] == ["fc_0", "fc_1"]


def test_dlpack_both_ways():
    x = paddle.to_tensor([[1.0, 2.0]])
    capsule = paddle.utils.dlpack.to_dlpack(x)
    np.testing.assert_array_equal(paddle.utils.dlpack.from_dlpack(capsule).numpy(), x.numpy())


@pytest.mark.parametrize(("version", "at"), [({}, 8), ({"max_version": (1, 0)}, 40)])
def test_a_capsule_tells_its_device(version, at):
    capsule = np.arange(3.0).__dlpack__(**version)
    name = "dltensor_versioned" if version else "dltensor"
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    kind = ctypes.c_int32.from_address(pointer(capsule, name.encode()) + at)
    assert kind.value == 1
    kind.value = 2  # of a GPU
    assert Capsule(capsule).__dlpack_device__() == (2, 0)
    with pytest.raises(BufferError, match="cuda"):
        paddle.from_dlpack(capsule)


def test_what_is_no_capsule():
    used = np.arange(3.0).__dlpack__()
    paddle.from_dlpack(used)
    with pytest.raises(BufferError, match="serves once"):
        paddle.from_dlpack(used)
    with pytest.raises(BufferError, match="3 is no DLPack capsule"):
        paddle.from_dlpack(3)


def test_libraries_of_others_are_not_loaded():
    with pytest.raises(NotImplementedError, match=r"lib.so was compiled against Paddle's own library"):
        paddle.utils.cpp_extension.load_op_meta_info_and_register_op("lib.so")


def test_nested_containers():
    from collections import namedtuple

    pair = namedtuple("pair", "a b")
    nest = {"z": pair(1, [2]), "y": 3}
    assert paddle.utils.flatten(nest) == [3, 1, 2] and paddle.utils.flatten(5) == [5]
    assert paddle.utils.map_structure(lambda v: v * 2, nest) == {"z": pair(2, [4]), "y": 6}
    assert paddle.utils.map_structure(abs, -1) == 1 and paddle.utils.map_structure(abs, []) == []
    with pytest.raises(ValueError, match="1 values for 3 places"):
        paddle.utils.pack_sequence_as(nest, [1])
    with pytest.raises(ValueError, match=r"hold \[1, 2\] values"):
        paddle.utils.map_structure(max, [1], [1, 2])


def test_other_names_of_parameters():
    assert paddle.jit.not_to_static(func=lambda x: -x)(1) == -1
    assert paddle.sparse.sparse_csr_tensor([0, 1, 2], [1, 0], [3.0, 4.0]).shape == [2, 2]
    with pytest.raises(BufferError, match="copy=False"):
        paddle.utils.dlpack.from_dlpack(np.ones(2, "float32"), copy=False)
    assert paddle.utils.dlpack.from_dlpack(np.ones(2, "float32"), device="cpu", copy=True).tolist() == [1.0, 1.0]
