"""Sizes are kept in their shortest form, and have the same value as before."""

from __future__ import annotations

import pytest
from jax import export

from paddle_lite_py.core import symbolic
from paddle_lite_py.core.quotients import shortest

(H,) = export.symbolic_shape("h", constraints=["h >= 4"])


def halved(n, times):
    for _ in range(times):
        n = (n - 1) // 2 + 1
    return n


SIZES = {
    "strides": (lambda h: halved(h, 3), "floordiv(h + 7, 8)"),
    "a stride of a cut size": (lambda h: (h // 3 - 2) // 2, "floordiv(h, 6) - 1"),
    "multiples": (lambda h: (4 * halved(h, 2) + 6) // 2, "2*floordiv(h + 3, 4) + 3"),
    "a maximum": (lambda h: symbolic._FUNCTIONS["max"](halved(h, 2), 7) + 1, "max(floordiv(h + 3, 4), 7) + 1"),
    "a rest": (lambda h: halved(h, 1) % 4 - halved(h, 1), "mod(floordiv(h + 1, 2), 4) - floordiv(h + 1, 2)"),
    "a product": (lambda h: halved(h, 2) * h, "h*floordiv(h + 3, 4)"),
}


@pytest.mark.parametrize("name", SIZES)
def test_nested_divisions_are_merged(name):
    make, text = SIZES[name]
    (found,) = shortest((make(H),))
    assert str(found) == str(symbolic.evaluate_text(text, {"h": H}))
    assert [symbolic.evaluate(found, {"h": n}) for n in range(4, 80)] == [make(n) for n in range(4, 80)]
