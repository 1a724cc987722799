"""Numbers that are equal and not the same (zeros of two signs; 1, 1.0 and True) are told apart by what remembers."""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
import pytest
from paddle_lite_py.jit import to_static

import paddle_lite_py as paddle
from paddle_lite_py.nn import functional as F
from paddle_lite_py.registry.op import REGISTRY

X = paddle.to_tensor([1.0, -2.0])
CALLS = {
    "full_like": lambda v: paddle.full_like(X, v),
    "clip": lambda v: paddle.clip(X, min=v),
    "pad": lambda v: F.pad(X, [1, 1], value=v),
    "where": lambda v: paddle.where(X > 0, v, X),
    "scale": lambda v: paddle.scale(X, v, bias_after_scale=False),
    "hardtanh": lambda v: F.hardtanh(X, v, 1.0),
    "nan_to_num": lambda v: paddle.nan_to_num(X * math.nan, v),
    "multiply": lambda v: X * v,
    "constant": lambda v: to_static(lambda x: x * paddle.to_tensor([v, v]))(X),
}


def signs(x):
    return np.signbit(x.numpy()).tolist()


@pytest.mark.parametrize("name", CALLS)
def test_zeros_of_two_signs(name: str):
    plus, minus = signs(CALLS[name](0.0)), signs(CALLS[name](-0.0))
    assert plus != minus
    for _ in range(3):  # what is remembered, and what is compiled then
        assert signs(CALLS[name](0.0)) == plus
        assert signs(CALLS[name](-0.0)) == minus


SIGN = 0.0
ARRAY = np.array([0.0])


def test_static_functions_tell_zeros_apart():
    @to_static
    def by_argument(x, v):
        return paddle.clip(x, min=v)

    @to_static
    def by_global(x):
        return x * SIGN

    @to_static
    def by_array(x):
        return x * float(ARRAY[0])

    global SIGN
    below = paddle.to_tensor([-1.0])
    for SIGN in (0.0, -0.0, 0.0):
        ARRAY[0] = SIGN
        wanted = [math.copysign(1, SIGN) < 0]
        assert signs(by_argument(below, SIGN)) == wanted
        assert signs(by_global(-below)) == wanted
        assert signs(by_array(-below)) == wanted


def test_operators_of_the_user_tell_what_tuples_hold():
    @paddle.utils.custom_op
    def weighted(x, /, weights=(1,)):
        return x * jnp.array(weights)

    one = paddle.to_tensor([1])
    for weights, kind in (((1,), "int64"), ((1.0,), "float64"), ((True,), "int64"), ((1,), "int64")):
        assert weighted(one, weights=weights).dtype.name == kind
    assert signs(weighted(one, weights=(0.0,))) == [False]
    assert signs(weighted(one, weights=(-0.0,))) == [True]


def test_each_nan_is_the_same_attribute():
    for _ in range(2):
        assert np.isnan(F.leaky_relu(X, float("nan")).numpy()[1])
    known = REGISTRY["leaky_relu"].known
    before = len(known)
    for _ in range(3):
        F.leaky_relu(X, float("nan"))
    assert len(known) == before
