"""Names of parameters and results of the functions of static.nn, by which programs find them.

With FLAGS_enable_pir_api=0 products and biases are also operators of their own, as programs that edit operators expect.
"""

from __future__ import annotations

import copy
import math
from typing import Any

from ...core.flags import is_earlier_generation
from ...core.param_attr import as_attr
from ...dispatch.define import op
from ...eager.tensor import Tensor
from ...nn import unique_name
from ...tracing.frame import TracedValue


def named_attrs(name: str | None, weight: Any, bias: Any = False) -> tuple[Any, Any]:
    """Return the attributes of a weight and a bias, which are named by that of their layer if they have no name."""
    return _named_attr(name, weight, "w"), _named_attr(name, bias, "b")


def _named_attr(name: str | None, attr: Any, kind: str) -> Any:
    found = as_attr(attr) if name is not None and not isinstance(attr, list | tuple) else None
    if found is None or found.name is not None:
        return attr
    made = copy.copy(found)
    made.name = unique_name.generate(f"{name}.{kind}")
    return made


def named(out: Any, name: str | None, number: int = 1) -> Any:
    """Return a result under the name that the last of so many results of its layer has.

    Arguments:
        name: of the layer; None: the result has a name already.
    """
    if name is not None and isinstance(out, Tensor) and isinstance(out._payload, TracedValue):
        out._payload.name = [unique_name.generate(f"{name}.tmp") for _ in range(number)][-1]
    return out


@op(name="_mul")
def _mul(x: Any, y: Any, /, x_num_col_dims: int = 1) -> Any:
    rows = x.shape[:x_num_col_dims]
    return x.reshape(*rows, math.prod(x.shape[x_num_col_dims:])) @ y


@op(name="_add_along")
def _add_along(x: Any, y: Any, /, axis: int) -> Any:
    return x + y.reshape(*y.shape, *[1] * (x.ndim - axis - y.ndim))


def product(x: Tensor, weight: Tensor, n: int) -> Any:
    """Return x, flattened after n dimensions, times a matrix."""
    if is_earlier_generation():
        return _mul(x, weight, n)
    width = math.prod(x.shape[n:])
    return x.reshape([*x.shape[:n], width]).matmul(weight)


def biased(x: Any, bias: Any, axis: int) -> Any:
    """Return x with a bias along an axis."""
    return _add_along(x, bias, axis)
