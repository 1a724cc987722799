"""The reference's kernels by name, with attributes in order: the operators of model files, called with tensors."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..core.dtypes import DType, as_dtype
from ..core.memo import memo, once
from ..eager.tensor import Tensor
from . import operators
from .building import IN_PLACE
from .operators.table import OPERATORS, KnownValue, call, tensor

Function = Callable[..., Any]
_ROOM = __package__.rpartition(".")[0]
# Operators that a model file has only in inference form, by the attribute for it.
_INFERENCE = {"batch_norm": "is_test", "batch_norm_": "is_test"}
# Kernels whose further results are what a gradient asks for.
_ONE_RESULT = frozenset(("layer_norm", "group_norm", "instance_norm", "huber_loss", "warpctc", "rms_norm", "dropout"))


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
    made = _public(name, line.partition("=")[2].strip()) if "=" in line else _of_operator(name, line.split(": ")[1])
    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"The kernel `{name}`, with its attributes in order."
    return made


def _public(name: str, room: str) -> Function:
    function: Any = getattr(importlib.import_module(f"{_ROOM}.{room}" if room else _ROOM), name)
    return lambda *given: function(*given)


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
        if not attrs.get(_INFERENCE.get(of, ""), True):
            raise NotImplementedError(
                f"paddle._C_ops.{name} is available for inference alone: call the public function"
            )
        out = _results(call(of, [_operand(v) for _, operand, v in found if operand], attrs))
        out = out[0] if of in _ONE_RESULT and isinstance(out, tuple) else out
        return out if changed is None else given[changed]._rebind(out, True)

    return kernel_function


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
