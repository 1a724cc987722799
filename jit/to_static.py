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
    """Compile a function, method, layer or whole training step with XLA.

    The function is traced and compiled once for each kind of call (shapes and dtypes of tensors, values of other
    arguments) and then runs as one program. Small tensors whose shapes keep changing are an exception: after two shapes
    that did not recur, a new shape is compiled only when it occurs a second time; until then the function runs eagerly,
    and results may differ in the last digits.

    Arguments:
        function: what to compile; of a Layer, forward() is compiled and the layer returned. None: return a decorator.
        input_spec: InputSpecs of the tensor arguments; dimensions of unknown size (None) do not cause new traces.
        full_graph: True: raise an error for code that cannot be compiled. False or None: split the function there; the
            parts before and after run compiled, the statement itself runs as Python, and a warning names its line.
        cache_size: number of compiled programs to keep; the least recently used are dropped.
        check: run the original function next to each compiled run and raise an error that names the first operator and
            line whose values differ; slow. PADDLE_LITE_CHECK=1 enables it globally. Default: False.
        buckets: sizes such as [32, 64, 128], or {"seq": [...]} by dimension name. Dimensions of unknown size are
            zero-padded to the next of these sizes, and results are cut back, so that few sizes are compiled.
        passes: passes to apply to each program before it is compiled, names or objects; see paddle.passes. Default: ().
        property: for a method without arguments whose value jit.save() stores. Default: False.

    Returns:
        A StaticFunction; for a Layer, the layer.

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
    """Mark a function that is not converted when a program is traced; also a decorator.

    Arguments:
        func: the function; None: return a decorator.

    Returns:
        The function.

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
    """Enable or disable compilation globally; when disabled, static functions run eagerly as written.

    Arguments:
        enable_to_static_bool: True to compile.

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
    """Print a line for each trace of a static function.

    Arguments:
        level: above 0: print; 0: do not print. Default: 0.
        also_to_stdout: print to stdout as well. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.jit.set_verbosity(0)
    """
    settings.verbosity = int(level)


@no_effect(also_to_stdout=PRINTED)
def set_code_level(level: int = 100, also_to_stdout: bool = False) -> None:
    """Print the converted code of static functions when they are traced.

    Arguments:
        level: above 0: print; 0: do not print. Default: 100.
        also_to_stdout: print to stdout as well. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.jit.set_code_level(0)
    """
    settings.code_level = int(level)


def ignore_module(modules: Any) -> None:
    """Do not convert the functions of some modules when a program is traced.

    Arguments:
        modules: a module or a list of modules.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import textwrap
        >>> paddle.jit.ignore_module([textwrap])
    """
    listed = modules if isinstance(modules, list | tuple) else [modules]
    RUNTIME.ignored.update(m if isinstance(m, str) else m.__name__ for m in listed)
