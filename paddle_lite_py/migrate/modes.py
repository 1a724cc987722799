"""Decorators and blocks that published programs take from inner modules of PaddlePaddle."""

from __future__ import annotations

import functools
import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ..core.interpreter import no_grad
from ..core.no_effect import Immaterial, Refused, no_effect
from ..eager.tensor import Tensor
from ..ops import public

ops: Any = public  # its names come from the modules that define them


def wrap_decorator(decorator_func: Callable[..., Any]) -> Callable[..., Any]:
    """Make a decorator that keeps the signature of what it decorates.

    Args:
        decorator_func: takes a function and returns another one.

    Examples:
        >>> @wrap_decorator
        ... def twice(function):
        ...     return lambda *args: 2 * function(*args)
        >>> @twice
        ... def half(x):
        ...     return x / 2
        >>> half(3), str(inspect.signature(half))
        (3.0, '(x)')
    """

    @functools.wraps(decorator_func)
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        decorated = decorator_func(function)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return decorated(*args, **kwargs)

        call.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        return call

    return decorate


signature_safe_contextmanager = wrap_decorator(contextmanager)


_ONE_CONVERTER = Immaterial("one converter serves both of PaddlePaddle's")


@contextmanager
@no_effect(value=_ONE_CONVERTER)
def converter_guard(value: Any = True) -> Iterator[None]:
    """The block as it is, where PaddlePaddle chooses between its two converters of Python or changes one of them."""
    yield


class OpcodeExecutorCache:
    """What PaddlePaddle's runtime keeps of converted functions; here each static function keeps its own."""

    def clear(self) -> None:
        """Do nothing: what a static function keeps is checked in each call, and goes with the function."""


@no_effect(options=_ONE_CONVERTER)
def symbolic_translate(fn: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compile a function, and run what cannot be compiled as Python.

    Args:
        fn: a function of tensors.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> float(symbolic_translate(lambda x: x + 1 if x > 0 else x)(paddle.to_tensor(2.0)))
        3.0
    """
    from paddle_lite_py.jit import to_static  # jit is above this room

    return to_static(fn, full_graph=False)


_FOR_FILES = Immaterial("the function is compiled in this process, and nothing is written for it")


@no_effect(precision_mode=Refused("cast the layer: layer.to(dtype='float16')"), options=_FOR_FILES)
def inference(function: Any = None, *, precision_mode: str = "float32", **options: Any) -> Any:
    """Compile a layer or a function of tensors for inference; no gradient is recorded.

    Args:
        function: a layer, whose `forward` is replaced; or a function or method. None: return a decorator.
        precision_mode: "float32".

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = inference(paddle.nn.Linear(2, 3))
        >>> layer(paddle.ones([4, 2])).stop_gradient, is_inference_mode(layer)
        (True, True)
    """
    if function is None:
        return functools.partial(inference, precision_mode=precision_mode, **options)
    if is_inference_mode(function):
        return function
    if hasattr(function, "forward"):
        function.forward = inference(function.forward)
        return function
    from paddle_lite_py.jit import to_static  # jit is above this room

    compiled = to_static(function, full_graph=False)

    @functools.wraps(function)
    def infer(*args: Any, **kwargs: Any) -> Any:
        with no_grad():
            return compiled(*args, **kwargs)

    infer.for_inference = True  # type: ignore[attr-defined]
    return infer


def is_inference_mode(function: Any) -> bool:
    """Whether inference() has compiled a layer or a function."""
    return bool(getattr(getattr(function, "forward", function), "for_inference", False))


def as_tensors(xs: Any) -> Any:
    """Return a tensor as a tuple of one, a sequence as a tuple, and None as it is."""
    if isinstance(xs, Tensor):
        return (xs,)
    return tuple(xs) if isinstance(xs, list | tuple) else xs


def embedding_renorm_(x: Tensor, weight: Tensor, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """Scale the rows of a table that indices name to a largest norm, in place.

    Args:
        x: indices of any shape.
        weight: the table, [rows, width].
        max_norm: the largest norm that a row has afterwards.
        norm_type: the p of the p-norm.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> embedding_renorm_(paddle.to_tensor([1]), paddle.to_tensor([[3.0, 4.0], [6.0, 8.0]]), 5.0).round(4).tolist()
        [[3.0, 4.0], [3.0, 4.0]]
    """
    table = weight.detach()
    norms = ops.norm(table, p=norm_type, axis=1, keepdim=True)
    is_used = ops.zeros([table.shape[0], 1], "bool")
    is_used[ops.unique(x)] = True
    scale = ops.where(is_used & (norms > max_norm), max_norm / (norms + 1e-7), ops.ones_like(norms))
    weight.set_value(table * scale)
    return weight


def get_logger(name: str, level: int | str, fmt: str | None = None) -> logging.Logger:
    """Return a logger that writes to the error stream by itself.

    Args:
        name: the logger's name.
        level: its level.
        fmt: the format of its lines; None: the message alone.

    Examples:
        >>> get_logger("my.module", logging.INFO).propagate
        False
    """
    logger, handler = logging.getLogger(name), logging.StreamHandler()
    handler.setFormatter(logging.Formatter(fmt, "%a %b %d %H:%M:%S"))
    logger.setLevel(level)
    logger.handlers[:] = [handler]  # a second call writes no line twice
    logger.propagate = False
    return logger
