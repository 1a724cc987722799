"""Layers that learn the number of their inputs from the first input."""

from __future__ import annotations

from typing import Any

from ...core.interpreter import no_grad, use
from ...eager.execute import EAGER
from ...nn.base import Layer
from ...ops.creation import zeros
from . import batch_norm, convolutions
from .layers import Linear

_NAMES = (
    *("LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d"),
    *("LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d"),
    *("LazyInstanceNorm2d", "LazyInstanceNorm3d", "LazyLinear"),
)
__all__ = [*_NAMES]
_DOC = """{base} whose {size} is that of its first input; then it is of the class {base}.

Before, its parameters and buffers have no elements. An optimizer may be made of them.

Arguments:
    args, kwargs: those of {base} after {size}.

Raises:
    RuntimeError: a state_dict is loaded before the first input has been seen.

Examples:
    >>> import paddle_lite_py as paddle
    >>> layer = paddle.compat.nn.{name}({given})
    >>> _ = layer(paddle.ones({shape}))
    >>> layer.{size}, type(layer).__name__
    (3, '{base}')
"""


class _Lazy(Layer):
    """Takes the place of the forward pass until the first input; beside the class of the layer."""

    _base: Any
    _channel: int  # the dimension of the input that has the size

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if len(args) < 3 and issubclass(self._base, batch_norm._TorchInstanceNorm):
            kwargs = {"affine": True, "track_running_stats": True, **kwargs}  # otherwise than those of a known size
        groups = kwargs.get("groups", 1)
        super().__init__(groups, *args, **kwargs)
        self._given = (args, kwargs)
        with no_grad():
            for t in self._arrays():
                t.data = zeros([0], t.dtype)

    def _arrays(self) -> list[Any]:
        return [*self.parameters(), *(b for b in self.buffers() if b.ndim)]

    def set_state_dict(self, *_args: Any, **_kwargs: Any) -> Any:
        """Refuse: there is nothing of a size that could be loaded into."""
        raise RuntimeError(f"{type(self).__name__}: give it an input before a state_dict is loaded")

    load_dict = load_state_dict = set_state_dict

    def forward(self, input: Any, *more: Any) -> Any:
        """Make the parameters, and return what the layer gives."""
        args, kwargs = self._given
        with use(EAGER), no_grad():
            made = self._base(int(input.shape[self._channel]), *args, **kwargs)
            made.to(dtype=next((p.dtype for p in self.parameters()), None))
            for t, value in zip(self._arrays(), _Lazy._arrays(made), strict=True):
                t.data = value
        for name, value in vars(made).items():
            if type(value) is int and name in vars(self):
                setattr(self, name, value)  # numbers of channels
        del self._given
        self.__class__ = self._base
        return self.forward(input, *more)


def _lazy(name: str, n: int) -> Any:
    """Return the class of a name, of inputs of n dimensions beside channels and batch."""
    base: Any = getattr(convolutions if "Conv" in name else batch_norm, name[4:]) if n else Linear
    size = "in_channels" if "Conv" in name else "num_features" if n else "in_features"
    given, shape = {"in_channels": "4, 1", "num_features": "", "in_features": "4"}[size], [2, 3, *[2] * n]
    doc = _DOC.format(name=name, base=name[4:], size=size, given=given, shape=shape)
    channel = 1 if "BatchNorm" in name else -n - 1
    return type(name, (_Lazy, base), {"__doc__": doc, "__module__": __name__, "_base": base, "_channel": channel})


LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d = (_lazy(f"LazyBatchNorm{n}d", n) for n in (1, 2, 3))
LazyConv1d, LazyConv2d, LazyConv3d = (_lazy(f"LazyConv{n}d", n) for n in (1, 2, 3))
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = (_lazy(f"LazyConvTranspose{n}d", n) for n in (1, 2, 3))
LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d = (_lazy(f"LazyInstanceNorm{n}d", n) for n in (1, 2, 3))
LazyLinear = _lazy("LazyLinear", 0)
