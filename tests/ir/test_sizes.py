"""Symbolic dimensions."""

from __future__ import annotations

import json

import jax
import numpy as np
from jax import export

import paddle_lite_py as paddle
from paddle_lite_py.ir import serialize
from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.verify import verify
from paddle_lite_py.tracing.executor import Executable
from paddle_lite_py.tracing.trace import trace


def test_symbolic_dimensions_flow_and_are_solved_at_run_time():
    (batch,) = export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct((batch, 4), "float32")

    def f(x):
        y = x.reshape([x.shape[0] * 2, 2])
        return y, paddle.full([x.shape[0]], 1.0) + x.sum(axis=1)

    found = trace(f, [spec], [False], ["x"])
    verify(found.program)
    assert "b*2" in str(found.program).replace("2*b", "b*2")
    executable = Executable(found, "f")
    for n in (1, 3):
        y, z = executable.run([paddle.ones([n, 4])])
        assert y.shape == [2 * n, 2] and z.tolist() == [5.0] * n
    again = serialize.from_json(json.loads(json.dumps(serialize.to_json(found.program))))
    assert lower(again)(np.ones((5, 4), "float32"))[0].shape == (10, 2)
