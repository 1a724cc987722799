"""Operators that are layers of the library: normalizations, losses, decoding, attention, weights of few bits."""

from __future__ import annotations

from typing import Any

from ...incubate.nn import functional as _fused
from ...nn import functional as _functional
from ...nn import quant as _quant
from ...text import viterbi_decode as best_path
from .table import P, number, operator, tensor

F: Any = _functional
FUSED: Any = _fused
Q: Any = _quant


@operator("norm")
def norm(x: Any, *, axis: int, epsilon: float = 1e-10) -> Any:
    x = tensor(x)
    length = P.sqrt(P.sum(P.square(x), axis, keepdim=True) + epsilon)
    return x / length, length


@operator("lrn")
def lrn(
    x: Any, *, n: int = 5, k: float = 2.0, alpha: float = 1e-4, beta: float = 0.75, data_format: str = "NCHW"
) -> Any:
    form = "NHWC" if data_format == "NHWC" else "NCHW"
    return F.local_response_norm(tensor(x), n, alpha * n, beta, k, form), None


@operator("rms_norm", "fast_rms_norm")
def rms_norm(x: Any, scale: Any = None, *, normalized_shape: Any = (), epsilon: float = 1e-5) -> Any:
    x = tensor(x)
    axes = list(range(-max(1, len(normalized_shape)), 0))
    wide = P.cast(x, "float32")
    inverse = P.rsqrt(P.mean(P.square(wide), axes, keepdim=True) + epsilon)
    out = P.cast(wide * inverse, x.dtype)
    return out if scale is None else out * tensor(scale), inverse


@operator("rrelu")
def rrelu(x: Any, *, lower: float = 0.125, upper: float = 1 / 3) -> Any:
    return F.rrelu(tensor(x), lower, upper, training=False), None


@operator("sequence_mask")
def sequence_mask(x: Any, max_len: Any = None, *, out_dtype: str | None = None) -> Any:
    size = None if max_len is None else number(max_len)
    return F.sequence_mask(tensor(x), None if isinstance(size, int) and size < 0 else size, out_dtype or "int64")


@operator("gather_tree")
def gather_tree(ids: Any, parents: Any) -> Any:
    return F.gather_tree(tensor(ids), tensor(parents))


@operator("viterbi_decode")
def viterbi_decode(potentials: Any, transitions: Any, lengths: Any, *, include_bos_eos_tag: bool = True) -> Any:
    potentials, transitions, lengths = map(tensor, (potentials, transitions, lengths))
    return tuple(best_path(potentials, transitions, lengths, include_bos_eos_tag))


@operator("hsigmoid_loss")
def hsigmoid_loss(
    x: Any, label: Any, weight: Any, bias: Any = None, path: Any = None, code: Any = None, *, num_classes: int,
    is_sparse: bool = False,
) -> Any:  # fmt: skip
    given = map(tensor, (weight, bias, path, code))
    return F.hsigmoid_loss(tensor(x), tensor(label), num_classes, *given, is_sparse), None, None


@operator("warprnnt")
def warprnnt(
    x: Any, label: Any, input_lengths: Any, label_lengths: Any, *, blank: int = 0, fastemit_lambda: float = 0.0
) -> Any:
    given = map(tensor, (x, label, input_lengths, label_lengths))
    return F.rnnt_loss(*given, blank, fastemit_lambda, "none"), None


@operator("hinge_loss")
def hinge_loss(logits: Any, labels: Any) -> Any:
    return F.relu(1 - (2 * tensor(labels) - 1) * tensor(logits))


def _fractional(rank: int) -> None:
    @operator(f"fractional_max_pool{rank}d")
    def pool(x: Any, *, output_size: Any, kernel_size: Any = (), random_u: float = 0.0) -> Any:
        size = list(kernel_size) if any(kernel_size) else None
        function = getattr(F, f"fractional_max_pool{rank}d")
        return tuple(function(tensor(x), list(output_size), size, random_u or None, return_mask=True))


_fractional(2)
_fractional(3)


@operator("max_pool3d_with_index")
def max_pool3d_with_index(
    x: Any, *, kernel_size: Any, strides: Any = (1, 1, 1), paddings: Any = (0, 0, 0), global_pooling: bool = False,
    adaptive: bool = False, ceil_mode: bool = False,
) -> Any:  # fmt: skip
    if adaptive or global_pooling:
        size = [1, 1, 1] if global_pooling else list(kernel_size)
        return F.adaptive_max_pool3d(tensor(x), size, return_mask=True)
    return F.max_pool3d(tensor(x), *map(list, (kernel_size, strides, paddings)), True, ceil_mode)


@operator("unpool3d")
def unpool3d(x: Any, indices: Any, *, ksize: Any, strides: Any, paddings: Any, output_size: Any) -> Any:
    sizes = map(list, (ksize, strides, paddings))
    return F.max_unpool3d(tensor(x), tensor(indices), *sizes, output_size=list(output_size))


@operator("stft")
def stft(x: Any, window: Any, *, n_fft: int, hop_length: int, normalized: bool = False, onesided: bool = True) -> Any:
    from ...signal import stft as transform

    return transform(tensor(x), n_fft, hop_length, None, tensor(window), False, "reflect", normalized, onesided)


# -- attention and fused layers ------------------------------------------------------------------------------------
@operator("flash_attn")
def flash_attn(q: Any, k: Any, v: Any, _seed: Any = None, attn_mask: Any = None, *, causal: bool = False) -> Any:
    return F.scaled_dot_product_attention(*map(tensor, (q, k, v, attn_mask)), 0.0, causal), None, None, None


@operator("fused_softmax_mask")
def fused_softmax_mask(x: Any, mask: Any) -> Any:
    return F.softmax(tensor(x) + tensor(mask))


@operator("fused_softmax_mask_upper_triangle")
def fused_softmax_mask_upper_triangle(x: Any) -> Any:
    x = tensor(x)
    return F.softmax(P.where(P.cast(P.tril(P.ones_like(x)), "bool"), x, P.full_like(x, -1e4)))


@operator("fused_rotary_position_embedding")
def fused_rotary_position_embedding(
    q: Any, k: Any = None, v: Any = None, sin: Any = None, cos: Any = None, position_ids: Any = None, *,
    use_neox_rotary_style: bool = True, time_major: bool = False, rotary_emb_base: float = 10000.0,
) -> Any:  # fmt: skip
    given = map(tensor, (q, k, v, sin, cos, position_ids))
    return tuple(FUSED.fused_rotary_position_embedding(*given, use_neox_rotary_style, time_major, rotary_emb_base))


@operator("fused_gemm_epilogue")
def fused_gemm_epilogue(
    x: Any, y: Any, bias: Any, *, trans_x: bool = False, trans_y: bool = False, activation: str = "none"
) -> Any:
    out = P.matmul(tensor(x), tensor(y), trans_x, trans_y) + tensor(bias)
    return {"relu": F.relu, "gelu": F.gelu}.get(activation, P.assign)(out), None


@operator("fused_dropout_add")
def fused_dropout_add(x: Any, y: Any, *_: Any, p: float = 0.0, mode: str = "upscale_in_train") -> Any:
    kept = tensor(x) if mode == "upscale_in_train" else tensor(x) * (1.0 - p)
    return kept + tensor(y), None


@operator("weight_only_linear")
def weight_only_linear(
    x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, *, weight_dtype: str = "int8", arch: int = 80,
    group_size: int = -1,
) -> Any:  # fmt: skip
    return Q.weight_only_linear(*map(tensor, (x, weight, bias, weight_scale)), weight_dtype, arch, group_size)


@operator("llm_int8_linear")
def llm_int8_linear(x: Any, weight: Any, bias: Any = None, weight_scale: Any = None, *, threshold: float = 6.0) -> Any:
    return Q.llm_int8_linear(*map(tensor, (x, weight, bias, weight_scale)), threshold)


@operator("weight_quantize")
def weight_quantize(x: Any, *, algo: str = "weight_only_int8", arch: int = 80, group_size: int = -1) -> Any:
    return tuple(Q.weight_quantize(tensor(x), algo, arch, group_size))


@operator("weight_dequantize")
def weight_dequantize(x: Any, scale: Any, *, algo: str = "weight_only_int8", group_size: int = -1) -> Any:
    return Q.weight_dequantize(tensor(x), tensor(scale), algo, group_size=group_size)
