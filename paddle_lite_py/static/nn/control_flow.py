"""Branches and loops on tensors, given as functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.errors import user_frame
from ...core.interpreter import state
from ...core.no_effect import NO_GRADIENT, Immaterial, no_effect
from ...eager.tensor import Tensor
from ...jit import functional

__all__ = ["Assert", "case", "cond", "switch_case", "while_loop"]

Branch = Callable[[], Any]


def _nothing() -> None:
    return None


@no_effect(return_names=Immaterial("results are told apart by where they stand"))
def cond(
    pred: Any, true_fn: Branch | None = None, false_fn: Branch | None = None, name: str | None = None,
    return_names: Any = None,
) -> Any:  # fmt: skip
    """Return true_fn() if pred is true, else false_fn().

    Arguments:
        pred: a boolean scalar.
        true_fn: a function without arguments; None: returns None.
        false_fn: a function without arguments that returns the same structure, shapes and dtypes; None: returns None.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: if a branch is not callable, or the branches return results of different kinds.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [1])
        ...     y = cond(x.sum() > 0, lambda: x * 2, lambda: -x)
        >>> [paddle.static.Executor().run(main, {"x": np.array([v], "float32")}, [y])[0].tolist() for v in (3, -3)]
        [[6.0], [3.0]]
        >>> paddle.disable_static()
    """
    yes, no = (_nothing if fn is None else fn for fn in (true_fn, false_fn))
    for which, fn in (("true_fn", yes), ("false_fn", no)):
        if not callable(fn):
            raise TypeError(f"cond: {which} is a {type(fn).__name__}; expected a function without arguments")
    if state.interpreter.is_eager or not isinstance(pred, Tensor):
        return (yes if bool(pred) else no)()
    return functional.cond(pred, yes, no)


def case(pred_fn_pairs: Sequence[Any], default: Branch | None = None, name: str | None = None) -> Any:
    """Return the result of the function of the first true predicate.

    Arguments:
        pred_fn_pairs: a list of (predicate, function) pairs; predicates are boolean scalars.
        default: function to call if no predicate is true; None: the last function.

    Returns:
        The result of the chosen function.

    Raises:
        TypeError: if the pairs are not (predicate, function).

    Examples:
        >>> x = paddle.to_tensor(3.0)
        >>> case([(x < 1, lambda: "small"), (x < 5, lambda: "middle")], default=lambda: "large")
        'middle'
    """
    pairs = list(pred_fn_pairs)
    if not pairs or not all(isinstance(p, tuple | list) and len(p) == 2 and callable(p[1]) for p in pairs):
        raise TypeError("case: pred_fn_pairs must be a list of (predicate, function)")
    if default is None:
        default = pairs.pop()[1]
    return _case(pairs, default)


def _case(pairs: list[Any], default: Branch) -> Any:
    if not pairs:
        return default()
    (pred, fn), rest = pairs[0], pairs[1:]
    return cond(pred, fn, lambda: _case(rest, default))


def switch_case(branch_index: Any, branch_fns: Any, default: Branch | None = None, name: str | None = None) -> Any:
    """Return the result of the function of an index.

    Arguments:
        branch_index: an integer scalar.
        branch_fns: a dict from indices to functions, a list of (index, function), or a list of functions.
        default: function for all other indices; None: the function of the largest index.

    Returns:
        The result of the chosen function.

    Raises:
        ValueError: if an index occurs twice.

    Examples:
        >>> switch_case(paddle.to_tensor(1), [lambda: "zero", lambda: "one"])
        'one'
    """
    if isinstance(branch_fns, dict):
        given = list(branch_fns.items())
    else:
        given = [tuple(f) if isinstance(f, tuple | list) else (i, f) for i, f in enumerate(branch_fns)]
    if len({i for i, _ in given}) < len(given):
        raise ValueError(f"switch_case: branch_fns has an index twice: {[i for i, _ in given]}")
    given.sort(key=lambda pair: pair[0])
    return _case([(branch_index == i, f) for i, f in given], given[-1][1] if default is None else default)


@no_effect(is_test=NO_GRADIENT)
def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Sequence[Any], is_test: bool = False,
    name: str | None = None,
) -> list[Any]:  # fmt: skip
    """Repeat `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` is true; differentiable.

    Arguments:
        cond: function from the loop variables to a boolean scalar.
        body: function from the loop variables to their next values, of the same shapes and dtypes.
        loop_vars: the initial values.

    Returns:
        The list of final values.

    Raises:
        TypeError: if cond or body is not callable, or an iteration changes the type of a variable.
        ValueError: if there are no loop variables, or body returns another number of them.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     n = paddle.static.data("n", [1], "int64")
        ...     i, total = while_loop(lambda i, t: i < n, lambda i, t: [i + 1, t + i], [n * 0, n * 0])
        >>> paddle.static.Executor().run(main, {"n": np.array([5])}, [total])[0].tolist()
        [10]
        >>> paddle.disable_static()
    """
    for which, fn in (("cond", cond), ("body", body)):
        if not callable(fn):
            raise TypeError(f"while_loop: {which} is a {type(fn).__name__}; expected a function")
    values = list(loop_vars)
    if not values:
        raise ValueError("while_loop: loop_vars is empty; a loop needs what it changes")

    def step(*given: Any) -> list[Any]:
        new = body(*given)
        new = list(new) if isinstance(new, list | tuple) else [new]
        if len(new) != len(values):
            raise ValueError(f"while_loop: body gives {len(new)} values, but there are {len(values)} loop_vars")
        return new

    if not state.interpreter.is_eager:
        return functional.while_loop(cond, step, values)
    while bool(cond(*values)):
        values = step(*values)
    return values


def Assert(cond: Tensor, data: Sequence[Tensor] | None = None, summarize: int = 20, name: str | None = None) -> None:
    """Stop a run with an error if `cond` is false.

    Arguments:
        cond: a boolean tensor with one element.
        data: tensors that the error shows.
        summarize: number of elements of each of them to show; -1: all.

    Raises:
        TypeError: if cond is not boolean.
        ValueError: when it runs, if cond is false.

    Examples:
        >>> paddle.enable_static()
        >>> main = paddle.static.Program()
        >>> with paddle.static.program_guard(main):
        ...     x = paddle.static.data("x", [2])
        ...     Assert(x.max() < 1.0, [x])
        >>> try:
        ...     paddle.static.Executor().run(main, {"x": np.array([1, 2], "float32")})
        ... except ValueError as e:
        ...     print(str(e).partition(" at ")[0], str(e).rpartition(": ")[2])
        Assert [1. 2.]
        >>> paddle.disable_static()
    """
    if not isinstance(cond, Tensor) or cond.dtype.np != np.bool_:
        raise TypeError(f"Assert: cond is {cond!r:.60}; expected a boolean tensor")
    where, shown = user_frame(), list(data or ())

    def error(*values: Tensor) -> ValueError:
        arrays = [np.asarray(v.numpy()).reshape(-1)[: None if summarize < 0 else summarize] for v in values]
        return ValueError(f"Assert at {where}: its condition is false: {', '.join(map(str, arrays))}".rstrip(": "))

    if not state.interpreter.is_eager:
        builder: Any = state.interpreter
        builder.check(cond.reshape([]), error, where, shown)
    elif not bool(cond):
        raise error(*shown)
