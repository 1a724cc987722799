"""Kernels by name, with attributes in order; what programs call of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .eager.tensor import Tensor
from .model_files.kernels import kernel, kernel_names
from .ops.convert import numel
from .ops.search import argsort as _argsort
from .ops.search import sort as _sort
from .vision import ops as _vision
from .vision.kernels import anchor_generator, multiclass_nms3

__all__ = ["anchor_generator", "multiclass_nms3", "numel"]


def argsort(x: Any, axis: int = -1, descending: bool = False, stable: bool = False) -> tuple[Tensor, Tensor]:
    """Return the sorted tensor, and where each element was.

    Args:
        x: a tensor.
        axis, descending, stable: as for paddle.argsort.
    """
    settings: dict[str, Any] = {"axis": axis, "descending": descending, "stable": stable}
    return _sort(x, **settings), _argsort(x, **settings)


def box_coder(
    prior_box: Tensor, prior_box_var: Tensor | None, target_box: Tensor, code_type: str = "encode_center_size",
    box_normalized: bool = True, axis: int = 0, variance: Sequence[float] = (),
) -> Tensor:  # fmt: skip
    """As paddle.vision.ops.box_coder, with variances that are numbers at the end."""
    spread = (list(variance) or None) if prior_box_var is None else prior_box_var
    return _vision.box_coder(prior_box, spread, target_box, code_type, box_normalized, axis)


def distribute_fpn_proposals(
    fpn_rois: Tensor, rois_num: Tensor | None, min_level: int, max_level: int, refer_level: int, refer_scale: int,
    pixel_offset: bool,
) -> tuple[list[Tensor], list[Tensor] | None, Tensor]:  # fmt: skip
    """As paddle.vision.ops.distribute_fpn_proposals, with the counts before the places."""
    rois, place, counts = _vision.distribute_fpn_proposals(
        fpn_rois, min_level, max_level, refer_level, refer_scale, pixel_offset, rois_num
    )
    return rois, counts, place


def generate_proposals(
    scores: Tensor, bbox_deltas: Tensor, im_shape: Tensor, anchors: Tensor, variances: Tensor,
    pre_nms_top_n: int = 6000, post_nms_top_n: int = 1000, nms_thresh: float = 0.5, min_size: float = 0.1,
    eta: float = 1.0, pixel_offset: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """As paddle.vision.ops.generate_proposals, with the counts."""
    settings = (pre_nms_top_n, post_nms_top_n, nms_thresh, min_size, eta, pixel_offset, True)
    found: Any = _vision.generate_proposals(scores, bbox_deltas, im_shape, anchors, variances, *settings)
    return found


def matrix_nms(
    bboxes: Tensor, scores: Tensor, score_threshold: float, nms_top_k: int, keep_top_k: int,
    post_threshold: float = 0.0, use_gaussian: bool = False, gaussian_sigma: float = 2.0, background_label: int = 0,
    normalized: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """As paddle.vision.ops.matrix_nms: the boxes, their numbers and the counts."""
    settings = (nms_top_k, keep_top_k, use_gaussian, gaussian_sigma, background_label, normalized, True)
    out, counts, index = _vision.matrix_nms(bboxes, scores, score_threshold, post_threshold, *settings)
    return out, index, counts


def prior_box(
    input: Tensor, image: Tensor, min_sizes: Sequence[float], max_sizes: Sequence[float] = (),
    aspect_ratios: Sequence[float] = (), variances: Sequence[float] = (), flip: bool = True, clip: bool = True,
    step_w: float = 0.0, step_h: float = 0.0, offset: float = 0.5, min_max_aspect_ratios_order: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """As paddle.vision.ops.prior_box, with the two steps apart."""
    settings = (flip, clip, (step_w, step_h), offset, min_max_aspect_ratios_order)
    return _vision.prior_box(input, image, min_sizes, max_sizes, aspect_ratios, variances, *settings)


# Where public functions are that stand for kernels of their names.
_ROOMS = [
    *("", ".nn.functional", ".linalg", ".fft", ".vision.ops", ".incubate.nn.functional", ".nn.quant"),
    *(".sparse", ".sparse.nn.functional", ".distributed", ".tensor"),
]


def instead_of(name: str) -> str:
    """Return what to call instead of a kernel that there is not.

    Examples:
        >>> instead_of("tanh_grad")
        'call paddle.grad(), which computes gradients'
        >>> instead_of("coalesce_tensor")
        'no public function has its name; write it with the functions of paddle, which XLA places and fuses'
    """
    if name.rstrip("_").endswith("_grad"):
        return "call paddle.grad(), which computes gradients"
    package = __name__.partition(".")[0]
    for room in _ROOMS:
        public = name.removeprefix("sparse_") if room.startswith(".sparse") else name
        if hasattr(sys.modules.get(package + room), public):
            return f"call paddle{room}.{public}()"
    return "no public function has its name; write it with the functions of paddle, which XLA places and fuses"


def __getattr__(name: str) -> Any:
    if (found := kernel(name)) is not None:
        return found
    raise AttributeError(f"paddle._C_ops has no kernel {name!r} here: {instead_of(name)}")


def __dir__() -> list[str]:
    return sorted({*globals(), *kernel_names()})
