"""The ops of the table on arguments of any shape and dtype: a Python error or a result, and the same in programs."""

from __future__ import annotations

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import paddle_lite_py as paddle
from op_calls import ERRORS, call
from ops_table import ROWS

# Few, so that compiled programs are met again; among them no elements, and numbers without a dimension.
SHAPES = [(), (0,), (1,), (3,), (2, 3), (2, 0), (3, 3), (2, 3, 1)]
DTYPES = ["float32", "int64", "bool", "float16", "complex64"]
TABLE = [r for r in ROWS if not r.dynamic and r.inputs and not any(isinstance(i, list) for i in r.inputs)]


def array(shape, dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 3, shape) if dtype in ("int64", "bool") else rng.standard_normal(shape)
    return np.asarray(values).astype(dtype)


def outcome(run):
    """The results as arrays, or the type of the error."""
    try:
        return [np.asarray(t.numpy()) if isinstance(t, paddle.Tensor) else t for t in run()]
    except ERRORS as e:
        assert str(e).strip()
        return type(e)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_crash_and_programs_agree(data):
    row = data.draw(st.sampled_from(TABLE))
    kinds = [(data.draw(st.sampled_from(SHAPES)), data.draw(st.sampled_from(DTYPES))) for _ in row.inputs]
    tensors = [paddle.to_tensor(array(s, d, i)) for i, (s, d) in enumerate(kinds)]
    eager = outcome(lambda: call(row, tensors))
    static = outcome(lambda: paddle.jit.to_static(lambda *a: call(row, a))(*tensors))
    if isinstance(eager, type) or isinstance(static, type):
        # A program cannot look at an index: where eager mode refuses one, it reads NaN.
        assert isinstance(eager, type), (row, kinds, static)
        return
    for e, s in zip(eager, static, strict=True):
        if isinstance(e, np.ndarray):
            assert (e.shape, e.dtype) == (s.shape, s.dtype)
            np.testing.assert_allclose(e.astype("complex128"), s.astype("complex128"), rtol=1e-2, atol=1e-2)
