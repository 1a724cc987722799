"""Kernels of PaddlePaddle that programs call by name, and which are expressions of public functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..autograd import grad
from ..core.no_effect import NO_GRADIENT, Immaterial, Refused, no_effect
from ..eager.tensor import Tensor
from ..incubate.nn.functional import swiglu
from ..nn import functional as F  # noqa: N812  (the reference's usual name)
from ..ops import public

ops: Any = public  # its names come from the modules that define them


_NO_FORWARD = Immaterial("the forward pass is computed again")


def _gradients(function: Callable[..., Any], inputs: Sequence[Tensor], out_grad: Tensor) -> list[Any]:
    """Return the gradients of a function of tensors at some inputs."""
    leaves = [x.detach() for x in inputs]
    for leaf in leaves:
        leaf.stop_gradient = False
    return grad(function(*leaves), leaves, [out_grad])


def matmul_grad(x: Any, y: Any, out_grad: Any, transpose_x: bool = False, transpose_y: bool = False) -> Any:
    """Return the gradients of matmul by both factors."""
    return _gradients(lambda a, b: ops.matmul(a, b, transpose_x, transpose_y), [x, y], out_grad)


def gather_grad(x: Any, index: Any, out_grad: Any, axis: int = 0) -> Any:
    """Return the gradient of gather."""
    return _gradients(lambda a: ops.gather(a, index, axis), [x], out_grad)[0]


def reshape_grad(x: Any, out_grad: Any) -> Any:
    """Return the gradient of reshape."""
    return out_grad.reshape(x.shape)


@no_effect(
    out=_NO_FORWARD, softmax_lse=_NO_FORWARD, seed_offset=_NO_FORWARD, dropout=Refused("a draw cannot be repeated here")
)
def flashmask_attention_grad(
    q: Any, k: Any, v: Any, startend_row_indices: Any, out: Any, softmax_lse: Any, seed_offset: Any, out_grad: Any,
    dropout: float = 0.0, causal: bool = False,
) -> Any:  # fmt: skip
    """Return the gradients of flashmask_attention by query, key and value."""

    def attend(q: Any, k: Any, v: Any) -> Any:
        return F.flashmask_attention(q, k, v, startend_row_indices, causal=causal)

    return _gradients(attend, [q, k, v], out_grad)


_BY_PLACES = Immaterial("the other arguments say where gradients go")


@no_effect(out=_BY_PLACES)
def put_along_axis_grad(
    x: Any, index: Any, value: Any, out: Any, out_grad: Any, axis: int = 0, reduce: str = "assign",
    include_self: bool = True,
) -> Any:  # fmt: skip
    """Return the gradients of put_along_axis by the tensor and the values."""

    def put(a: Any, b: Any) -> Any:
        return ops.put_along_axis(a, index, b, axis, reduce, include_self)

    return _gradients(put, [x, value], out_grad)


@no_effect(k=_BY_PLACES, largest=_BY_PLACES, sorted=_BY_PLACES)
def topk_grad(
    x: Any, indices: Any, out_grad: Any, k: int = 1, axis: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    """Return the gradient of topk: each goes to where its value was found."""
    return _gradients(lambda a: ops.take_along_axis(a, indices, axis), [x], out_grad)[0]


def swiglu_grad(x: Any, y: Any, out_grad: Any) -> Any:
    """Return the gradients of swiglu by both parts; by the whole, and None, if there is one part only."""
    if y is None:
        return _gradients(swiglu, [x], out_grad)[0], None
    return _gradients(swiglu, [x, y], out_grad)


def layer_norm(x: Any, scale: Any, bias: Any, epsilon: float = 1e-5, begin_norm_axis: int = 1) -> Any:
    """Return the normalized tensor, and the mean and the variance of each row."""
    rows = x.astype("float32").reshape([*x.shape[:begin_norm_axis], -1])
    shape = x.shape[begin_norm_axis:]
    weights = [None if w is None else w.reshape(shape) for w in (scale, bias)]
    out = F.layer_norm(x, shape, *weights, epsilon)
    return out, rows.mean(-1).flatten(), rows.var(-1, unbiased=False).flatten()


@no_effect(is_test=NO_GRADIENT)
def norm(x: Any, axis: int = -1, epsilon: float = 1e-10, is_test: bool = False) -> Any:
    """Return the tensor divided by its 2-norms along an axis, and these."""
    lengths = (x * x).sum(axis, keepdim=True).add(ops.to_tensor(epsilon, x.dtype)).sqrt()
    return x / lengths, lengths


@no_effect(numeric_stable_mode=Immaterial("the way that is taken is stable"))
def cross_entropy_with_softmax(
    logits: Any, label: Any, soft_label: bool = False, use_softmax: bool = True, numeric_stable_mode: bool = True,
    ignore_index: int = -100, axis: int = -1,
) -> Any:  # fmt: skip
    """Return the softmax, and the loss of each row."""
    settings = {"soft_label": soft_label, "ignore_index": ignore_index, "axis": axis}
    loss = F.cross_entropy(logits, label, reduction="none", use_softmax=use_softmax, **settings)
    kept = loss if loss.ndim == logits.ndim else loss.unsqueeze(axis)
    return (F.softmax(logits, axis) if use_softmax else logits), kept


def legacy_squared_l2_norm(x: Any) -> Any:
    """Return the sum of squares, as a tensor of one element."""
    return (x * x).sum().reshape([1])


def check_finite_and_unscale(grads: Sequence[Any], scale: Any, *given: Any) -> Any:
    """The gradients divided by a scale in place, and whether one of them is not finite; also written to `found_inf`."""
    found = ops.to_tensor([False])
    for g in grads:
        found = ops.logical_or(found, ops.logical_not(ops.isfinite(g).all()).reshape([1]))
        g.set_value(g / scale.astype(g.dtype))
    if len(given) > 1:
        given[1].set_value(found)
    return grads, found


def _conv_nd(
    x: Any, weight: Any, bias: Any = None, stride: Any = 1, padding: Any = 0, padding_algorithm: Any = None,
    dilation: Any = 1, groups: int = 1, data_format: str = "NCHW", channel_dim: int = 1, op_type: str = "conv2d",
    use_cudnn: bool = True, name: Any = None,
) -> Any:  # fmt: skip
    """Return the convolution that `op_type` names."""
    convolve = F.conv3d if op_type == "conv3d" else F.conv2d
    way = padding_algorithm if padding_algorithm in ("SAME", "VALID") else padding
    return convolve(x, weight, bias, stride, way, dilation, groups, data_format)
