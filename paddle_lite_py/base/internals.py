"""Names of PaddlePaddle's inside that its tests and older programs take: feeders, flags by name, programs in force."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..core.dtypes import DType, as_dtype
from ..core.flags import flag_names, get_flags, set_flags
from ..core.no_effect import Immaterial, no_effect
from ..core.place import Place
from ..eager.tensor import Tensor
from ..ops import math
from ..static import mode
from ..static.program import Program

INFER_MODEL_SUFFIX, PIR_INFER_MODEL_SUFFIX, INFER_PARAMS_SUFFIX = ".pdmodel", ".json", ".pdiparams"
__all__ = ["DataFeeder"]


class DataFeeder:
    """Converts a batch of samples to what Executor.run() is fed with.

    Args:
        feed_list: placeholders of a program, or their names; one for each field of a sample.
        place: a device; the executor decides where it runs.
        program: the program that names belong to. Default: the default main program.

    Raises:
        TypeError: an entry of feed_list is neither a placeholder nor its name.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> with paddle.static.program_guard(paddle.static.Program()):
        ...     paddle.base.framework.enable_static()
        ...     x = paddle.static.data("x", [None, 2], "float32")
        ...     feeder = DataFeeder([x], paddle.CPUPlace())
        ...     paddle.base.framework.disable_static()
        >>> feeder.feed([([1, 2],), ([3, 4],)])["x"].tolist()
        [[1.0, 2.0], [3.0, 4.0]]
    """

    @no_effect(place=Immaterial("the executor decides where a program runs"))
    def __init__(self, feed_list: Sequence[Any], place: Place | None = None, program: Program | None = None) -> None:
        block = (program or mode.default_main_program()).global_block()
        variables = [block.var(v) if isinstance(v, str) else v for v in feed_list]
        for v in variables:
            if not hasattr(v, "shape") or not hasattr(v, "name"):
                raise TypeError(
                    f"DataFeeder: feed_list has a {type(v).__name__}; expected what "
                    "paddle.static.data() returns, or names"
                )
        self._fields = [(v.name, list(v.shape), as_dtype(v.dtype)) for v in variables]

    def feed(self, iterable: Iterable[Sequence[Any]]) -> dict[str, np.ndarray]:
        """Return an array for each placeholder, of the samples along a new first axis.

        Args:
            iterable: samples, each with a value for each placeholder; flat values take the placeholder's shape.

        Raises:
            ValueError: a sample has another number of fields, or a field has a number of values that does not fit.
        """
        columns: list[list[Any]] = [[] for _ in self._fields]
        for sample in iterable:
            if len(sample) != len(self._fields):
                raise ValueError(
                    f"DataFeeder.feed: a sample has {len(sample)} fields; expected {len(self._fields)}, one for "
                    f"each of {', '.join(name for name, *_ in self._fields)}"
                )
            for column, value in zip(columns, sample, strict=True):
                column.append(np.asarray(value))
        return {field[0]: self._batch(*field, column) for field, column in zip(self._fields, columns, strict=True)}

    def _batch(self, name: str, shape: list[Any], dtype: DType, column: list[np.ndarray]) -> np.ndarray:
        try:
            made = np.array(column, dtype.np)
            free = [not isinstance(d, int) or d < 0 for d in shape]  # None, -1, or a symbol
            sizes = [-1 if f else d for d, f in zip(shape, free, strict=True)]
            fits = made.ndim == len(shape) and not (free[:1] == [True] and not any(free[1:]))
            return made if fits or sum(free) > 1 else made.reshape(sizes)
        except ValueError as e:
            raise ValueError(
                f"DataFeeder.feed: {name!r} has samples of shapes {sorted({a.shape for a in column})}; "
                f"expected ones that make {shape}; pad samples of several lengths"
            ) from e


class FlagsByName(Mapping[str, Any]):
    """The flags of the process, of which items are read and set by name."""

    def __getitem__(self, name: str) -> Any:
        try:
            return get_flags(name)[name]
        except ValueError as e:
            raise KeyError(name) from e

    def __setitem__(self, name: str, value: Any) -> None:
        set_flags({name: value})

    def __iter__(self) -> Iterator[str]:
        return iter(flag_names())

    def __len__(self) -> int:
        return len(flag_names())


def flags_by_name() -> FlagsByName:
    """Return the flags of the process by name.

    Example:
        >>> flags_by_name()["FLAGS_check_nan_inf"]
        False
    """
    return FlagsByName()


def true(*_given: Any) -> bool:
    """True, of what XLA has on all devices."""
    return True


def switch_main_program(program: Program) -> Program:
    """Make a program the default main program, and return the one before.

    Args:
        program: a program.

    Example:
        >>> before = switch_main_program(Program())
        >>> switch_main_program(before) is before
        False
    """
    return mode._switch(program, mode.default_startup_program())[0]


def switch_startup_program(program: Program) -> Program:
    """Make a program the default startup program, and return the one before.

    Args:
        program: a program.

    Example:
        >>> before = switch_startup_program(Program())
        >>> switch_startup_program(before) is before
        False
    """
    return mode._switch(mode.default_main_program(), program)[1]


def grad_var_name(name: str) -> str:
    """Return the name of a variable's gradient.

    Example:
        >>> grad_var_name("x")
        'x@GRAD'
    """
    return name + grad_var_suffix()


def grad_var_suffix() -> str:
    """Return the end of the names of gradients."""
    return "@GRAD"


def _along(op: Callable[[Any, Any], Tensor]) -> Callable[..., Tensor]:
    def along(x: Tensor, y: Tensor, axis: int = -1, name: str | None = None) -> Tensor:
        low, high = sorted((x, y), key=lambda t: len(t.shape))
        if axis == -1 or len(low.shape) == len(high.shape):
            return op(x, y)
        wide = low.reshape([*low.shape, *[1] * (len(high.shape) - len(low.shape) - axis)])
        return op(wide, y) if low is x else op(x, wide)

    return along


add_along, subtract_along = _along(math.add), _along(math.subtract)
multiply_along, divide_along = _along(math.multiply), _along(math.divide)
