"""The reference's kernels by name, with attributes in order: the operators of model files, called with tensors."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..core.dtypes import DType, as_dtype
from ..core.memo import memo, once
from ..eager.tensor import Tensor
from . import operators
from .building import IN_PLACE
from .operators.table import OPERATORS, KnownValue, call, tensor
from .operators.training import IN_TRAINING, REPLACED

Function = Callable[..., Any]
_ROOM = __package__.rpartition(".")[0]
# Operators with another form in training, which changes these operands; what only a gradient needs is None.
_NORMALIZATIONS = frozenset(("batch_norm", "batch_norm_"))
# Kernels whose further results are what a gradient asks for.
_ONE_RESULT = frozenset(("layer_norm", "group_norm", "instance_norm", "huber_loss", "warpctc", "rms_norm", "dropout"))

# Kernels of updates: which operand each result replaces; here lists of gradients are changed as well.
_CHANGED = {**REPLACED, "check_finite_and_unscale_": (0,), "update_loss_scaling_": (0, 2, 3, 4)}


@once
def _table() -> dict[str, str]:
    lines = Path(__file__).with_name("kernels.txt").read_text(encoding="utf-8").splitlines()
    return {line.split("=" if "=" in line else ":")[0]: line for line in lines if not line.startswith("#")}


def kernel_names() -> list[str]:
    """Return the kernels that there are.

    Example:
        >>> len(kernel_names()) > 400
        True
    """
    return sorted(_table())


# Key: the name; of a file of the package.
@memo(1024, context=False)
def kernel(name: str) -> Function | None:
    """The kernel of that name, which takes operands and attributes in the reference's order; None where there is none.

    Example:
        >>> import paddle_lite_py as paddle
        >>> kernel("scale")(paddle.ones([2]), 2.0, 1.0, True).tolist()
        [3.0, 3.0]
    """
    line = _table().get(name)
    if line is None:
        return None
    made = _public(name) if "=" in line else _of_operator(name, line.split(": ")[1])
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"The kernel `{name}`, with its attributes in order."
    return made


def _place(name: str) -> tuple[str, str]:
    """The module of the public function that stands for a kernel ("." for a method), and its name there."""
    room, function = [*_table()[name].partition("=")[2].partition(":")[0].split(), "", ""][:2]
    return room, function or name


def public_places() -> dict[str, tuple[str, str]]:
    """Return the module and the name of each public function that stands for a kernel.

    Example:
        >>> public_places()["sparse_abs"]
        ('sparse', 'abs')
    """
    return {name: _place(name) for name, line in _table().items() if "=" in line}


def _public(name: str) -> Function:
    room, other = _place(name)
    order = _table()[name].partition("=")[2].partition(":")[2].strip()
    names = order.split()
    of_module: Any = (
        None if room == "." else getattr(importlib.import_module(f"{_ROOM}.{room}" if room else _ROOM), other)
    )

    def kernel_function(*given: Any) -> Any:
        function, taken = of_module, names
        if function is None:  # a method
            function, given, taken = getattr(given[0], other), given[1:], names[1:]
        if not names:
            return function(*given)
        if len(given) > len(taken):
            raise TypeError(f"paddle._C_ops.{name} takes {len(names)} arguments ({order}); more were given")
        for argument, value in zip(taken, given, strict=False):
            if argument.startswith("!") and (isinstance(value, Tensor) or value):
                raise NotImplementedError(f"paddle._C_ops.{name}: {argument[1:]}={value!r} is not available here")
        return function(**{n: v for n, v in zip(taken, given, strict=False) if n[0] not in "!-"})

    return kernel_function


def _of_operator(name: str, order: str) -> Function:
    for module in pkgutil.iter_modules(operators.__path__):  # each enters its operators
        importlib.import_module(f"{operators.__name__}.{module.name}")
    names = order.replace("*", "").split()
    is_operand = [n.startswith("*") for n in order.split()]
    of = name if name in OPERATORS else name.removesuffix("_")
    changed = IN_PLACE.get(name, 0 if name.endswith("_") and of != name else None)

    def kernel_function(*given: Any) -> Any:
        if len(given) > len(names) + 1:  # a place may follow
            raise TypeError(
                f"paddle._C_ops.{name} takes {len(names)} arguments ({', '.join(names)}); {len(given)} given"
            )
        found = list(zip(names, is_operand, given, strict=False))
        attrs = {n: _attribute(v) for n, operand, v in found if not operand}
        operands = [_operand(v) for _, operand, v in found if operand]
        if of in _NORMALIZATIONS:
            form = of if attrs.get("is_test") else IN_TRAINING[of]
            made = call(form, operands, attrs)
            return made[0], *map(_bind, operands[1:3], made[1:3]), None, None, None
        made = call(of, operands, attrs)
        if name in _CHANGED:
            return tuple(_replaced(operands, made, _CHANGED[name]))
        out = _results(made)
        out = out[0] if of in _ONE_RESULT and isinstance(out, tuple) else out
        return out if changed is None else given[changed]._rebind(out, True)

    return kernel_function


def _replaced(operands: list[Any], made: tuple[Any, ...], places: tuple[int | None, ...]) -> Iterator[Any]:
    """What an update gives: where a result replaces an operand, that operand, which has its value from now on; None
    for a result that there is not."""
    for at, new in itertools.zip_longest(places[: len(made)], made):
        old = operands[at] if at is not None and at < len(operands) else None
        yield None if new is None else _bind(old, new)


def _bind(old: Any, new: Any) -> Any:
    if old is None:
        return new
    if isinstance(new, list | tuple):
        return [_bind(*pair) for pair in zip(old, new, strict=True)]
    old.set_value(new.astype(old.dtype))
    return old


def _operand(value: Any) -> Any:
    if value is None or isinstance(value, Tensor):
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor) for v in value):
        return list(value)
    value = list(value) if isinstance(value, tuple) else value
    first = value[0] if isinstance(value, list) and value else value
    return KnownValue(value, "float32" if isinstance(first, float) else "int64")


def _attribute(value: Any) -> Any:
    return as_dtype(value).name if isinstance(value, DType) else value


def _results(found: Any) -> Any:
    """Results without those that only a gradient asks for; of one alone, itself."""
    if isinstance(found, list) and len(found) == 1 and isinstance(found[0], list | tuple):
        return [tensor(v) for v in found[0]]
    if isinstance(found, tuple):
        kept = [tensor(v) for v in found if v is not None]
        return kept[0] if len(kept) == 1 else tuple(kept)
    return tensor(found)
