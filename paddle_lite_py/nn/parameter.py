"""Creating parameters: settings, name, first value."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from ..core import dtypes
from ..core.arrays import as_array
from ..core.interpreter import is_building, state
from ..core.param_attr import ParamAttr, as_attr
from ..core.versioned import VersionedDict
from ..eager.tensor import Parameter
from . import unique_name
from .initializer import default_for
from .initializer.base import first_value
from .initializer.fixed import Assign


class Drawing(NamedTuple):
    """A first value, drawn when it is called."""

    initializer: Any
    shape: tuple[int, ...]
    dtype: dtypes.DType
    device: Any

    def __call__(self) -> Any:
        return as_array(first_value(self.initializer, self.shape, self.dtype), self.dtype, self.device)


def create_parameter(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
    device: Any = None,
) -> Parameter:
    """Create a trainable parameter outside of a layer.

    Arguments:
        shape: its shape, a list of known integers.
        dtype: a floating dtype; None: the default dtype.
        name: its name; None: a unique name.
        attr: a ParamAttr, or an initializer, name or regularizer.
        is_bias: initialize with zeros, unless an initializer is given. Default: False.
        default_initializer: initializer to use if `attr` has none; None: Xavier uniform, or zeros for a bias.
        device: its device; None: the current device.

    Returns:
        A Parameter of the given shape and dtype.

    Raises:
        ValueError: if a size is negative, or attr is False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.create_parameter([2, 3], "float32").shape
        paddle.Size([2, 3])
    """
    found = as_attr(attr)
    if found is None:
        raise ValueError("create_parameter: attr is False, which says that there is no parameter")
    owner = unique_name.generate("create_parameter")
    return make_parameter(shape, found, dtype, is_bias, default_initializer, owner, device, name)


def make_parameter(
    shape: Any,
    attr: ParamAttr,
    dtype: Any,
    is_bias: bool,
    default: Any,
    owner: str,
    device: Any = None,
    name: str | None = None,
) -> Parameter:
    """Create a parameter from a ParamAttr, at once, even while a program is traced."""
    sizes = [int(n) for n in shape]
    if any(n < 0 for n in sizes):
        raise ValueError(f"a parameter of the shape {sizes}: no size may be negative")
    kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.default_dtype()
    initializer = attr.initializer or default_for(is_bias, default)
    name = name or attr.name or unique_name.generate(f"{owner}.{'b' if is_bias else 'w'}")
    if isinstance(initializer, Assign) and initializer.shape() != tuple(sizes) and not is_building():
        warnings.warn(
            f"Assign: parameter '{name}' is declared as {sizes}, and gets the shape {list(initializer.shape())} of the "
            "value that is assigned to it",
            stacklevel=4,
        )
        sizes = list(initializer.shape())

    draw: Any = Drawing(initializer, tuple(sizes), kind, device)
    payload = state.interpreter.stored(name, tuple(sizes), kind.np, draw)
    out = Parameter.of_payload(payload, name, attr.trainable)
    out.optimize_attr = VersionedDict(learning_rate=attr.learning_rate)
    out.regularizer, out.need_clip = attr.regularizer, attr.need_clip
    return state.interpreter.created(out)
