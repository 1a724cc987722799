"""The names that Paddle's lists use for ops which have another name here."""

from __future__ import annotations

from collections.abc import Iterable

from ..registry.op import REGISTRY

_INTERPOLATE = tuple(f"{kind}_interp_v2" for kind in ("bicubic", "bilinear", "linear", "nearest", "trilinear"))
_OTHER: dict[str, tuple[str, ...]] = {
    **{f"elementwise_{name}": (name,) for name in ("mod", "floordiv")},
    **{f"reduce_{name}": (name,) for name in ("sum", "mean", "prod", "max", "min", "all", "any")},
    **dict.fromkeys(_INTERPOLATE, ("interpolate",)),
    **dict.fromkeys(("mul", "matmul_v2"), ("matmul", "mm", "bmm", "mv")),
    **dict.fromkeys(("lookup_table", "lookup_table_v2"), ("embedding",)),
    **dict.fromkeys(("cross_entropy2", "softmax_with_cross_entropy"), ("cross_entropy",)),
    **{"elementwise_add": ("add",), "elementwise_sub": ("subtract",), "elementwise_mul": ("multiply",)},
    **{"elementwise_div": ("divide",), "elementwise_pow": ("power", "power_scalar"), "pow": ("power", "power_scalar")},
    **{"flash_attn": ("attention", "attention_mix"), "linear_v2": ("linear",), "fused_gemm_epilogue": ("linear",)},
    **{"pnorm": ("p_norm",), "frobenius_norm": ("p_norm", "matrix_norm"), "tanh_shrink": ("tanhshrink",)},
    **{"huber_loss": ("smooth_l1_loss",), "sigmoid_cross_entropy_with_logits": ("binary_cross_entropy_with_logits",)},
    **{"conv2d_transpose": ("conv2d_transpose", "conv_transpose"), "depthwise_conv2d": ("conv2d",)},
}


def ops_called(names: Iterable[str] | None) -> frozenset[str]:
    """Return the ops of ours that these names stand for; names of ops that only Paddle has stand for none."""
    if isinstance(names, str):
        raise TypeError(f"a list of op names is expected, got the string {names!r}: write [{names!r}]")
    return frozenset(own for name in names or () for own in _OTHER.get(name, (name,)) if own in REGISTRY)
