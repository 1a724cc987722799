"""The op table once more: a static program gives what eager code gives, values and gradients, and survives JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

import paddle_lite_py as paddle
from op_calls import call, tensors
from ops_table import ROWS
from paddle_lite_py.core.interpreter import no_grad
from paddle_lite_py.ir import serialize
from paddle_lite_py.ir.verify import verify
from paddle_lite_py.tracing.executor import Executable
from paddle_lite_py.tracing.trace import trace

STATIC = [r for r in ROWS if not r.dynamic and r.inputs]


def flat(values):
    return [v for x in values for v in (x if isinstance(x, list) else [x])]


def regrouped(values, template):
    it = iter(values)
    return [[next(it) for _ in x] if isinstance(x, list) else next(it) for x in template]


@pytest.mark.parametrize("row", STATIC, ids=[f"{i}-{r.name}" for i, r in enumerate(STATIC)])
def test_static_equals_eager(row):
    args, leaves = tensors(row.sample(row.dtypes[0]), differentiable=row.grad)
    given = flat(args)
    with no_grad():
        want = call(row, args)

    def f(*values):
        return call(row, regrouped(values, args))

    traced = trace(
        f, [t._data for t in given], [not t.stop_gradient for t in given], [f"x{i}" for i in range(len(given))]
    )
    verify(traced.program)
    data = serialize.to_json(traced.program)
    assert serialize.to_json(serialize.from_json(json.loads(json.dumps(data)))) == data

    executable = Executable(traced, row.name)
    got = executable.run_with_grad(given) if any(traced.requires_grad) else executable.run(given)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        np.testing.assert_allclose(g.numpy(), w.numpy(), rtol=row.tol, atol=row.tol)
    if any(traced.requires_grad):
        compare_gradients(got, call(row, args), leaves, row.tol)


def compare_gradients(static, eager, leaves, tol):
    grads = []
    for outs in (static, eager):
        flowing = [o for o in outs if not o.stop_gradient]
        paddle.autograd.backward(flowing)
        grads.append([None if x.grad is None else x.grad.numpy() for x in leaves])
        for x in leaves:
            x.clear_gradient(False)
    for s, e in zip(*grads, strict=True):
        if s is None or e is None:
            assert not np.any(s if e is None else e)  # no gradient, and a gradient of zeros
        else:
            np.testing.assert_allclose(s, e, rtol=tol * 10, atol=tol * 10)
