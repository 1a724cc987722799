"""Batch normalization with torch's arguments, names and running statistics."""

from __future__ import annotations

from typing import Any

from ...nn import functional as F
from ...nn.base import Layer
from ...nn.formats import check_rank
from ...nn.initializer import Constant
from ...ops.creation import ones, zeros
from . import functional

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _NormBase(Layer):
    """A normalization by statistics of channels, which are buffers; the running variance is the unbiased one."""

    _dims: tuple[int, ...] = ()

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        size = [num_features]
        self.weight = self.create_parameter(size, default_initializer=Constant(1.0)) if affine else None
        self.bias = self.create_parameter(size, is_bias=True) if affine else None
        self.register_buffer("running_mean", zeros(size) if track_running_stats else None)
        self.register_buffer("running_var", ones(size) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", zeros([], "int64") if track_running_stats else None)
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def reset_running_stats(self) -> None:
        """Start the running statistics anew: mean 0 and variance 1."""
        for buffer, value in ((self.running_mean, 0.0), (self.running_var, 1.0), (self.num_batches_tracked, 0)):
            if buffer is not None:
                buffer.fill_(value)

    def _check_input_dim(self, input: Any) -> None:
        check_rank(type(self).__name__, input, self._dims)

    def extra_repr(self) -> str:
        """Return its settings."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _TorchBatchNorm(_NormBase):
    """Batch normalization of inputs that _check_input_dim() takes."""

    def forward(self, input: Any) -> Any:
        """Return the input, each channel normalized: by the batch while training, else by the running statistics.

        Raises:
            ValueError: the input has another number of dimensions, or in training one element in each channel.
        """
        self._check_input_dim(input)
        by_batch, momentum = self.training or not self.track_running_stats, self.momentum
        if by_batch and self.track_running_stats:
            self.num_batches_tracked.add_(ones([], "int64"))
            if momentum is None:
                momentum = 1.0 / self.num_batches_tracked.astype("float32")
        running = (self.running_mean, self.running_var)
        return functional.batch_norm(input, *running, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_TorchBatchNorm):
    """paddle.nn.BatchNorm1D with torch's running statistics: the variance is the unbiased one, and they are buffers.

    Arguments:
        num_features: channels of the inputs [N, C] or [N, C, L].
        eps: added to the variance. Default: 1e-05.
        momentum: the part of the batch's statistics in an update; None: the average of all batches. Default: 0.1.
        affine: with scale and shift. Default: True.
        track_running_stats: False: by the batch's statistics in evaluation too. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.BatchNorm1d(2)
        >>> _ = layer(paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> layer.running_mean.numpy().round(4).tolist(), len(layer.parameters())
        ([0.2..., 0.3...], 2)
    """

    _dims = (2, 3)


class BatchNorm2d(_TorchBatchNorm):
    """paddle.nn.BatchNorm2D of [N, C, H, W] with torch's running statistics; see BatchNorm1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.compat.nn.BatchNorm2d(1)
        >>> _ = layer(paddle.to_tensor([[[[1.0, 3.0]]]]))
        >>> layer.running_var.item()
        1.1...
    """

    _dims = (4,)


class BatchNorm3d(_TorchBatchNorm):
    """paddle.nn.BatchNorm3D of [N, C, D, H, W] with torch's running statistics; see BatchNorm1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.BatchNorm3d(2, affine=False)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _dims = (5,)


class _TorchInstanceNorm(_NormBase):
    """Instance normalization; by default without scale and shift, and without running statistics."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype)

    def forward(self, input: Any) -> Any:
        """Return the input [N, C, ...], each channel of each sample normalized.

        Raises:
            ValueError: the input has another number of dimensions.
        """
        if input.ndim + 1 in self._dims:
            return self.forward(input.unsqueeze(0)).squeeze(0)
        self._check_input_dim(input)
        if not self.track_running_stats:
            return F.instance_norm(input, weight=self.weight, bias=self.bias, eps=self.eps)
        if not self.training:
            return functional.batch_norm(
                input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        n, c, *size = input.shape
        mean, variance = (r.tile([n]) for r in (self.running_mean, self.running_var))
        flat = input.reshape([1, n * c, *size])
        out = functional.batch_norm(flat, mean, variance, None, None, True, self.momentum, self.eps)
        self.running_mean.set_value(mean.reshape([n, c]).mean(0))
        self.running_var.set_value(variance.reshape([n, c]).mean(0))
        out, shape = out.reshape(input.shape), [1, c, *[1] * len(size)]
        if self.weight is None or self.bias is None:
            return out
        return out * self.weight.reshape(shape) + self.bias.reshape(shape)


class InstanceNorm1d(_TorchInstanceNorm):
    """paddle.nn.InstanceNorm1D of [N, C, L] with torch's arguments and names.

    Arguments:
        num_features: channels.
        momentum: the part of the batch's statistics in an update. Default: 0.1.
        affine: with scale and shift. Default: False.
        track_running_stats: keep running statistics, and use them in evaluation. Default: False.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.InstanceNorm1d(1)(paddle.to_tensor([[[1.0, 3.0]]])).numpy().round(2).tolist()
        [[[-1.0, 1.0]]]
    """

    _dims = (3,)


class InstanceNorm2d(_TorchInstanceNorm):
    """paddle.nn.InstanceNorm2D of [N, C, H, W] with torch's arguments and names; see InstanceNorm1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> [*paddle.compat.nn.InstanceNorm2d(1, affine=True).state_dict()]
        ['weight', 'bias']
    """

    _dims = (4,)


class InstanceNorm3d(_TorchInstanceNorm):
    """paddle.nn.InstanceNorm3D of [N, C, D, H, W] with torch's arguments and names; see InstanceNorm1d.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.nn.InstanceNorm3d(2, track_running_stats=True)(paddle.ones([1, 2, 2, 2, 2])).shape
        paddle.Size([1, 2, 2, 2, 2])
    """

    _dims = (5,)
