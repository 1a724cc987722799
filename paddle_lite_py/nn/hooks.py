"""Forward hooks of layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ..core.interpreter import layer_version, state
from ..eager.tensor import RemoveHandle


class Hook(NamedTuple):
    """A function and how it is called."""

    call: Callable[..., Any]
    with_kwargs: bool = False
    always: bool = False


def listed(hooks: dict[int, Any]) -> list[Hook]:
    """Return the hooks in their order.

    The dict holds the functions themselves, which packages look for and move to other layers, but for those that are
    called in another way.
    """
    return [h if h.__class__ is Hook else Hook(h) for h in hooks.values()]


def add(hooks: dict[int, Any], hook: Hook, prepend: bool) -> RemoveHandle:
    """Register a hook, first or last."""
    if not callable(hook.call):
        raise TypeError(f"a forward hook must be a function, got {type(hook.call).__name__}")
    layer_version.number += 1
    handle = RemoveHandle(hooks)
    before = dict(hooks) if prepend else {}
    if prepend:
        hooks.clear()
    hooks[handle._hook_id] = hook if hook.with_kwargs or hook.always else hook.call
    hooks.update(before)
    return handle


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
