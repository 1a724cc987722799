"""How tensors are printed: the texts are PaddlePaddle's."""

from __future__ import annotations

import numpy as np
import pytest

from paddle_lite_py.core import printing


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.float32(1.5), "1.50000000"),
        (np.array([True, False]), "[True , False]"),
        (np.array([1.0, 2.5], "float32"), "[1.        , 2.50000000]"),
        (np.array([-1.0, 2.5], "float64"), "[-1.       , 2.50000000]"),
        (np.array([np.nan, np.inf, -np.inf], "float32"), "[ nan ,  inf., -inf.]"),
        (np.array([1e-8, 1.0, 1e8], "float32"), "[0.00000001, 1.        , 100000000.]"),
        (np.array([[1, -20], [300, 4]]), "[[ 1 , -20],\n  [300,  4 ]]"),
        (np.array([1 + 2j, -1j], "complex64"), "[ (1.00000000+2.00000000j), (-0.00000000-1.00000000j)]"),
        (np.zeros([0, 3]), "[]"),
        (np.zeros([2, 0]), "[[],\n  []]"),
    ],
)
def test_elements_have_one_width(array, text):
    assert printing.text_of(np.asarray(array), 1) == text


def test_many_elements_are_shown_by_their_ends():
    text = printing.text_of(np.arange(2400).reshape(30, 80), 0)
    assert text.splitlines()[0] == "[[0   , 1   , 2   , ..., 77  , 78  , 79  ],"
    assert len(text.splitlines()) == 7 and text.splitlines()[3] == " ...,"


def test_long_lines_are_broken():
    lines = printing.text_of(np.arange(40), 7).splitlines()
    assert len(lines) == 3 and all(len(line) <= 80 for line in lines) and lines[1].startswith(" " * 8 + "18")
