"""to_static and its switches."""

from __future__ import annotations

import functools
from typing import Any

import dy2static
from paddle_lite_py.nn.layer import Layer

from .cache import SIZE
from .runtime import RUNTIME
from .static_function import StaticFunction, settings


def to_static(
    function: Any = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: Any = None,
    full_graph: bool = True,
    cache_size: int = SIZE,
    **kwargs: Any,
) -> Any:
    """Compile a function, method, layer or whole training step.

    Arguments:
        function: what to compile; a Layer is given a compiled forward and returned itself. None: use as a decorator.
        input_spec: InputSpecs of the tensor arguments; unknown dimensions (None) do not cause new traces.
        build_strategy, backend: accepted for compatibility; XLA decides.
        full_graph: True: what cannot be staged is an error.
        cache_size: how many programs are kept; those used longest ago are dropped.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.jit.to_static
        ... def f(x):
        ...     if x.sum() > 0:
        ...         return x * 2
        ...     return -x
        >>> f(paddle.to_tensor([1.0, 2.0])).tolist(), f(paddle.to_tensor([-3.0])).tolist()
        ([2.0, 4.0], [3.0])
    """
    options: dict[str, Any] = {"input_spec": input_spec, "full_graph": full_graph, "cache_size": cache_size}
    if not isinstance(cache_size, int) or cache_size < 1:
        raise ValueError(f"to_static: cache_size is {cache_size!r}; it is the number of programs kept, at least 1")
    if function is None:
        return functools.partial(to_static, **options)
    if isinstance(function, StaticFunction):
        return function
    if isinstance(function, Layer):
        if not isinstance(function.forward, StaticFunction):
            object.__setattr__(function, "forward", StaticFunction(function.forward, **options))
        return function
    if isinstance(function, type) and issubclass(function, Layer):
        function.forward = StaticFunction(function.forward, **options)  # type: ignore[method-assign]
        return function
    if isinstance(function, classmethod | staticmethod):
        return type(function)(to_static(function.__func__, **options))
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"to_static takes a function, a method or a Layer, got {_text(function)}")
    return StaticFunction(function, **options)


def _text(x: Any) -> str:
    return f"the class {x.__name__}" if isinstance(x, type) else type(x).__name__


def not_to_static(function: Any = None) -> Any:
    """Mark a function to be called as it is while a program is traced."""
    return not_to_static if function is None else dy2static.do_not_convert(function)


def enable_to_static(flag: bool) -> None:
    """Switch all static functions on, or off so that they run eagerly as written."""
    settings.enabled = bool(flag)


def ignore_module(modules: Any) -> None:
    """Call the functions of these modules as they are while a program is traced."""
    listed = modules if isinstance(modules, list | tuple) else [modules]
    RUNTIME.ignored.update(m if isinstance(m, str) else m.__name__ for m in listed)
