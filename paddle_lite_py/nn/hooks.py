"""Forward hooks of layers."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple

from ..core.interpreter import layer_version, state
from ..eager.tensor import RemoveHandle

_keys = count()


class Hook(NamedTuple):
    """A function and how it is called."""

    call: Callable[..., Any]
    with_kwargs: bool = False
    always: bool = False


def add(hooks: dict[int, Hook], hook: Hook, prepend: bool) -> RemoveHandle:
    """Register a hook, first or last."""
    if not callable(hook.call):
        raise TypeError(f"a forward hook must be a function, got {type(hook.call).__name__}")
    layer_version.number += 1
    key = next(_keys)
    before = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[key] = hook
    hooks.update(before)
    return RemoveHandle(hooks, key)


def before(hooks: list[Hook], layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the arguments after the pre-hooks; a hook may return new ones, or None."""
    for hook in hooks:
        called = state.interpreter.callee(hook.call)
        if hook.with_kwargs:
            changed = called(layer, args, kwargs)
            if changed is not None:
                args, kwargs = changed
            continue
        changed = called(layer, args)
        if changed is not None:
            args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def after(hooks: list[Hook], layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: Any) -> Any:
    """Return the result after the post-hooks; a hook may return a new one, or None."""
    for hook in hooks:
        called = state.interpreter.callee(hook.call)
        changed = called(layer, args, kwargs, out) if hook.with_kwargs else called(layer, args, out)
        out = out if changed is None else changed
    return out
