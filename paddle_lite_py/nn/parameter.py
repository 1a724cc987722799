"""Making parameters: settings, name, first value."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core import dtypes
from ..core.arrays import as_array
from ..core.interpreter import state
from ..core.param_attr import ParamAttr, as_attr
from ..core.versioned import VersionedDict
from ..eager.tensor import Parameter
from . import unique_name
from .initializer import default_for


class Drawing(NamedTuple):
    """A first value, drawn when it is called."""

    initializer: Any
    shape: tuple[int, ...]
    dtype: dtypes.DType
    device: Any

    def __call__(self) -> Any:
        return as_array(self.initializer.draw(self.shape, self.dtype), self.dtype, self.device)


def create_parameter(
    shape: Any,
    dtype: Any = None,
    name: str | None = None,
    attr: Any = None,
    is_bias: bool = False,
    default_initializer: Any = None,
    device: Any = None,
) -> Parameter:
    """A parameter outside of any layer.

    Arguments:
        shape: its sizes, all known.
        dtype: a floating dtype; the default one if None.
        name: unique if None.
        attr: a ParamAttr, or what stands for one.
        is_bias: starts at zero, where nothing else says how it is drawn.
        default_initializer: draws the first value, unless `attr` says how.

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
    return make_parameter(shape, found, dtype, is_bias, default_initializer, "create_parameter", device, name)


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
    """A parameter for its ParamAttr; made at once, even while a program is traced."""
    sizes = [int(n) for n in shape]
    if any(n < 0 for n in sizes):
        raise ValueError(f"a parameter of the shape {sizes}: no size may be negative")
    kind = dtypes.as_dtype(dtype) if dtype is not None else dtypes.default_dtype()
    initializer = attr.initializer or default_for(is_bias, default)
    name = name or attr.name or unique_name.generate(f"{owner}.{'b' if is_bias else 'w'}")

    draw: Any = Drawing(initializer, tuple(sizes), kind, device)
    payload = state.interpreter.stored(name, tuple(sizes), kind.np, draw)
    out = Parameter.of_payload(payload, name, attr.trainable)
    out.optimize_attr = VersionedDict(learning_rate=attr.learning_rate)
    out.regularizer, out.need_clip = attr.regularizer, attr.need_clip
    return state.interpreter.created(out)
