"""Losses with parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import nn
from ...core.no_effect import DENSE, Refused, no_effect
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...ops.convert import to_tensor
from ...ops.manipulation import flatten, reshape
from ...ops.random import randint
from ...ops.unary import log1p
from .common import _known

__all__ = ["nce"]


@no_effect(is_sparse=DENSE, custom_dist=Refused("the only sampler is 'uniform'"))
def nce(
    input: Any, label: Any, num_total_classes: int, sample_weight: Any = None, param_attr: Any = None,
    bias_attr: Any = None, num_neg_samples: int | None = None, name: str | None = None, sampler: str = "uniform",
    custom_dist: Any = None, seed: int = 0, is_sparse: bool = False,
) -> Any:  # fmt: skip
    """Noise-contrastive estimation: a loss for many classes, from the label and a few sampled classes.

    Arguments:
        input: features [N, width].
        label: integer class ids [N, 1].
        num_total_classes: number of classes.
        sample_weight: weight of each sample [N, 1]; None: ones.
        param_attr: ParamAttr, initializer or name of the weight; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the bias; None: zeros; False: no bias.
        num_neg_samples: number of sampled classes for the batch; None: 10.
        sampler: "uniform"; others are not available. Default: 'uniform'.
        seed: other than 0: sample the same classes in every run. Default: 0.

    Returns:
        The losses [N, 1].

    Raises:
        NotImplementedError: for another sampler.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.enable_static()
        >>> main, startup = paddle.static.Program(), paddle.static.Program()
        >>> with paddle.static.program_guard(main, startup):
        ...     x = paddle.static.data("x", [None, 3], "float32")
        ...     y = paddle.static.nn.nce(x, paddle.ones([2, 1], "int64"), 5, num_neg_samples=2)
        >>> exe = paddle.static.Executor(); _ = exe.run(startup)
        >>> exe.run(main, feed={"x": np.ones([2, 3], "float32")}, fetch_list=[y])[0].shape
        (2, 1)
        >>> paddle.disable_static()

    Source: Gutmann and Hyvärinen, Noise-Contrastive Estimation, 2010.
    """
    if sampler != "uniform":
        raise NotImplementedError(f"nce: sampler is {sampler!r}; only 'uniform' is available")
    drawn = num_neg_samples or 10
    layer, width = nn.Layer(name or "nce"), _known(input.shape[1], "nce: the width")
    weight = layer.create_parameter([num_total_classes, width], param_attr, input.dtype)
    bias = layer.create_parameter([num_total_classes, 1], bias_attr, input.dtype, is_bias=True)
    noise, rows = _noise(num_total_classes, drawn, seed), flatten(label)
    positive = (F.embedding(rows, weight) * input).sum(-1, keepdim=True)
    negative = input.matmul(F.embedding(noise, weight), transpose_y=True)
    if bias is not None:
        positive = positive + F.embedding(rows, bias)
        negative = negative + reshape(F.embedding(noise, bias), [1, drawn])
    loss = _contrast(positive, negative, drawn / num_total_classes) / (drawn + 1)
    return loss if sample_weight is None else loss * reshape(sample_weight, [-1, 1])


def _noise(classes: int, drawn: int, seed: int) -> Tensor:
    """Return the classes that stand against the label."""
    return to_tensor(np.random.default_rng(seed).integers(0, classes, drawn)) if seed else randint(0, classes, [drawn])


def _contrast(positive: Tensor, negative: Tensor, expected: float) -> Tensor:
    """The cost of telling the label from the noise, of which a class is `expected` times; o = sigmoid of a score.

    -log(o / (o + expected)) for the label, -log(expected / (o + expected)) for each drawn class.
    """
    label = F.softplus(math.log(expected / (1 + expected)) - positive) + math.log1p(expected)
    return label + log1p(F.sigmoid(negative) / expected).sum(-1, keepdim=True)
