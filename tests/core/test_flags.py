"""Flags of the framework."""

from __future__ import annotations

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core.switches import baseline_tier


def test_flags_are_kept():
    with pytest.warns(UserWarning, match="FLAGS_cudnn_batchnorm_spatial_persistent=True has no effect"):
        paddle.set_flags({"FLAGS_cudnn_batchnorm_spatial_persistent": True})
    assert paddle.get_flags(["FLAGS_cudnn_batchnorm_spatial_persistent"]) == {
        "FLAGS_cudnn_batchnorm_spatial_persistent": True
    }
    with pytest.raises(TypeError, match="'deterministic' is no name of a flag"):
        paddle.set_flags({"deterministic": True})
    with pytest.raises(ValueError, match="FLAGS_nothing is no flag, and was not set"):
        paddle.get_flags("FLAGS_nothing")


def test_values_have_the_types_of_the_reference(monkeypatch):
    names = ["FLAGS_eager_delete_tensor_gb", "FLAGS_benchmark", "FLAGS_allocator_strategy", "FLAGS_check_nan_inf_level"]
    assert list(paddle.get_flags(names).values()) == [0.0, False, "auto_growth", 0]
    monkeypatch.setenv("FLAGS_benchmark", "1")
    monkeypatch.setenv("FLAGS_mine", "text")
    assert paddle.get_flags(["FLAGS_benchmark", "FLAGS_mine"]) == {"FLAGS_benchmark": True, "FLAGS_mine": "text"}
    paddle.set_flags({"FLAGS_check_nan_inf": 0})
    assert paddle.get_flags("FLAGS_check_nan_inf")["FLAGS_check_nan_inf"] is False
    for value in ("maybe", None):
        with pytest.raises(ValueError, match="FLAGS_cse_max_count is .*; expected a value of the type int"):
            paddle.set_flags({"FLAGS_cse_max_count": value})


def test_who_asks_for_the_same_bits_waits_for_the_compiler(monkeypatch):
    monkeypatch.setattr(baseline_tier, "on", True)
    paddle.set_flags({"FLAGS_cudnn_deterministic": True})
    assert not baseline_tier.on
    paddle.set_flags({"FLAGS_cudnn_deterministic": False})
    assert baseline_tier.on


def doubled_until_large(x):
    while x.sum() < 100:
        x = x * 2
    return x


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_and_infinities_are_errors_also_after_a_loop(value):
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    finite, x = paddle.ones([2]), paddle.to_tensor([1.0, value])
    for form in (lambda f: f, paddle.jit.to_static):
        assert form(doubled_until_large)(finite).tolist() == [64, 64]
        for f in (lambda x: x * 2, lambda x: x.mean(), lambda x: x.sort()):
            assert form(f)(finite).max() > 0
            with pytest.raises((ValueError, FloatingPointError), match=f"invalid value .{value}."):
                form(f)(x)
    paddle.set_flags({"FLAGS_check_nan_inf": False})
    assert not paddle.isfinite(paddle.jit.to_static(lambda x: x * 2)(x)).all()
