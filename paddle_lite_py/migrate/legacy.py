"""Names of other versions: torch's tensor constructors, switches of modes."""

from __future__ import annotations

import math
from typing import Any

from ..core import dtypes, printing
from ..core.argument_docs import document as _document
from ..core.interpreter import state
from ..core.no_effect import no_effect
from ..eager.random import get_rng_state, seed, set_rng_state
from ..eager.tensor import Tensor
from ..ops.convert import assign, to_tensor
from ..ops.creation import empty, full

_DEVICE = "the tensor is on the current device"
e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None
manual_seed = seed
get_cuda_rng_state, set_cuda_rng_state = get_rng_state, set_rng_state


def in_dynamic_mode() -> bool:
    """True when ops run at once, False while a program is built.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.in_dynamic_mode()
        True
    """
    return state.interpreter.is_eager


def set_printoptions(
    precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
    sci_mode: bool | None = None, linewidth: int | None = None,
) -> None:  # fmt: skip
    """Set how tensors are printed; settings that are not given keep their values.

    Arguments:
        precision: digits after the point.
        threshold: number of elements above which the output is summarized.
        edgeitems: elements shown at each end of a summarized dimension.
        sci_mode: print numbers in scientific notation, as in 1.0e+00.
        linewidth: characters per line.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.set_printoptions(precision=2)
        >>> print(paddle.to_tensor([1.2345]))
        Tensor(shape=[1], dtype=float32, place=Place(cpu), stop_gradient=True,
               [1.23])
        >>> paddle.set_printoptions(precision=8)
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in (given | {"sci_mode": sci_mode}).items():
        if value is not None:
            setattr(printing.options, name, value)


@no_effect(force_cpu=_DEVICE, place=_DEVICE)
def fill_constant(
    shape: Any, dtype: Any, value: Any, force_cpu: bool = False, out: Tensor | None = None, place: Any = None,
    name: Any = None,
) -> Tensor:  # fmt: skip
    """Create a tensor of one value: an older name of full().

    Arguments:
        shape: list of ints or tensors, or a tensor.
        value: number or tensor.
        out: tensor of that dtype to write to instead.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.tensor.fill_constant([2], "int64", 5).tolist()
        [5, 5]
    """
    made: Any = full(shape, value, dtype)
    if out is not None and out.dtype != made.dtype:
        raise TypeError(f"fill_constant: out is {out.dtype}, and dtype {made.dtype}")
    return made if out is None else assign(made, out)


def disable_signal_handler() -> None:
    """Nothing: no signal handlers are installed.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.disable_signal_handler()
    """


def enable_compat(
    *, scope: Any = None, blocked_modules: Any = None, backend: str = "torch", silent: bool = False
) -> None:
    """Not available: `import torch` stays what it is.

    Raises:
        NotImplementedError: always.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> try:
        ...     paddle.enable_compat()
        ... except NotImplementedError:
        ...     print("not available")
        not available
    """
    raise NotImplementedError("enable_compat: making `import torch` mean paddle is not available here")


def disable_compat() -> None:
    """Nothing: compatibility with torch was never switched on.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.disable_compat()
    """


_DOC = """Return a {dtype} tensor of data, or of given sizes whose values do not matter.

Data is copied, but for a tensor of that dtype: its elements are shared.

Examples:
    >>> import paddle_lite_py as paddle
    >>> paddle.{name}(2, 3).shape, paddle.{name}([1]).dtype == "{dtype}"
    ([2, 3], True)
"""


def _constructor(name: str, dtype: dtypes.DType) -> Any:
    def new(*args: Any, **kwargs: Any) -> Tensor:
        if args and all(isinstance(a, int) for a in args):
            return empty(list(args), dtype)
        given = args[0] if args else []
        return given.detach() if isinstance(given, Tensor) and given.dtype == dtype else to_tensor(given, dtype)

    new.__doc__ = _DOC.format(dtype=dtype.name, name=name)
    new.__name__ = new.__qualname__ = name
    return new


FloatTensor = _constructor("FloatTensor", dtypes.float32)
DoubleTensor = _constructor("DoubleTensor", dtypes.float64)
HalfTensor = _constructor("HalfTensor", dtypes.float16)
BFloat16Tensor = _constructor("BFloat16Tensor", dtypes.bfloat16)
IntTensor = _constructor("IntTensor", dtypes.int32)
LongTensor = _constructor("LongTensor", dtypes.int64)
ShortTensor = _constructor("ShortTensor", dtypes.int16)
CharTensor = _constructor("CharTensor", dtypes.int8)
ByteTensor = _constructor("ByteTensor", dtypes.uint8)
BoolTensor = _constructor("BoolTensor", dtypes.bool_)

_document(globals())
