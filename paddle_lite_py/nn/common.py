"""Linear maps, embeddings, reshaping and distances."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ..core.interpreter import state
from ..core.param_attr import as_attr
from . import functional as F
from .base import Layer
from .function_layer import FunctionLayer
from .initializer import Initializer, Uniform, default_for
from .initializer.base import first_value

__all__ = [
    *("AlphaDropout", "Bilinear", "CosineSimilarity", "Dropout", "Dropout2D", "Dropout3D", "Embedding"),
    *("FeatureAlphaDropout", "Flatten", "Linear", "PairwiseDistance", "Unflatten"),
]


class _Size:
    """A size that the weight tells, until a layer or a subclass says otherwise."""

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def __get__(self, layer: Any, owner: type) -> Any:
        return self if layer is None else layer.weight.shape[self.axis]


class Linear(Layer):
    """Linear transformation: `y = x @ weight + bias`.

    The weight has shape [in_features, out_features], the transpose of PyTorch's.

    Arguments:
        in_features: size of the last dimension of the input.
        out_features: size of the last dimension of the output.
        weight_attr: ParamAttr, initializer or name of the weight; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the bias; None: zeros; False: no bias.

    Shape:
        Input: [*, in_features], with any number of leading dimensions.
        Output: [*, out_features].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Linear(3, 2)(paddle.ones([4, 3])).shape
        paddle.Size([4, 2])
    """

    in_features, out_features = _Size(0), _Size(1)

    def __init__(
        self,
        in_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """Return `input @ weight + bias`."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the settings that repr() shows."""
        named = f", name={self.name}" if self.name else ""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={self.weight.dtype.name}{named}"
        )


class Bilinear(Layer):
    """Bilinear transformation: `y[o] = x1 @ weight[o] @ x2 + bias[o]` for each output feature o.

    The weight has shape [out_features, in1_features, in2_features].

    Arguments:
        in1_features: size of the last dimension of x1.
        in2_features: size of the last dimension of x2.
        out_features: size of the last dimension of the output.
        weight_attr: ParamAttr, initializer or name of the weight; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the bias; None: zeros; False: no bias.

    Shape:
        x1: [N, in1_features]; x2: [N, in2_features].
        Output: [N, out_features].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Bilinear(2, 3, 4)(paddle.ones([1, 2]), paddle.ones([1, 3])).shape
        paddle.Size([1, 4])
    """

    def __init__(
        self,
        in1_features: int,
        in2_features: int,
        out_features: int,
        weight_attr: Any = None,
        bias_attr: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__()
        self._sizes = in1_features, in2_features, out_features
        self._weight_attr, self._bias_attr = weight_attr, bias_attr
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """Return the bilinear form of x1 and x2, of shape [N, out_features]."""
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Return the settings that repr() shows."""
        a, b, c = self._sizes
        return f"in1_features={a}, in2_features={b}, out_features={c}, dtype={self.weight.dtype.name}"


class _ZeroRow(Initializer):
    """Another initializer, with zeros in one row."""

    def __init__(self, inner: Initializer, row: int) -> None:
        self.inner, self.row = inner, row

    def draw(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an array of this shape and dtype."""
        table = np.array(first_value(self.inner, shape, dtype))
        table[self.row] = 0
        return table


def _with_zeros(attr: Any, row: int) -> Any:
    made = copy.copy(as_attr(attr))
    if made is not None:
        made.initializer = _ZeroRow(made.initializer or default_for(False, None), row)
    return made


class Embedding(Layer):
    """Lookup table of trainable vectors: `y = weight[ids]`.

    Arguments:
        num_embeddings: number of rows of the table; ids lie in [0, num_embeddings).
        embedding_dim: length of each row.
        padding_idx: id whose output is all zeros and whose row receives no gradient; a negative one counts from the
            end.
        max_norm: rows whose norm is larger are rescaled to this norm when they are looked up; None: no limit.
        norm_type: order p of the norm for max_norm. Default: 2.0.
        sparse: compute gradients of rows. In dynamic mode optimizer.Adam then updates the table as PaddlePaddle does
            with sparse gradients; in a static program with parameter servers, the servers store the table. Default:
            False.
        scale_grad_by_freq: divide the gradient of each row by the number of times its id occurs in the batch. Default:
            False.
        weight_attr: ParamAttr, initializer or name of the table.
        device: device of the table; None: the current device.
        dtype: dtype of the table; None: the default dtype.

    Shape:
        Input: integer tensor of any shape [*].
        Output: [*, embedding_dim].

    Raises:
        ValueError: if padding_idx is not a row of the table.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Embedding(10, 3)(paddle.to_tensor([[1, 2]])).shape
        paddle.Size([1, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        sparse: bool = False,
        weight_attr: Any = None,
        name: str | None = None,
        *,
        scale_grad_by_freq: bool = False,
        _weight: Any = None,
        _freeze: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if num_embeddings <= 0 or embedding_dim <= 0:
            raise ValueError(
                f"Embedding: the table {num_embeddings} x {embedding_dim} is empty; expected sizes above 0"
            )
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise ValueError(f"Embedding: padding_idx is {padding_idx}; expected a row of the {num_embeddings}")
        self._num_embeddings, self._embedding_dim, self._sparse = num_embeddings, embedding_dim, sparse
        self._padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        self._max_norm, self._norm_type, self._name = max_norm, norm_type, name
        self._scale_grad_by_freq = scale_grad_by_freq
        self._weight_attr, self._size = weight_attr, [num_embeddings, embedding_dim]
        if self._padding_idx is not None:
            weight_attr = _with_zeros(weight_attr, self._padding_idx)
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, dtype, device=device)
        self.weight.is_table = bool(sparse) and state.interpreter.is_eager
        if _weight is not None:
            self.weight.set_value(_weight)
        if _freeze:
            self.weight.stop_gradient = True

    @property
    def padding_idx(self) -> int | None:
        """Id whose output is all zeros."""
        return self._padding_idx

    def forward(self, x: Any) -> Any:
        """Return the rows for the ids in x, of shape [*x.shape, embedding_dim]."""
        return F.embedding(
            x,
            self.weight,
            padding_idx=self._padding_idx,
            max_norm=self._max_norm,
            norm_type=self._norm_type,
            sparse=self._sparse,
            scale_grad_by_freq=self._scale_grad_by_freq,
        )

    def extra_repr(self) -> str:
        """Return its sizes."""
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        named = f", name={self._name}" if self._name else ""
        how = f"sparse={self._sparse}, scale_grad_by_freq={self._scale_grad_by_freq}"
        return f"{self._num_embeddings}, {self._embedding_dim}{padding}, {how}{named}"


class Dropout(FunctionLayer):
    """Set elements to zero at random, each with probability p, in training mode.

    With mode="upscale_in_train", `y = x * mask / (1 - p)` in training and `y = x` in evaluation. With
    mode="downscale_in_infer", `y = x * mask` in training and `y = x * (1 - p)` in evaluation.

    Arguments:
        p: probability that an element is set to zero. Default: 0.5.
        inplace: write the result into the input. Default: False.
        axis: dimension, or dimensions, along which the mask is drawn; it is broadcast along all others. None: an
            independent draw for each element.
        mode: "upscale_in_train" or "downscale_in_infer". Default: 'upscale_in_train'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> layer = paddle.nn.Dropout(0.5)
        >>> layer.eval()(paddle.ones([3])).tolist()
        [1.0, 1.0, 1.0]
    """

    _function = "dropout"
    _settings = {"p": 0.5, "inplace": False, "axis": None, "mode": "upscale_in_train"}
    _shown, _takes_training = ("p", "axis", "mode", "inplace"), True


class Dropout2D(FunctionLayer):
    """Set whole channels of images to zero, each with probability p, in training mode.

    The remaining channels are multiplied by 1 / (1 - p). In evaluation mode the input is returned unchanged.

    Arguments:
        p: probability that a channel is set to zero. Default: 0.5.
        data_format: "NCHW" or "NHWC". Default: 'NCHW'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Dropout2D(0.5)(paddle.ones([1, 2, 3, 3])).shape
        paddle.Size([1, 2, 3, 3])
    """

    _function, _settings = "dropout2d", {"p": 0.5, "data_format": "NCHW"}
    _shown, _takes_training = ("p", "data_format"), True


class Dropout3D(FunctionLayer):
    """Set whole channels of volumes to zero, each with probability p, in training mode.

    The remaining channels are multiplied by 1 / (1 - p). In evaluation mode the input is returned unchanged.

    Arguments:
        p: probability that a channel is set to zero. Default: 0.5.
        data_format: "NCDHW" or "NDHWC". Default: 'NCDHW'.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Dropout3D(0.5)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _function, _settings = "dropout3d", {"p": 0.5, "data_format": "NCDHW"}
    _shown, _takes_training = ("p", "data_format"), True


class AlphaDropout(FunctionLayer):
    """Dropout that preserves the mean and variance of its input, for SELU networks (Klambauer et al., 2017).

    Arguments:
        p: probability that an element is dropped, that is, set to the negative saturation value of SELU. Default: 0.5.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AlphaDropout(0.5)(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """

    _function, _settings, _takes_training = "alpha_dropout", {"p": 0.5}, True


class FeatureAlphaDropout(FunctionLayer):
    """AlphaDropout of whole channels: every element of a dropped channel gets the saturation value of SELU.

    Arguments:
        p: probability that a channel is dropped. Default: 0.5.

    Shape:
        The output has the shape and dtype of the input.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.FeatureAlphaDropout(0.5)(paddle.ones([1, 2, 3, 3])).shape
        paddle.Size([1, 2, 3, 3])
    """

    _function, _settings, _takes_training = "feature_alpha_dropout", {"p": 0.5}, True


class Flatten(Layer):
    """Flatten the dimensions from start_axis to stop_axis, both included, into one.

    Arguments:
        start_axis: first dimension to flatten; the default keeps the batch dimension.
        stop_axis: last dimension to flatten; -1 is the last. Default: -1.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Flatten()(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 12])
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        """Return the flattened input."""
        return input.flatten(self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """Split one dimension into several: the inverse of Flatten.

    Arguments:
        axis: dimension to split; negative values count from the last.
        shape: sizes of the new dimensions, a list or tensor of integers; one of them may be -1 and is inferred.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Unflatten(1, [2, 2])(paddle.ones([3, 4])).shape
        paddle.Size([3, 2, 2])
    """

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape = axis, shape

    def forward(self, input: Any) -> Any:
        """Return the input with the dimension `axis` replaced by `shape`."""
        axis = self.axis % input.ndim
        return input.reshape([*input.shape[:axis], *self.shape, *input.shape[axis + 1 :]])

    def extra_repr(self) -> str:
        """Return its settings."""
        return f"axis={self.axis}, shape={self.shape}"


class CosineSimilarity(FunctionLayer):
    """Cosine similarity: `sum(x1 * x2) / max(norm(x1) * norm(x2), eps)` along a dimension.

    Arguments:
        axis: dimension along which the vectors lie. Default: 1.
        eps: lower bound of the denominator. Default: 1e-08.

    Shape:
        x1, x2: tensors of shapes that broadcast.
        Output: their broadcast shape without the dimension `axis`.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CosineSimilarity()(paddle.ones([1, 2]), -paddle.ones([1, 2])).numpy().round(4).tolist()
        [-1.0]
    """

    _function, _settings = "cosine_similarity", {"axis": 1, "eps": 1e-8}


class PairwiseDistance(FunctionLayer):
    """Distance of pairs of vectors: `norm(x - y + epsilon, p)` along the last dimension.

    Arguments:
        p: order of the norm. Default: 2.0.
        epsilon: added to the difference, so that the gradient is finite where x == y. Default: 1e-06.
        keepdim: keep the last dimension with length 1. Default: False.

    Shape:
        x, y: [N, D] or [D].
        Output: [N] or a scalar; with keepdim [N, 1] or [1].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PairwiseDistance(epsilon=0.0)(paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])).tolist()
        [5.0]
    """

    _function, _settings = "pairwise_distance", {"p": 2.0, "epsilon": 1e-6, "keepdim": False}

    def extra_repr(self) -> str:
        """Return its settings; those that are mostly left alone where they are not."""
        more = {"epsilon": self.epsilon} if self.epsilon != 1e-6 else {}
        more |= {"keepdim": self.keepdim} if self.keepdim else {}
        more |= {"name": self._name} if self._name else {}
        return ", ".join(f"{k}={v}" for k, v in ({"p": self.p} | more).items())


def uniform_by_size(hidden_size: int) -> Uniform:
    """Return the initializer of recurrent cells: uniform in [-1 / sqrt(hidden_size), 1 / sqrt(hidden_size)]."""
    limit = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0.0
    return Uniform(-limit, limit)
