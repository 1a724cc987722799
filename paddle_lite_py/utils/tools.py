"""Utilities: deprecation notes, optional imports, version checks."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Callable
from typing import Any

from .. import version

__all__ = ["deprecated", "require_version", "run_check", "try_import"]


def deprecated(
    update_to: str = "", since: str = "", reason: str = "", level: int = 0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorate a function that should no longer be called: it warns (level 0, 1) or raises (level 2).

    Examples:
        >>> @deprecated(update_to="new", since="1.0", level=2)
        ... def old(): ...
        >>> old()
        Traceback (most recent call last):
        RuntimeError: old() is deprecated since version 1.0; use new() instead
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        text = f"{function.__name__}() is deprecated"
        text += f" since version {since}" if since else ""
        text += f"; use {update_to}() instead" if update_to else ""
        text += f": {reason}" if reason else ""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if level == 2:
                raise RuntimeError(text)
            warnings.warn(text, DeprecationWarning, stacklevel=2)
            return function(*args, **kwargs)

        return wrapper

    return decorate


def try_import(module_name: str, err_msg: str | None = None) -> Any:
    """Import a module, or fail saying how to get it.

    Examples:
        >>> try_import("no_such_module")
        Traceback (most recent call last):
        ImportError: no_such_module is needed here and not installed; try `pip install no_such_module`
    """
    try:
        return importlib.import_module(module_name)
    except ImportError as e:
        known = {"cv2": "opencv-python", "PIL": "pillow"}.get(module_name, module_name)
        text = f"{module_name} is needed here and not installed; try `pip install {known}`"
        raise ImportError(err_msg or text) from e


def _numbers(text: Any, what: str) -> tuple[int, ...]:
    if not isinstance(text, str):
        raise TypeError(f"require_version: {what} is a {type(text).__name__}; expected a string such as '2.6.0'")
    parts = text.split(".")
    if not all(p.isdigit() for p in parts) or not 1 <= len(parts) <= 4:
        raise ValueError(f"require_version: {what} is {text!r}; expected up to four numbers such as '2.6.0'")
    return (*map(int, parts), *[0] * (4 - len(parts)))


def require_version(min_version: str, max_version: str | None = None) -> None:
    """Fail unless the version of the Paddle API spoken here lies between two.

    Raises:
        RuntimeError: if it does not.

    Examples:
        >>> require_version("2.0.0")
    """
    have = _numbers(version.full_version, "full_version")
    low = _numbers(min_version, "min_version")
    high = None if max_version is None else _numbers(max_version, "max_version")
    if have < low or (high is not None and have > high):
        wanted = f"at least {min_version}" + ("" if max_version is None else f" and at most {max_version}")
        raise RuntimeError(f"the Paddle API spoken here is {version.full_version}; this program requires {wanted}")


def run_check() -> None:
    """Train one step of a small layer, and say on which device, with which versions.

    Examples:
        >>> run_check()  # doctest: +ELLIPSIS
        paddle_lite_py works on cpu.
        paddle_lite_py: ...
    """
    from .. import nn
    from ..core.environment import describe
    from ..core.place import get_device
    from ..ops.creation import ones

    layer = nn.common.Linear(2, 1)
    layer(ones([2, 2])).mean().backward()
    assert layer.weight.grad is not None
    print(f"paddle_lite_py works on {get_device()}.")
    print(describe(version.lite_version))
