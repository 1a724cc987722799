"""Comparing a function with what it is as a static one."""

from __future__ import annotations

import dataclasses

import numpy as np

import paddle_lite_py as paddle


def plain(value):
    """A result with arrays in the place of tensors."""
    if isinstance(value, paddle.Tensor):
        return value.numpy()
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    if dataclasses.is_dataclass(value):
        return plain(list(vars(value).values()))
    return {k: plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def agree(f, *argument_sets):
    """Checks that `f` compiled gives what `f` gives, for tensors made of each set of numbers."""
    static = paddle.jit.to_static(f)
    for numbers in argument_sets:
        numbers = numbers if isinstance(numbers, tuple) else (numbers,)
        expected = plain(f(*[paddle.to_tensor(x) for x in numbers]))
        found = plain(static(*[paddle.to_tensor(x) for x in numbers]))
        compare(found, expected)
    return static


def compare(found, expected):
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            compare(a, b)
    elif isinstance(expected, dict):
        assert found.keys() == expected.keys()
        compare(list(found.values()), list(expected.values()))
    elif isinstance(expected, str | None):
        assert found == expected
    else:
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-5, atol=1e-6)


SIGNS = ([1.0, -2.0, 3.0], [-1.0, -2.0, 0.5], [0.0, 0.0, 0.0])
