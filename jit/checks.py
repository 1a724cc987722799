"""`assert` and `raise` under a tensor condition: carried out of the program as a code, and raised after the run.

A program with checks has one int32 of state; a check sets it to its own number unless an earlier one has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paddle_lite_py.builder import Builder
from paddle_lite_py.executor import Checks
from paddle_lite_py.tensor import Tensor


def check(builder: Builder, test: Tensor, kind: type[BaseException], message: Callable[[], Any] | None, where: Any) -> None:
    """Fail with kind(message) if `test` is false when the program runs."""
    args = () if message is None else (message(),)
    _flag(builder, test.logical_not(), lambda: kind(*args), where)


def fail(builder: Builder, exc: BaseException, where: Any) -> None:
    """Fail with `exc` if the program reaches this place."""
    _flag(builder, None, lambda: exc, where)


def _flag(builder: Builder, failed: Tensor | None, make: Callable[[], BaseException], where: Any) -> None:
    if builder.checks is None:
        builder.checks = Checks()
    number = builder.checks.add(make, where)
    code = builder.checks.code
    hit = code == 0 if failed is None else (code == 0).logical_and(failed)
    code._set_payload((code * hit.logical_not().astype("int32") + hit.astype("int32") * number)._data)
