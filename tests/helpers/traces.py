"""Tracing a function and running what was traced."""

from __future__ import annotations

from paddle_lite_py.ir.verify import verify
from paddle_lite_py.tracing.executor import Executable
from paddle_lite_py.tracing.trace import trace


def traced(fn, *args):
    found = trace(
        fn, [a._payload for a in args], [not a.stop_gradient for a in args], [f"x{i}" for i in range(len(args))]
    )
    verify(found.program)
    return found


def run(fn, *args):
    return Executable(traced(fn, *args), "f").run(args)


X = [1.0, 2.0]
