"""How functions with a gradient of their own behave under autocast, as torch.amp has it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ..amp import auto_cast, is_autocast_enabled
from ..core.argument_docs import document as _document
from ..core.no_effect import Immaterial, no_effect
from ..eager.tensor import Tensor

__all__ = ["custom_bwd", "custom_fwd"]


@no_effect(device_type=Immaterial("autocast is the same on all devices"))
def custom_fwd(fwd: Callable[..., Any] | None = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """Decorate forward() of an autograd.Function.

    Arguments:
        fwd: the function; None: return a decorator.
        device_type: no effect: autocast is the same on all devices.
        cast_inputs: dtype to which floating tensors are converted under autocast, which is off in the function then;
            None: as autocast does it.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> @paddle.compat.amp.custom_fwd(device_type="cuda", cast_inputs=paddle.float32)
        ... def forward(ctx, x):
        ...     return x * 2
        >>> with paddle.amp.auto_cast(dtype="bfloat16"):
        ...     forward(None, paddle.ones([1], "bfloat16")).dtype
        paddle.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args: Any, **kwargs: Any) -> Any:
        if cast_inputs is None or not is_autocast_enabled():
            return fwd(*args, **kwargs)
        with auto_cast(enable=False):
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return forward


def _cast(value: Any, dtype: Any) -> Any:
    if isinstance(value, Tensor):
        return value.astype(dtype) if value.is_floating_point() else value
    if isinstance(value, dict):
        return {k: _cast(v, dtype) for k, v in value.items()}
    return type(value)([_cast(v, dtype) for v in value]) if type(value) in (list, tuple) else value


@no_effect(device_type=Immaterial("autocast is the same on all devices"))
def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str = "cuda") -> Any:
    """Decorate backward() of an autograd.Function: it stays as it is, in the dtypes that forward() had.

    Arguments:
        bwd: the function; None: return a decorator.
        device_type: no effect: autocast is the same on all devices.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.amp.custom_bwd(abs) is abs
        True
    """
    return custom_bwd if bwd is None else bwd


_document(globals())
