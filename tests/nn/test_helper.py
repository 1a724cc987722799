"""What layers have of the reference's inner side: a helper, settings, sizes."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle


def test_layers_ask_their_helper_for_the_dtype_of_parameters():
    net = paddle.nn.Linear(2, 3)
    assert net._helper.get_default_dtype() == "float32" and net._helper.layer_type == net.full_name()
    with pytest.raises(NotImplementedError, match="append_op: operators are not"):
        net._helper.append_op(type="relu")


def test_settings_of_layers_without_parameters():
    pool = paddle.nn.AdaptiveAvgPool2D(1)
    assert pool._output_size == 1 and paddle.nn.Softmax()._axis == -1
    pool._output_size = 2
    assert pool(paddle.ones([1, 1, 4, 4])).shape == [1, 1, 2, 2]


def test_sizes_of_a_linear_layer_are_what_a_subclass_says():
    class Patched(paddle.nn.Linear):
        in_features = property(lambda self: self.weight.shape[0] * 10)

    class Own(paddle.nn.Linear):
        def __init__(self):
            super().__init__(2, 3)
            self.out_features = 7

    plain, own = paddle.nn.Linear(2, 3), Own()
    assert (plain.in_features, plain.out_features, Patched(2, 3).in_features, own.out_features) == (2, 3, 20, 7)
    assert "in_features=2, out_features=3" in repr(plain)


def test_names_begin_with_what_a_guard_says():
    unique = paddle.utils.unique_name
    with unique.guard("A"):
        assert unique.generate("fc") == "Afc_0"
        with unique.guard(b"B"):
            assert unique.generate("fc") == "Bfc_0"
        assert unique.generate("fc") == "Afc_1"
    with unique.guard():
        assert unique.generate("fc") == "fc_0"
