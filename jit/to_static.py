"""to_static and its switches."""

from __future__ import annotations

import functools
from typing import Any

import dy2static
from paddle_lite_py.core.no_effect import FUSING, Immaterial, no_effect, only_known
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.input_spec import InputSpec

from .cache import SIZE
from .options import DEFAULTS, CompileOptions, settings
from .runtime import RUNTIME
from .static_function import StaticFunction


@no_effect(
    build_strategy=FUSING,
    backend="XLA compiles the program",
)
def to_static(
    function: Any = None,
    input_spec: Any = None,
    build_strategy: Any = None,
    backend: Any = "CINN",
    full_graph: bool | None = None,
    cache_size: int = SIZE,
    check: bool = False,
    buckets: Any = None,
    passes: Any = (),
    *,
    property: bool = False,
    **kwargs: Any,
) -> Any:
    """Compile a function, method, layer or whole training step.

    Each kind of call is compiled when it comes first, but for small tensors in shapes that keep changing: once two such
    shapes have come that have not come again, a new one is compiled when it comes again, and until then the function
    itself runs, with results that may differ in their last digits.

    Arguments:
        function: what to compile; a Layer is given a compiled forward and returned itself. None: use as a decorator.
        input_spec: InputSpecs of the tensor arguments; unknown dimensions (None) do not cause new traces.
        full_graph: True: what cannot be staged is an error. False, as None: the function is split there; the parts
            before and after run compiled, the statement itself as Python, and a warning names its line.
        cache_size: how many programs are kept; those used longest ago are dropped.
        check: run the function as it is beside each static run (which is slow, and prints twice), and raise an error
            that names the first operator and line whose values differ. PADDLE_LITE_CHECK=1 does so for all.
        buckets: sizes such as [32, 64, 128], or {"seq": [...]} by the name of a dimension: unknown dimensions are
            padded with zeros up to the next one, and results cut back, so that few lengths are compiled.
        passes: what to do to each program before it is compiled: names of passes, and passes; see paddle.passes.
        property: for a method without arguments, whose value jit.save keeps.

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
    only_known(to_static, kwargs)
    if not isinstance(cache_size, int) or cache_size < 1:
        raise ValueError(f"to_static: cache_size is {cache_size!r}; it is the number of programs kept, at least 1")
    if buckets is not None and input_spec is None:
        raise ValueError("to_static: buckets= needs an input_spec whose unknown dimensions (None) they are for")
    if isinstance(input_spec, InputSpec):
        raise TypeError("to_static: input_spec is one InputSpec; expected a list of them: input_spec=[InputSpec(...)]")
    input_spec = [] if property else input_spec
    options = CompileOptions(bool(full_graph), cache_size, check, buckets, passes)
    if function is None:
        return functools.partial(_compile, input_spec=input_spec, options=options)
    return _compile(function, input_spec, options)


def _compile(function: Any, input_spec: Any, options: CompileOptions) -> Any:
    if isinstance(function, StaticFunction):
        asks = input_spec is not None or options != DEFAULTS
        return StaticFunction(function.dygraph_function, input_spec, options) if asks else function
    if isinstance(function, Layer):
        object.__setattr__(function, "forward", _compile(function.forward, input_spec, options))
        return function
    if isinstance(function, type) and issubclass(function, Layer):
        function.forward = StaticFunction(function.forward, input_spec, options)  # type: ignore[method-assign]
        return function
    if isinstance(function, classmethod | staticmethod):
        return type(function)(_compile(function.__func__, input_spec, options))
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"to_static takes a function, a method or a Layer, got {_text(function)}")
    return StaticFunction(function, input_spec, options)


def _text(x: Any) -> str:
    return f"the class {x.__name__}" if isinstance(x, type) else type(x).__name__


def not_to_static(func: Any = None) -> Any:
    """Mark a function to be called as it is while a program is traced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.jit.not_to_static
        ... def plain(x):
        ...     return x * 2
        >>> paddle.jit.to_static(lambda x: plain(x) + 1)(paddle.ones([1])).item()
        3.0
    """
    return not_to_static if func is None else dy2static.do_not_convert(func)


def enable_to_static(enable_to_static_bool: bool) -> None:
    """Switch all static functions on, or off so that they run eagerly as written.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x + 1)
        >>> paddle.jit.enable_to_static(False)
        >>> f(paddle.ones([1])).item()
        2.0
        >>> paddle.jit.enable_to_static(True)
    """
    settings.enabled = bool(enable_to_static_bool)


PRINTED = Immaterial("it is printed there anyway")


@no_effect(also_to_stdout=PRINTED)
def set_verbosity(level: int = 0, also_to_stdout: bool = False) -> None:
    """Above 0: print a line for each trace of a static function.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.jit.set_verbosity(0)
    """
    settings.verbosity = int(level)


@no_effect(also_to_stdout=PRINTED)
def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Above 0: print the converted code of a static function when it is traced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.jit.set_code_level(0)
    """
    settings.code_level = int(level)


def ignore_module(modules: Any) -> None:
    """Call the functions of these modules as they are while a program is traced.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import textwrap
        >>> paddle.jit.ignore_module([textwrap])
    """
    listed = modules if isinstance(modules, list | tuple) else [modules]
    RUNTIME.ignored.update(m if isinstance(m, str) else m.__name__ for m in listed)
