"""The calls that jit.save saves of a layer or function: which static functions, and with which arguments."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from paddle_lite_py.core import structure as nested
from paddle_lite_py.nn.base import Layer
from paddle_lite_py.tracing.input_spec import InputSpec

from .pruned import fits
from .spec import SpecifiedCall, argument_names, flatten
from .static_function import StaticFunction


def static_of(layer: Any) -> tuple[StaticFunction, Any]:
    """Return a layer or function as a static function, and its owner.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(layer, Layer):
        forward = layer.forward
        static = forward if isinstance(forward, StaticFunction) else StaticFunction(forward)
        return static, layer
    if isinstance(layer, StaticFunction):
        return layer, getattr(layer.dygraph_function, "__self__", None)
    if callable(layer):
        return StaticFunction(layer), getattr(layer, "__self__", None)
    raise TypeError(f"jit.save takes a Layer or a function, got {type(layer).__name__}")


def other_methods(owner: Any, forward: StaticFunction) -> Iterator[tuple[str, StaticFunction]]:
    """Yield the static methods of a layer besides the one that is saved as forward."""
    if not isinstance(owner, Layer) or forward.__name__ != "forward":
        return
    for name in sorted({n for c in type(owner).__mro__ for n in vars(c)} | owner.__dict__.keys()):
        held = owner.__dict__.get(name) or getattr(type(owner), name, None)
        if name != "forward" and isinstance(held, StaticFunction):
            yield name, getattr(owner, name)


def call_of(static: StaticFunction, given: Any) -> tuple[SpecifiedCall, list[str] | None]:
    """Return the known arguments, as given here, declared, or of the last call; and which of them are saved."""
    declared = None if static._input_spec is None else SpecifiedCall(tuple(static._input_spec), {})
    if given is not None:
        call = SpecifiedCall(tuple(given), {})
        if declared is not None:
            return _against(static, call, declared)
        _check_complete(static, call)
        return call, None
    if declared is not None:
        return declared, None
    if static.last_call is not None:
        return static.last_call, None
    raise ValueError(
        f"jit.save of `{static.__name__}`: its arguments are not known; pass "
        "input_spec=[InputSpec([None, ...], dtype), ...], or call it once"
    )


class OpenCall(SpecifiedCall):
    """A call whose tensors may have any number of rows, as long as the function does not need it."""


def saved_call(static: StaticFunction, given: Any) -> tuple[SpecifiedCall, list[str] | None]:
    """Return the same for a file: PaddlePaddle's runs with other batches than the call that it was saved after."""
    call, kept = call_of(static, given)
    return (call if call is not static.last_call else _opened(call)), kept


def _opened(call: SpecifiedCall) -> OpenCall:
    structure, specs = flatten(*call)
    sizes = list(dict.fromkeys([s.shape[0] for s in specs if s.shape]))
    names = {n: f"batch_{i}" if i else "batch" for i, n in enumerate(sizes)}  # rows that are as many now stay so
    opened = [
        InputSpec([names[s.shape[0]], *s.shape[1:]], s.dtype, s.name, s.stop_gradient) if s.shape else s for s in specs
    ]
    return OpenCall(*nested.unflatten(structure, iter(opened)))


def _against(
    static: StaticFunction, call: SpecifiedCall, declared: SpecifiedCall
) -> tuple[SpecifiedCall, list[str] | None]:
    """Return the call that is given, held against what to_static was given; where it is shorter, a part of that."""
    specs, known = flatten(*call)[1], flatten(*declared)[1]
    names = [s.name or n for s, n in zip(known, argument_names(static.dygraph_function, *declared), strict=True)]
    if len(specs) < len(known):
        return declared, [s.name if s.name in names else n for s, n in zip(specs, names, strict=False)]
    for spec, other, name in zip(specs, known, names, strict=False):
        if not fits(spec, other):
            raise ValueError(
                f"jit.save of `{static.__name__}`: input_spec says that argument `{name}` is {spec}; to_static was "
                f"told {other}: give the one that is right in both places"
            )
    return call, None


def _check_complete(static: StaticFunction, call: SpecifiedCall) -> None:
    try:
        inspect.signature(static.dygraph_function).bind(*call.args, **call.kwargs)
    except TypeError as e:
        raise ValueError(f"jit.save of `{static.__name__}`: input_spec does not fit its arguments: {e}") from None
