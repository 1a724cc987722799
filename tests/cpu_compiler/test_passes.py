"""The list of passes: which may be left out, and that programs give the same results without them."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from paddle_lite_py.cpu_compiler import passes, prepare, rewriting

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(2, 3, 4)


def computed(x):
    y = jax.numpy.tanh(x.transpose(0, 2, 1) @ x)
    return (y.max(-1, keepdims=True) == y).sum() + y.sum()


@pytest.mark.parametrize("name", [p.name for p in passes.PASSES if p.row])
def test_a_pass_may_be_left_out(name, monkeypatch):
    monkeypatch.setenv(passes.SKIP, f"{name}, fusion")
    left = passes.chosen()
    assert {name, "fusion"}.isdisjoint(p.name for p in left) and "compared" in [p.name for p in left]
    monkeypatch.setattr(rewriting, "CHOSEN", left)
    np.testing.assert_allclose(jax.jit(prepare(computed))(X), computed(X), rtol=1e-6)


@pytest.mark.parametrize("name", ["layout", "compared"])
def test_other_names_are_refused(name, monkeypatch):
    monkeypatch.setenv(passes.SKIP, name)
    with pytest.raises(
        ValueError, match=rf"FLAGS_skip_cpu_passes names {name}; the passes that may be left out are .*'layouts'"
    ):
        passes.chosen()
