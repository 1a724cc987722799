"""Linear maps, embeddings, reshaping and distances."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ..core.interpreter import state
from ..core.param_attr import as_attr
from ..eager.execute import Eager
from . import functional as F
from .base import Layer
from .function_layer import FunctionLayer
from .initializer import Initializer, Uniform, default_for

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
    """x @ weight + bias, with a weight of the shape [in_features, out_features].

    Arguments:
        in_features, out_features: sizes of the last dimension before and after.
        weight_attr, bias_attr: ParamAttr of the parameters; bias_attr=False: no bias.

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
        self.weight = self.create_parameter([in_features, out_features], weight_attr)
        self.bias = self.create_parameter([out_features], bias_attr, is_bias=True)

    def forward(self, input: Any) -> Any:
        """input @ weight + bias."""
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        named = f", name={self.name}" if self.name else ""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, dtype={self.weight.dtype.name}{named}"
        )


class Bilinear(Layer):
    """x1 weight x2 + bias for each output, with a weight of the shape [out, in1, in2].

    Example:
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
        self.weight = self.create_parameter([out_features, in1_features, in2_features], weight_attr)
        self.bias = self.create_parameter([1, out_features], bias_attr, is_bias=True)

    def forward(self, x1: Any, x2: Any) -> Any:
        """The bilinear form of x1 and x2."""
        return F.bilinear(x1, x2, self.weight, self.bias)

    def extra_repr(self) -> str:
        """Its sizes."""
        a, b, c = self._sizes
        return f"in1_features={a}, in2_features={b}, out_features={c}, dtype={self.weight.dtype.name}"


class _ZeroRow(Initializer):
    """What another initializer draws, with zeros in one row."""

    def __init__(self, inner: Initializer, row: int) -> None:
        self.inner, self.row = inner, row

    def draw(self, shape: tuple[int, ...], dtype: Any) -> np.ndarray:
        """An array of this shape and dtype."""
        table = np.array(self.inner.draw(shape, dtype))
        table[self.row] = 0
        return table


def _with_zeros(attr: Any, row: int) -> Any:
    made = copy.copy(as_attr(attr))
    if made is not None:
        made.initializer = _ZeroRow(made.initializer or default_for(False, None), row)
    return made


class Embedding(Layer):
    """Rows of a trained table for integer ids.

    Arguments:
        num_embeddings, embedding_dim: sizes of the table.
        padding_idx: row that reads as zeros and is not trained.
        max_norm, norm_type: rows longer than max_norm are scaled down to it.
        sparse: parameter servers keep the table, in a job that has some and in a static program; in dynamic mode
            optimizer.Adam updates it as PaddlePaddle does with gradients of rows.
        scale_grad_by_freq: divide the gradient of each row by how often the ids name it.
        weight_attr: ParamAttr of the table.

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
        if self._padding_idx is not None:
            weight_attr = _with_zeros(weight_attr, self._padding_idx)
        self.weight = self.create_parameter([num_embeddings, embedding_dim], weight_attr, dtype, device=device)
        self.weight.is_table = bool(sparse) and isinstance(state.interpreter, Eager)
        if _weight is not None:
            self.weight.set_value(_weight)
        if _freeze:
            self.weight.stop_gradient = True

    @property
    def padding_idx(self) -> int | None:
        """The row that reads as zeros."""
        return self._padding_idx

    def forward(self, x: Any) -> Any:
        """The rows for the ids in x."""
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
        """Its sizes."""
        padding = "" if self._padding_idx is None else f", padding_idx={self._padding_idx}"
        named = f", name={self._name}" if self._name else ""
        how = f"sparse={self._sparse}, scale_grad_by_freq={self._scale_grad_by_freq}"
        return f"{self._num_embeddings}, {self._embedding_dim}{padding}, {how}{named}"


class Dropout(FunctionLayer):
    """Zeroes each element with probability p while training.

    Arguments:
        p: the probability.
        inplace: let the result replace the value of the input.
        axis: axes along which elements are dropped one by one; all others share one draw.
        mode: "upscale_in_train" divides the kept elements by 1 - p; "downscale_in_infer" multiplies by 1 - p otherwise.

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
    """Zeroes whole channels of images with probability p while training.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Dropout2D(0.5)(paddle.ones([1, 2, 3, 3])).shape
        paddle.Size([1, 2, 3, 3])
    """

    _function, _settings = "dropout2d", {"p": 0.5, "data_format": "NCHW"}
    _shown, _takes_training = ("p", "data_format"), True


class Dropout3D(FunctionLayer):
    """Zeroes whole channels of volumes with probability p while training.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Dropout3D(0.5)(paddle.ones([1, 2, 3, 3, 3])).shape
        paddle.Size([1, 2, 3, 3, 3])
    """

    _function, _settings = "dropout3d", {"p": 0.5, "data_format": "NCDHW"}
    _shown, _takes_training = ("p", "data_format"), True


class AlphaDropout(FunctionLayer):
    """Dropout that keeps mean and variance, for SELU networks (Klambauer et al., 2017).

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.AlphaDropout(0.5)(paddle.ones([2, 3])).shape
        paddle.Size([2, 3])
    """

    _function, _settings, _takes_training = "alpha_dropout", {"p": 0.5}, True


class FeatureAlphaDropout(FunctionLayer):
    """AlphaDropout of whole channels.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.FeatureAlphaDropout(0.5)(paddle.ones([1, 2, 3, 3])).shape
        paddle.Size([1, 2, 3, 3])
    """

    _function, _settings, _takes_training = "feature_alpha_dropout", {"p": 0.5}, True


class Flatten(Layer):
    """The dimensions from start_axis to stop_axis as one.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Flatten()(paddle.ones([2, 3, 4])).shape
        paddle.Size([2, 12])
    """

    def __init__(self, start_axis: int = 1, stop_axis: int = -1) -> None:
        super().__init__()
        self.start_axis, self.stop_axis = start_axis, stop_axis

    def forward(self, input: Any) -> Any:
        """The input, flattened."""
        return input.flatten(self.start_axis, self.stop_axis)


class Unflatten(Layer):
    """One axis as several, of the given shape; one size may be -1.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.Unflatten(1, [2, 2])(paddle.ones([3, 4])).shape
        paddle.Size([3, 2, 2])
    """

    def __init__(self, axis: int, shape: Any, name: str | None = None) -> None:
        super().__init__()
        self.axis, self.shape = axis, shape

    def forward(self, input: Any) -> Any:
        """The input with the axis split."""
        axis = self.axis % input.ndim
        return input.reshape([*input.shape[:axis], *self.shape, *input.shape[axis + 1 :]])

    def extra_repr(self) -> str:
        """Its settings."""
        return f"axis={self.axis}, shape={self.shape}"


class CosineSimilarity(FunctionLayer):
    """Cosine of the angle between x1 and x2 along axis.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.CosineSimilarity()(paddle.ones([1, 2]), -paddle.ones([1, 2])).numpy().round(4).tolist()
        [-1.0]
    """

    _function, _settings = "cosine_similarity", {"axis": 1, "eps": 1e-8}


class PairwiseDistance(FunctionLayer):
    """The p-norm of x - y + epsilon along the last axis.

    Example:
        >>> import paddle_lite_py as paddle
        >>> paddle.nn.PairwiseDistance(epsilon=0.0)(paddle.zeros([1, 2]), paddle.to_tensor([[3.0, 4.0]])).tolist()
        [5.0]
    """

    _function, _settings = "pairwise_distance", {"p": 2.0, "epsilon": 1e-6, "keepdim": False}

    def extra_repr(self) -> str:
        """Its settings; those that are mostly left alone where they are not."""
        more = {"epsilon": self.epsilon} if self.epsilon != 1e-6 else {}
        more |= {"keepdim": self.keepdim} if self.keepdim else {}
        more |= {"name": self._name} if self._name else {}
        return ", ".join(f"{k}={v}" for k, v in ({"p": self.p} | more).items())


def uniform_by_size(hidden_size: int) -> Uniform:
    """How recurrent cells are drawn: within 1 / sqrt(hidden_size)."""
    limit = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0.0
    return Uniform(-limit, limit)
