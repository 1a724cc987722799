"""Calls of an op, each with something changed, give what the op gives where nothing is kept of earlier calls.

A random walk over dtypes, gradients, the default dtype, numbers in the place of tensors and kinds of attributes. `make
test-all` walks further: CHANGING_CALLS says how far.
"""

from __future__ import annotations

import os
import random
import warnings
import zlib
from dataclasses import replace

import numpy as np
import pytest

import ops_table
import paddle_lite_py as paddle
from op_calls import call
from paddle_lite_py.core.interpreter import use
from paddle_lite_py.eager.execute import Eager
from paddle_lite_py.registry.bound import BoundOp

STEPS = int(os.environ.get("CHANGING_CALLS", "1"))
DTYPES = "float32", "float64", "int64", "int32", "bool", "float16", "complex64"


class Fresh(Eager):
    """Eager mode that binds each op anew, and knows no cached calls."""

    def run(self, bound, args):
        op, attrs, layout, default = bound.op, bound.attrs, bound.layout, bound.default
        anew = bound if default is None else BoundOp(op, op.pure(attrs, layout, default), attrs, layout, default)
        return super().run(anew, args)


def changed(rng, row):
    """Arguments for a call, and what surrounds it."""

    def one(value):
        if isinstance(value, list):
            return [one(v) for v in value]
        if value.dtype.kind == "f" and change == "dtype":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return value.astype(dtype)
        if value.dtype.kind == "f" and change == "signs":
            return -value
        return value

    change = rng.choice(("nothing", "dtype", "default", "gradients", "signs", "number", "attribute", "data"))
    dtype, sample = rng.choice(DTYPES), row.sample(row.dtypes[0], seed=rng.randrange(3) if change == "data" else 0)
    args = [one(a) for a in sample]
    attrs = dict(row.attrs)
    if change == "attribute" and attrs:
        name = rng.choice(sorted(attrs))
        attrs[name] = other(rng, attrs[name])
    if change == "number" and len(args) > 1:
        args[rng.randrange(len(args))] = rng.choice((0.0, -0.0, 1, True, 2.0, -1.5))
    return change, args, attrs, "float64" if change == "default" else "float32", change == "gradients"


def other(rng, value):
    if isinstance(value, bool):
        return rng.choice((not value, int(value)))
    if isinstance(value, int):
        return rng.choice((value + 1, -value, float(value)))
    if isinstance(value, float):
        return rng.choice((-value, 0.0, -0.0, value * 2))
    return list(value) if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else value


def outcome(row, args, attrs, default, stopped):
    """The results of a call, whether gradients flow out, and the gradients; or the type of its error."""
    leaves = []

    def make(value):
        if isinstance(value, list):
            return [make(v) for v in value]
        if not isinstance(value, np.ndarray):
            return value
        made = paddle.to_tensor(value, stop_gradient=stopped)
        leaves.append(made)
        return made

    paddle.seed(0)
    paddle.set_default_dtype(default)
    try:
        outs = call(replace(row, attrs=attrs), [make(a) for a in args])
        outs = [o for o in outs if isinstance(o, paddle.Tensor)]
        flowing = [o for o in outs if not o.stop_gradient]
        found = [(o.dtype, o.stop_gradient, o.numpy()) for o in outs]
        if flowing and row.grad and not any(o.dtype.is_complex for o in flowing):
            sum(o.astype("float64").sum() for o in flowing).backward()
            found += [(t.grad.dtype, None, t.grad.numpy()) for t in leaves if t.grad is not None]
        return found
    except Exception as e:
        return type(e)
    finally:
        paddle.set_default_dtype("float32")


def agree(found, right):
    if isinstance(found, type) or isinstance(right, type):
        return found is right
    if [f[:2] for f in found] != [r[:2] for r in right]:
        return False
    for (_, _, a), (_, _, b) in zip(found, right, strict=True):
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-4, equal_nan=a.dtype.kind in "fc"):
            return False
        if a.dtype.kind == "f" and not (np.signbit(a) == np.signbit(b))[~np.isfinite(b) & ~np.isnan(b)].all():
            return False
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("part", range(8))
def test_calls_that_change_give_what_fresh_calls_give(part):
    wrong = []
    for row in ops_table.ROWS[part::8]:
        rng = random.Random(zlib.crc32(str(row).encode()) + STEPS)
        for _ in range(STEPS):
            change, *given = changed(rng, row)
            found = [outcome(row, *given) for _ in range(2)]
            with use(Fresh()):
                right = outcome(row, *given)
            if not all(agree(f, right) for f in found):
                wrong.append((str(row), change, given, found[-1], right))
    assert not wrong, f"{len(wrong)}: {wrong[0]!r:.3000}"
