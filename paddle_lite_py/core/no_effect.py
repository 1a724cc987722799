"""Arguments that programs give and that change nothing here: declared next to the function, with the reason.

    @no_effect(use_cudnn="XLA chooses the kernels itself", table_class=Refused("there are no parameter servers"))
    def layer(x, use_cudnn=True, table_class="Table"): ...

A call that passes another value than the default gets a warning, once for each argument, where the result is right
and only a wish (speed, memory, place) is not met, and raises where the result would be wrong. docs/differences.md has
the table of all declarations.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import jax

from .errors import is_own

F = TypeVar("F", bound=Callable[..., Any])
_JAX_DIR = os.path.dirname(jax.__file__) + os.sep
# Rooms and files whose functions users find elsewhere.
_INNER = frozenset("core registry dispatch eager ir tracing ops migrate common_ops_import".split())
_NOWHERE = sys.maxsize  # of an argument that is given by name only


class NoEffectWarning(UserWarning):
    """An argument was given that has no effect here; the result is right all the same."""


class UnknownKeywordError(TypeError, ValueError):
    """A function was given a keyword that it does not know; Python raises the one, PaddlePaddle often the other."""


class RefusedArgumentError(NotImplementedError, ValueError):
    """A function was given an argument that it cannot take; PaddlePaddle often raises the other one."""


class Refused(str):
    """The reason why an argument cannot be taken: without its effect the result would be wrong."""


class Immaterial(str):
    """The reason why no warning is needed for an argument: any value gives the result that the user expects."""


# Arguments of any function that change nothing that a user can see, in PaddlePaddle on a CPU either.
EXEMPT = {
    "name": "a label of the operation, without effect on the result",
    "blocking": "a read of the tensor's data waits for them",
    "non_blocking": "a read of the tensor's data waits for them",
    "force": "a tensor on any device is copied, whether it requires a gradient or not",
    "pin_memory": "XLA pins the memory of its transfers",
    "sync_op": "a read of an exchange's result waits for it",
    "use_calc_stream": "a read of an exchange's result waits for it",
}
# Reasons that several functions share.
AT_HAND = Immaterial("the scope is at hand without running a program")
KERNELS = "XLA chooses the kernels itself"
DENSE = "gradients are dense"
FUSING = "XLA decides what it fuses and computes in place"
MEMORY = "XLA decides what is computed in place"
NO_QUANT = Immaterial("the scale that would ask for 8 bits is refused")
NO_ROTARY = Immaterial("the tensors of rotary embedding are refused")
ONE_PROCESS = Immaterial("this is done in each process by itself")
AT_ONCE = Immaterial("all of them travel together")
NO_GRADIENT = Immaterial("nothing is kept for gradients that nobody takes")
NOT_DRAWN = "the graph of gradients is not drawn"
ONE_STREAM = Immaterial("one stream of random numbers serves all")


class Declaration(NamedTuple):
    """That an argument of a function has no effect, and why; without an argument, that the whole call has none."""

    function: Callable[..., Any]
    argument: str
    reason: str
    at: int = _NOWHERE  # its position
    default: Any = None

    @property
    def told(self) -> str:
        """Return what a call with the argument does."""
        return {Refused: "raises", Immaterial: "nothing"}.get(type(self.reason), "warns")


DECLARATIONS: list[Declaration] = []
_told: set[tuple[str, str]] = set()


def no_effect(whole: str = "", /, **reasons: str) -> Callable[[F], F]:
    """Declare arguments of a function that have no effect; stands next to the `def`.

    Arguments:
        whole: the reason why the call as a whole has no effect.
        reasons: for each argument the reason: plain text where a call warns, Refused or Immaterial elsewhere.

    Raises:
        TypeError: if the function has no such parameter.

    Examples:
        >>> @no_effect(fast="there is one way")
        ... def double(x, fast=False):
        ...     return 2 * x
        >>> with warnings.catch_warnings(record=True) as told:
        ...     warnings.simplefilter("always")
        ...     double(2), double(2, fast=True)
        (4, 4)
        >>> print(told[0].message)
        double: fast=True has no effect: there is one way
    """

    def declaring(function: F) -> F:
        declared = [_declaration(function, name, reason) for name, reason in reasons.items()]
        declared += [Declaration(function, "", whole)] * bool(whole)
        DECLARATIONS.extend(declared)
        telling = [d for d in declared if d.told != "nothing"]
        return _warn_of_no_effect(function, telling) if telling else function

    return declaring


def _declaration(function: Callable[..., Any], name: str, reason: str) -> Declaration:
    parameters = inspect.signature(function).parameters
    if name not in parameters:
        raise TypeError(f"no_effect: {function.__qualname__}() has no parameter {name!r}")
    p = parameters[name]
    at = _NOWHERE if p.kind is p.KEYWORD_ONLY else list(parameters).index(name)
    return Declaration(function, name, reason, at, p.default)


def _warn_of_no_effect(function: F, declared: list[Declaration]) -> F:
    """The function, with a look at calls that give more than the arguments that have an effect."""
    names = frozenset(d.argument for d in declared)
    first = -1 if "" in names else min(d.at for d in declared)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if len(args) > first or (kwargs and not names.isdisjoint(kwargs)):
            for d in declared:
                _look(d, args, kwargs)
        return function(*args, **kwargs)

    return wrapper  # type: ignore[return-value]


def _look(d: Declaration, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    value = kwargs[d.argument] if d.argument in kwargs else args[d.at] if len(args) > d.at else d.default
    if not d.argument:
        tell(d.function, "", None, d.reason)
    elif value is not d.default and not (value.__class__ is d.default.__class__ and value == d.default):
        tell(d.function, d.argument, value, d.reason)


def tell(function: Callable[..., Any], argument: str, value: Any, reason: str) -> None:
    """Say, once, that an argument (or a call) has no effect; or raise, where the reason is Refused.

    Raises:
        RefusedArgumentError: where the result would be wrong.
    """
    name = public_name(function)
    shown = repr(value) if isinstance(value, bool | int | float | str | None) else f"<{type(value).__name__}>"
    if isinstance(reason, Refused):
        raise RefusedArgumentError(f"{name}: {argument}={shown} is not available: {reason}")
    if (name, argument) not in _told:
        text = f"{name}: {argument}={shown}" if argument else f"{name}()"
        warnings.warn_explicit(f"{text} has no effect: {reason}", NoEffectWarning, *_user_line(), registry={})
        _told.add((name, argument))  # not before: where warnings are errors, each call is one


def _user_line() -> tuple[str, int]:
    """Return the innermost line on the stack that is neither ours nor JAX's, which traces our ops."""
    frame = sys._getframe(2)
    while frame.f_back is not None and _is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def _is_inner(filename: str) -> bool:
    return is_own(filename) or filename.startswith((_JAX_DIR, "<frozen"))


def public_name(function: Callable[..., Any]) -> str:
    """Return the shortest name by which users find a function of the package, without that of the package."""
    path = function.__qualname__.removesuffix(".__init__")
    first = path.partition(".")[0]
    found = [
        name for name in list(sys.modules) if _is_public(name) and _is_named_in(sys.modules[name], first, function)
    ]
    if not found:
        method: Any = getattr(getattr(sys.modules["paddle_lite_py"], "Tensor", None), path, None)
        return f"Tensor.{path}" if inspect.unwrap(method) is function else path
    own = function.__module__
    where = min(found, key=lambda name: (name.count("."), not own.startswith(name), name)).partition(".")[2]
    return f"{where}.{path}" if where else path


def _is_public(module: str) -> bool:
    package, *inner = module.split(".")
    return package == "paddle_lite_py" and not any(part.startswith("_") or part in _INNER for part in inner)


def _is_named_in(module: Any, name: str, function: Callable[..., Any]) -> bool:
    found = getattr(module, name, None)
    return getattr(found, "__qualname__", None) == name and getattr(found, "__module__", None) == function.__module__


def only_known(function: Callable[..., Any], given: Iterable[str], *known: str) -> None:
    """Raise for keywords that a function does not know, with the one that was meant.

    Arguments:
        given: what its `**kwargs` holds.
        known: what of that it does know.

    Raises:
        UnknownKeywordError: if there is another.

    Examples:
        >>> def draw(width=1, **style):
        ...     only_known(draw, style, "color")
        >>> try:
        ...     draw(colour="red")
        ... except TypeError as e:
        ...     print(e)
        draw() got an unexpected keyword argument 'colour'; did you mean 'color'?
    """
    for name in given:
        if name not in known:
            names = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
            raise _unknown(public_name(function), name, [*names, *known])


def only_known_settings(cls: type, given: Iterable[str]) -> None:
    """The same for a class of the package that is made with these keywords; a user's own says it in Python's words.

    Raises:
        UnknownKeywordError: if its `__init__` does not know one.
    """
    made: Any = getattr(cls, "__init__")  # noqa: B009
    code = getattr(made, "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS or not cls.__module__.startswith("paddle_lite_py."):
        return
    known = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    for name in given:
        if name not in known:
            raise _unknown(cls.__name__, name, known)


def _unknown(called: str, name: str, known: Sequence[str]) -> UnknownKeywordError:
    """Return the error for a keyword that is not among those known, with the one that was meant."""
    near = difflib.get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(known)}"
    return UnknownKeywordError(f"{called}() got an unexpected keyword argument {name!r}; {hint}")


def nothing_more(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise for arguments beyond those that a function knows, though its `*args` and `**kwargs` take them.

    Raises:
        UnknownKeywordError: if there is a keyword.
        TypeError: if there is another argument.
    """
    if args:
        raise TypeError(f"{public_name(function)}() takes no more positional arguments, but got {args[0]!r} as well")
    only_known(function, kwargs)
