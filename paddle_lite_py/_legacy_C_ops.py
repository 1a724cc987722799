"""Kernels by name, with attributes as pairs of names and values; what programs call of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import _C_ops

# Where the older form has other names: of the kernel, and of its attributes.
_KERNELS = {"generate_proposals_v2": "generate_proposals"}
_ATTRIBUTES = {"pre_nms_topN": "pre_nms_top_n", "post_nms_topN": "post_nms_top_n"}


def _call(kernel: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    first = next((i for i, a in enumerate(given) if isinstance(a, str)), len(given))
    names = (_ATTRIBUTES.get(name, name) for name in given[first::2])
    return kernel(*given[:first], **dict(zip(names, given[first + 1 :: 2], strict=True)))


def distribute_fpn_proposals(x: Any, rois_num: Any, *given: Any) -> tuple[Any, Any, Any]:
    """Return the regions of each level, their places, and the counts.

    Args:
        x: the regions.
        rois_num: how many are of each picture.
        given: how many levels there are, twice; then names and values of attributes.
    """
    rois, counts, place = _call(_C_ops.distribute_fpn_proposals, (x, rois_num, *given[2:]))
    return rois, place, counts


def __getattr__(name: str) -> Any:
    """Return a kernel that takes tensors, then names and values of attributes.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> argsort = paddle._legacy_C_ops.argsort
        >>> [t.tolist() for t in argsort(paddle.to_tensor([1.0, 3.0, 2.0]), "axis", 0, "descending", True)]
        [[3.0, 2.0, 1.0], [1, 2, 0]]
    """
    kernel = getattr(_C_ops, _KERNELS.get(name, name), None)
    if name.startswith("_") or kernel is None:
        raise AttributeError(f"paddle._legacy_C_ops has no kernel {name!r} here: {_C_ops.instead_of(name)}")
    return lambda *given: _call(kernel, given)
