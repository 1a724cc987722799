"""Weights by length and direction, and by their largest singular value, as torch.nn.utils.parametrizations has them."""

from __future__ import annotations

from typing import Any

from ....core.argument_docs import document as _document
from ....core.interpreter import no_grad
from ....nn.base import Layer
from ....nn.conv import Conv1DTranspose, Conv2DTranspose, Conv3DTranspose
from ....ops.linalg import mv
from ....ops.normalization import normalize
from ....ops.random import randn
from .parametrize import register_parametrization

__all__ = ["spectral_norm", "weight_norm"]


class _ByLength(Layer):
    """A weight by the lengths of its slices, and their directions."""

    def __init__(self, dim: int | None) -> None:
        super().__init__()
        self.dim = dim

    def _length(self, v: Any) -> Any:
        squares = v * v
        if self.dim is None:
            return squares.sum().sqrt()
        return squares.sum([i for i in range(v.ndim) if i != self.dim % v.ndim], keepdim=True).sqrt()

    def forward(self, length: Any, direction: Any) -> Any:
        """Compute the weight."""
        return direction * (length / self._length(direction))

    def right_inverse(self, weight: Any) -> Any:
        """Return the lengths and the weight, as the directions."""
        return self._length(weight), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Reparametrize a weight by length and direction (Salimans and Kingma, 2016), in `module.parametrizations`.

    Arguments:
        module: the layer, which is changed in place.
        name: name of the parameter. Default: 'weight'.
        dim: dimension along which each slice has a length of its own; None: one length for the whole weight. Default:
            0.

    Returns:
        The layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.utils.parametrizations.weight_norm(paddle.compat.nn.Linear(2, 3))
        >>> [(n[-9:], p.shape) for n, p in sorted(layer.named_parameters())][1:]
        [('original0', paddle.Size([3, 1])), ('original1', paddle.Size([3, 2]))]
    """
    return register_parametrization(module, name, _ByLength(None if dim == -1 else dim))


class _BySpectrum(Layer):
    """A weight over its largest singular value, of which power iterations keep an estimate."""

    def __init__(self, weight: Any, iterations: int, dim: int, eps: float) -> None:
        super().__init__()
        self.iterations, self.dim, self.eps = iterations, dim, eps
        if weight.ndim == 1:
            return
        with no_grad():
            rows = self._rows(weight)
            for name, size in (("_u", rows.shape[0]), ("_v", rows.shape[1])):
                self.register_buffer(name, normalize(randn([size], weight.dtype), axis=0, epsilon=eps))
            self._iterate(rows, 15)

    def _rows(self, weight: Any) -> Any:
        order = [self.dim, *(i for i in range(weight.ndim) if i != self.dim)]
        return weight.transpose(order).flatten(1)

    def _iterate(self, rows: Any, count: int) -> None:
        for _ in range(count):
            self._u.set_value(normalize(mv(rows, self._v), axis=0, epsilon=self.eps))
            self._v.set_value(normalize(mv(rows.T, self._u), axis=0, epsilon=self.eps))

    def forward(self, weight: Any) -> Any:
        """Compute the normalized weight; in training after further power iterations."""
        if weight.ndim == 1:
            return normalize(weight, axis=0, epsilon=self.eps)
        rows = self._rows(weight)
        if self.training:
            with no_grad():
                self._iterate(rows.detach(), self.iterations)
        u, v = self._u.clone(), self._v.clone()
        return weight / (u * mv(rows, v)).sum()

    def right_inverse(self, value: Any) -> Any:
        """Return the value: one whose largest singular value is 1 already."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Reparametrize a weight as itself over its largest singular value (Miyato et al., 2018).

    Arguments:
        module: the layer, which is changed in place.
        name: name of the parameter. Default: 'weight'.
        n_power_iterations: power iterations in each forward pass in training mode. Default: 1.
        eps: lower bound of the divisors. Default: 1e-12.
        dim: dimension that forms the rows of the matrix; None: 1 for transposed convolutions, else 0.

    Returns:
        The layer.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.utils.parametrizations.spectral_norm(paddle.compat.nn.Linear(2, 3))
        >>> round(paddle.linalg.svdvals(layer.weight)[0].item(), 3)
        1.0
    """
    if dim is None:
        dim = 1 if isinstance(module, Conv1DTranspose | Conv2DTranspose | Conv3DTranspose) else 0
    weight = getattr(module, name)
    return register_parametrization(module, name, _BySpectrum(weight, n_power_iterations, dim % weight.ndim, eps))


_document(globals())
