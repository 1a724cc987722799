"""Quantizers of calibration: thresholds of tensors from what passed, by their largest values or histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.interpreter import no_grad
from ..nn.common import Linear
from ..nn.conv import Conv2DTranspose
from ..quantization.base import BaseObserver, QuanterFactory

__all__ = [
    "SUPPORT_ACT_QUANTIZERS", "SUPPORT_WT_QUANTIZERS", "AbsmaxQuantizer", "BaseQuantizer", "HistQuantizer",
    "KLQuantizer", "PerChannelAbsmaxQuantizer",
]  # fmt: skip


def channel_axis(layer: Any) -> int:
    """Return the dimension of a layer's weight that has its output channels."""
    return 1 if isinstance(layer, Linear | Conv2DTranspose) else 0


def _magnitudes(tensor: Any) -> np.ndarray:
    return np.abs(np.asarray(tensor.numpy(), "float32"))


class BaseQuantizer:
    """Base class of quantizers: sample_data() looks at tensors, cal_thresholds() chooses their scales.

    Arguments:
        quant_bits: number of bits, 1 to 16.

    Raises:
        ValueError: the number of bits is another one.

    Examples:
        >>> BaseQuantizer(quant_bits=4).thresholds
        []
    """

    def __init__(self, quant_bits: int = 8) -> None:
        if quant_bits not in range(1, 17):
            raise ValueError(f"{type(self).__name__}: quant_bits is {quant_bits!r}; expected an integer from 1 to 16")
        self.quant_bits = quant_bits
        self.abs_max_vals: list[Any] = []
        self.thresholds: list[Any] = []

    def sample_data(self, layer: Any, tensors: tuple[Any, ...]) -> None:
        """Look at the tensors of one call of a layer."""
        self._look(channel_axis(layer), [_magnitudes(t) for t in tensors])

    def _look(self, axis: int, found: list[np.ndarray]) -> None:
        raise NotImplementedError(f"{type(self).__name__} must define sample_data(layer, tensors)")

    def cal_thresholds(self) -> None:
        """Compute `thresholds`, one for each tensor: the largest values."""
        self.thresholds = self.abs_max_vals


class AbsmaxQuantizer(BaseQuantizer):
    """Quantizer by the largest absolute value of a tensor.

    Arguments:
        quant_bits: number of bits. Default: 8.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quantizer = AbsmaxQuantizer()
        >>> quantizer.sample_data(None, (paddle.to_tensor([1.0, -3.0]),)); quantizer.cal_thresholds()
        >>> quantizer.thresholds
        [3.0]
    """

    def _look(self, _axis: int, found: list[np.ndarray]) -> None:
        largest = [float(x.max(initial=0.0)) for x in found]
        self.abs_max_vals = [*map(max, largest, self.abs_max_vals)] if self.abs_max_vals else largest


class PerChannelAbsmaxQuantizer(BaseQuantizer):
    """Quantizer by the largest absolute value of each output channel of a weight.

    Arguments:
        quant_bits: number of bits. Default: 8.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> net, quantizer = paddle.nn.Linear(2, 2), PerChannelAbsmaxQuantizer()
        >>> quantizer.sample_data(net, (paddle.to_tensor([[1.0, -3.0], [2.0, 0.5]]),)); quantizer.cal_thresholds()
        >>> quantizer.thresholds
        [[2.0, 3.0]]
    """

    def _look(self, axis: int, found: list[np.ndarray]) -> None:
        largest = [np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1).max(1).tolist() for x in found]
        old = self.abs_max_vals or largest
        self.abs_max_vals = [[*map(max, a, b)] for a, b in zip(largest, old, strict=True)]


class _HistogramQuantizer(BaseQuantizer):
    """Base of quantizers by a histogram of magnitudes, whose range grows with what is seen."""

    def __init__(self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64) -> None:
        super().__init__(quant_bits)
        self.bins, self.upsample_bins = bins, upsample_bins
        self.hists: list[np.ndarray | None] = []

    def _look(self, _axis: int, found: list[np.ndarray]) -> None:
        if not self.hists:
            self.hists, self.abs_max_vals = [None] * len(found), [0.0] * len(found)
        for i, magnitudes in enumerate(found):
            self._add(i, magnitudes)

    def _add(self, i: int, found: np.ndarray) -> None:
        largest, old = float(found.max(initial=0.0)), self.hists[i]
        if largest == 0.0:
            return
        if old is None:
            self.abs_max_vals[i] = largest
            self.hists[i] = self._histogram(found, largest)
            return
        if largest > self.abs_max_vals[i]:
            old = self._widened(i, old, largest)
        self.hists[i] = old + self._histogram(found, self.abs_max_vals[i])

    def _histogram(self, found: np.ndarray, limit: float) -> np.ndarray:
        return np.histogram(found, bins=self.bins, range=(0.0, limit))[0].astype("float32")

    def _widened(self, i: int, old: np.ndarray, largest: float) -> np.ndarray:
        """The histogram over a range that has the new value: bins are cut finely, and as many put together."""
        fine = self.abs_max_vals[i] / (self.bins * self.upsample_bins)
        many = math.ceil(largest / (self.bins * fine))
        self.abs_max_vals[i] = self.bins * fine * many
        spread = np.zeros(self.bins * many, "float64")
        spread[: self.bins * self.upsample_bins] = np.repeat(old, self.upsample_bins)
        return (spread.reshape(self.bins, many).sum(1) / self.upsample_bins).astype("float32")

    def _threshold(self, largest: float, counts: np.ndarray) -> float:
        raise NotImplementedError

    def cal_thresholds(self) -> None:
        """Compute a threshold from each histogram."""
        pairs = zip(self.abs_max_vals, self.hists, strict=True)
        self.thresholds = [most if h is None else self._threshold(most, h) for most, h in pairs]


class HistQuantizer(_HistogramQuantizer):
    """Quantizer by a quantile of the magnitudes.

    Arguments:
        quant_bits: number of bits. Default: 8.
        bins: number of bins of the histogram.
        upsample_bins: into how many a bin is cut when the range grows.
        hist_percent: share of the values that are below the threshold.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quantizer = HistQuantizer(hist_percent=0.5)
        >>> quantizer.sample_data(None, (paddle.linspace(0, 1, 100),)); quantizer.cal_thresholds()
        >>> round(quantizer.thresholds[0], 2)
        0.49
    """

    def __init__(
        self, quant_bits: int = 8, bins: int = 1024, upsample_bins: int = 64, hist_percent: float = 0.99999
    ) -> None:
        super().__init__(quant_bits, bins, upsample_bins)
        self.hist_percent = hist_percent

    def _threshold(self, largest: float, counts: np.ndarray) -> float:
        below = np.cumsum(counts / counts.sum(dtype="float64"))
        return float((np.argmax(below >= self.hist_percent) - 0.5) * (largest / len(counts)))


class KLQuantizer(_HistogramQuantizer):
    """Quantizer by the threshold whose rounded distribution diverges least from the one observed.

    Arguments:
        quant_bits: number of bits. Default: 8.
        bins: number of bins of the histogram.
        upsample_bins: into how many a bin is cut when the range grows.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> quantizer = KLQuantizer()
        >>> quantizer.sample_data(None, (paddle.linspace(0, 1, 3000),)); quantizer.cal_thresholds()
        >>> 0.5 < quantizer.thresholds[0] <= 1.001
        True

    Source: Migacz, 8-bit Inference with TensorRT, 2017.
    """

    def _threshold(self, largest: float, counts: np.ndarray) -> float:
        start, steps, best = int((len(counts) - 1) * 0.5), 2 ** (self.quant_bits - 1) - 1, (math.inf, 0)
        for size in range(max(start, 1), len(counts)):
            if counts[size - 1]:
                best = min(best, (_divergence(counts, size, steps), size))
        size = best[1]
        if not size:  # nothing in the upper half
            size = next((i for i in range(start, 0, -1) if counts[i]), 0)
        return (size + 0.5) * largest / len(counts)


def _divergence(counts: np.ndarray, size: int, steps: int) -> float:
    """The Kullback-Leibler divergence of the first bins, with the others added to the last, from their rounding."""
    seen = counts[:size].astype("float64")
    clipped = seen.copy()
    clipped[-1] += counts[size:].sum(dtype="float64")
    # Each step has as many bins, and the last one what is left over.
    step = np.minimum(np.arange(size) // max(size // steps, 1), steps - 1)
    used = np.bincount(step, clipped != 0, steps)
    mean = np.bincount(step, seen, steps) / np.maximum(used, 1)
    rounded = np.where(clipped != 0, mean[step], 0.0)
    total, filled = clipped.sum(), clipped != 0
    p, q = clipped[filled], rounded[filled]
    with np.errstate(divide="ignore"):
        return float((p * (np.log(p / total) - np.log(q / rounded.sum()))).sum() / total)


SUPPORT_ACT_QUANTIZERS: list[type[BaseQuantizer]] = [AbsmaxQuantizer, HistQuantizer, KLQuantizer]
SUPPORT_WT_QUANTIZERS: list[type[BaseQuantizer]] = [AbsmaxQuantizer, PerChannelAbsmaxQuantizer]


class _GroupWise(BaseObserver):
    """The observer of a weight [in, out] by the largest values of each group of inputs, for each output."""

    def __init__(self, layer: Any, quant_bits: int = 8, group_size: int = 128) -> None:
        super().__init__()
        if group_size not in (64, 128):
            raise ValueError(f"GroupWiseWeightObserver: group_size is {group_size!r}; expected 64 or 128")
        if not isinstance(layer, Linear):
            raise TypeError(f"GroupWiseWeightObserver: the layer is a {type(layer).__name__}; expected a Linear")
        self._bits, self._group = quant_bits, group_size
        self._largest: Any = None

    def forward(self, input: Any) -> Any:
        """Record the weight and return it unchanged."""
        if input.ndim != 2 or input.shape[0] % self._group:
            raise ValueError(
                f"GroupWiseWeightObserver: the weight has the shape {[*input.shape]}; expected two dimensions, the "
                f"first a multiple of group_size={self._group}"
            )
        with no_grad():
            self._largest = input.abs().reshape([-1, self._group, input.shape[1]]).max(1).astype("float32").clip(1e-8)
        return input

    def scales(self) -> Any:
        """Return the largest absolute value of each group and output, [in / group_size, out]."""
        return self._largest

    def quant_axis(self) -> int:
        """Return the dimension of the outputs."""
        return -1

    def bit_length(self) -> int:
        """Return the number of bits."""
        return self._bits


def GroupWiseWeightObserver(quant_bits: int = 8, group_size: int = 128) -> QuanterFactory:  # noqa: N802
    """Return the factory of an observer of weights by groups of inputs, for QuantConfig.

    Arguments:
        quant_bits: number of bits.
        group_size: inputs in a group, 64 or 128.

    Returns:
        A QuanterFactory.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> observer = GroupWiseWeightObserver(group_size=64)._instance(paddle.nn.Linear(128, 3))
        >>> observer(paddle.ones([128, 3])).shape, observer.scales().shape
        (paddle.Size([128, 3]), paddle.Size([2, 3]))
    """
    return QuanterFactory(_GroupWise, quant_bits=quant_bits, group_size=group_size)
