"""Activations and dropout whose constructors take torch's arguments, `inplace` among them."""

from __future__ import annotations

from typing import Any

from ...nn import activation, common
from .layers import in_place

__all__ = [
    *("AlphaDropout", "CELU", "Dropout", "ELU", "FeatureAlphaDropout", "Hardsigmoid", "Hardswish", "Hardtanh"),
    *("LeakyReLU", "Mish", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU"),
]

_NAMES = {"min_val": "min", "max_val": "max"}
_DOC = """paddle.nn.{name}, made with ({arguments}).

Examples:
    >>> import paddle_lite_py as paddle
    >>> isinstance(paddle.compat.nn.{name}(inplace=True), paddle.nn.{name})
    True
"""


def _layer(room: Any, name: str, order: str = "") -> Any:
    """Return a subclass of a layer with the arguments of torch, in order, the last of which is `inplace`."""
    known = [*order.split(), "inplace"]
    base: Any = getattr(room, name)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(known, args, strict=False)) | kwargs
        if len(args) > len(known) or {*given} - {*known}:
            wrong = ", ".join(sorted({*given} - {*known})) or f"{len(args)} arguments"
            raise TypeError(f"{name}: {wrong}; expected {', '.join(known)}")
        inplace = given.pop("inplace", False)
        base.__init__(self, **{_NAMES.get(k, k): v for k, v in given.items()})
        in_place(self, inplace)

    doc = _DOC.format(name=name, arguments=", ".join(known))
    return type(name, (base,), {"__init__": __init__, "__doc__": doc, "__module__": __name__})


ReLU, ReLU6, SiLU = (_layer(activation, name) for name in ("ReLU", "ReLU6", "SiLU"))
Hardswish, Hardsigmoid, Mish, SELU = (_layer(activation, n) for n in ("Hardswish", "Hardsigmoid", "Mish", "SELU"))
LeakyReLU, ELU = _layer(activation, "LeakyReLU", "negative_slope"), _layer(activation, "ELU", "alpha")
CELU, Hardtanh = _layer(activation, "CELU", "alpha"), _layer(activation, "Hardtanh", "min_val max_val")
RReLU = _layer(activation, "RReLU", "lower upper")
Dropout, AlphaDropout, FeatureAlphaDropout = (
    _layer(common, name, "p") for name in ("Dropout", "AlphaDropout", "FeatureAlphaDropout")
)
