"""The library against the figures of PaddlePaddle; see library_cases.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import library_cases
import paddle_lite_py as paddle

GOLDEN = json.loads((Path(__file__).parent / "golden" / "library.json").read_text())


def numbers(values: list[Any]) -> np.ndarray:
    """Figures as numbers."""
    return np.array([complex(*v) if isinstance(v, list) else complex(v) for v in values])


@pytest.mark.parametrize("case", library_cases.CASES)
def test_figures(case: str):
    found, expected = library_cases.figures(library_cases.run(paddle, case)), GOLDEN[case]
    assert [f[:2] for f in found] == [e[:2] for e in expected]
    for have, want in zip(found, expected, strict=True):
        a, b = numbers(have[2]), numbers(want[2])
        size = np.max(np.abs(b[np.isfinite(b)]), initial=1.0)  # what cancels is exact to the size of its terms
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=3e-6 * size)


def test_nothing_else_is_recorded():
    assert GOLDEN.keys() == set(library_cases.CASES)
