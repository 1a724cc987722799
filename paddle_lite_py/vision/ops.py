"""Ops on boxes and regions: the namespace paddle.vision.ops."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import nn as _nn
from ..core.argument_docs import document as _document
from ..core.errors import user_frame
from ..core.interpreter import state
from ..dispatch.define import op
from ..eager.tensor import Tensor
from ..nn.base import Layer
from ..ops import regions
from ..ops.convert import to_tensor
from ..ops.dynamic import concrete, is_eager, known
from ..ops.joining import stack
from ..ops.on_host import HostResult, on_host
from ..tracing.checks import of_argument
from .detection import distribute_fpn_proposals, matrix_nms, prior_box
from .image import pillow
from .proposals import generate_proposals, yolo_loss

__all__ = [
    "distribute_fpn_proposals",
    "generate_proposals",
    "matrix_nms",
    "prior_box",
    "yolo_loss",
    *("DeformConv2D", "PSRoIPool", "RoIAlign", "RoIPool", "box_coder", "decode_jpeg", "deform_conv2d", "nms"),
    *("psroi_pool", "read_file", "roi_align", "roi_pool", "yolo_box"),
]

nn: Any = _nn  # whose lists of names mypy cannot read


def _pair(value: Any) -> tuple[int, int]:
    return (value, value) if isinstance(value, int) else tuple(value)


def _bins(value: Any, who: str) -> tuple[int, int]:
    """Return the height and width of what is made of each region."""
    size = _pair(value)
    if min(size) < 1:
        raise ValueError(f"{who}: output_size is {value!r}; expected numbers of at least 1")
    return size


def _images(boxes: Tensor, boxes_num: Tensor, who: str) -> Tensor:
    """Return the number of its picture for each box."""
    if not is_eager():
        message = f"{who}: boxes_num does not add up to the number of boxes"
        builder: Any = state.interpreter
        builder.check(_adds_up(boxes, boxes_num), lambda: of_argument(ValueError(message)), user_frame())
        return _picture_of(boxes, boxes_num)
    counts = boxes_num.numpy()
    if counts.sum() != boxes.shape[0]:
        raise ValueError(f"{who}: boxes_num adds up to {int(counts.sum())}, and there are {boxes.shape[0]} boxes")
    return to_tensor(np.repeat(np.arange(len(counts)), counts).astype(np.int32))


@op(name="_adds_up", grad=False)
def _adds_up(boxes: Any, counts: Any, /) -> Any:
    return counts.sum() == boxes.shape[0]


@op(name="_picture_of", grad=False)
def _picture_of(boxes: Any, counts: Any, /) -> Any:
    pictures = jnp.arange(counts.shape[0], dtype=jnp.int32)
    return jnp.repeat(pictures, counts.reshape(-1), total_repeat_length=boxes.shape[0])


@op(name="_sampling_grid", grad=False)
def _sampling_grid(boxes: Any, /, size: Any, scale: float, aligned: bool) -> Any:
    wide, high = (boxes[:, 2] - boxes[:, 0]) * scale / size[1], (boxes[:, 3] - boxes[:, 1]) * scale / size[0]
    most = jnp.maximum(wide, high).max(initial=0.0 if aligned else 1 / min(size))
    return jnp.maximum(jnp.ceil(most), 1).astype(jnp.int64)


def roi_align(
    x: Tensor,
    boxes: Tensor,
    boxes_num: Tensor,
    output_size: Any,
    spatial_scale: float = 1.0,
    sampling_ratio: int = -1,
    aligned: bool = True,
    name: Any = None,
) -> Tensor:
    """RoIAlign: average of bilinear samples in each bin of each region of interest.

    Arguments:
        sampling_ratio: number of samples in each direction of a bin; -1: ceil of the size of the bin.
            Default: -1.
        aligned: shift coordinates by half a pixel, so that pixels are areas around their centers. Default: True.

    Returns:
        A tensor [number of boxes, C, height, width].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, box = paddle.ones([1, 1, 4, 4]), paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]])
        >>> roi_align(x, box, paddle.to_tensor([1]), 1).tolist()
        [[[[1.0]]]]

    Source: He et al., Mask R-CNN, 2017.
    """
    size = _bins(output_size, "roi_align")
    grid = sampling_ratio
    if sampling_ratio <= 0:
        most: Any = _sampling_grid(boxes, size, spatial_scale, aligned)
        grid = int(most) if is_eager() else known(most, "roi_align(sampling_ratio=-1)", "sampling_ratio=2, say")
    fn: Any = regions.roi_align
    settings: dict[str, Any] = {"size": size, "scale": spatial_scale, "ratio": sampling_ratio, "grid": grid}
    return fn(x, boxes, _images(boxes, boxes_num, "roi_align"), **settings, aligned=aligned)


def roi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Tensor, output_size: Any, spatial_scale: float = 1.0, name: Any = None
) -> Tensor:
    """RoIPool: maximum of each bin of each region of interest.

    Returns:
        A tensor [number of boxes, C, height, width].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.roi_pool(x, boxes, count, 1).item()
        15.0

    Source: Girshick, Fast R-CNN, 2015.
    """
    fn: Any = regions.roi_pool
    return fn(x, boxes, _images(boxes, boxes_num, "roi_pool"), size=_bins(output_size, "roi_pool"), scale=spatial_scale)


def psroi_pool(
    x: Tensor, boxes: Tensor, boxes_num: Tensor, output_size: Any, spatial_scale: float = 1.0, name: Any = None
) -> Tensor:
    """Position-sensitive RoI pooling: average of each bin, with channels of its own for each bin.

    Returns:
        A tensor [number of boxes, C / (height * width), height, width].

    Raises:
        ValueError: if the number of channels is not a multiple of the number of bins.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.psroi_pool(x, boxes, count, 1).item()
        7.5

    Source: Dai et al., R-FCN, 2016.
    """
    size = _bins(output_size, "psroi_pool")
    if x.shape[1] % (size[0] * size[1]):
        raise ValueError(f"psroi_pool: x has {x.shape[1]} channels, which {size[0]} x {size[1]} bins do not divide")
    fn: Any = regions.psroi_pool
    return fn(x, boxes, _images(boxes, boxes_num, "psroi_pool"), size=size, scale=spatial_scale)


class _RegionPool(Layer):
    """Base: a function with its settings."""

    _function: Any = None

    def __init__(self, output_size: Any, spatial_scale: float = 1.0) -> None:
        super().__init__()
        self._output_size, self._spatial_scale = output_size, spatial_scale

    def forward(self, x: Any, boxes: Any, boxes_num: Any) -> Any:
        """Return the regions of the boxes."""
        return type(self)._function(x, boxes, boxes_num, self._output_size, self._spatial_scale)


class RoIPool(_RegionPool):
    """Layer for roi_pool(): maximum of each bin of each region of interest.

    Arguments:
        spatial_scale: factor from the coordinates of the boxes to those of the features. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.RoIPool(1)(x, boxes, count).item()
        15.0
    """

    _function = staticmethod(roi_pool)


class PSRoIPool(_RegionPool):
    """Layer for psroi_pool(): position-sensitive average of each bin.

    Arguments:
        spatial_scale: factor from the coordinates of the boxes to those of the features. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.PSRoIPool(1)(x, boxes, count).item()
        7.5
    """

    _function = staticmethod(psroi_pool)


class RoIAlign(_RegionPool):
    """Layer for roi_align(): average of bilinear samples in each bin.

    Arguments:
        spatial_scale: factor from the coordinates of the boxes to those of the features. Default: 1.0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.arange(16.0).reshape([1, 1, 4, 4])
        >>> boxes, count = paddle.to_tensor([[0.0, 0.0, 4.0, 4.0]]), paddle.to_tensor([1], dtype="int32")
        >>> paddle.vision.ops.RoIAlign(1)(x, boxes, count).item()
        7.5
    """

    def forward(self, x: Any, boxes: Any, boxes_num: Any, aligned: bool = True) -> Any:
        """Pool the regions of the boxes; see roi_align().

        Returns:
            A tensor [number of boxes, C, height, width].
        """
        return roi_align(x, boxes, boxes_num, self._output_size, self._spatial_scale, aligned=aligned)


def deform_conv2d(
    x: Tensor,
    offset: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    deformable_groups: int = 1,
    groups: int = 1,
    mask: Tensor | None = None,
    name: Any = None,
) -> Tensor:
    """Deformable 2-D convolution: each element of the kernel is sampled at an offset position (v2: with a mask).

    Arguments:
        x: images [N, C_in, H, W].
        offset: offsets (down, right) of each kernel element, [N, 2 * deformable_groups * kernel height * kernel width,
            H_out, W_out].
        weight: kernel [C_out, C_in / groups, kernel height, kernel width].
        bias: tensor [C_out]; None: no bias.
        stride: step of the kernel, an integer or two. Default: 1.
        padding: zero padding of both sides, an integer or two. Default: 0.
        dilation: distance between neighboring kernel elements, an integer or two. Default: 1.
        deformable_groups: number of groups of input channels with offsets of their own. Default: 1.
        groups: number of groups of the convolution. Default: 1.
        mask: factors of the samples, [N, deformable_groups * kernel height * kernel width, H_out, W_out]; None: v1.

    Returns:
        A tensor [N, C_out, H_out, W_out].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, offset = paddle.ones([1, 1, 3, 3]), paddle.zeros([1, 2, 3, 3])
        >>> paddle.vision.ops.deform_conv2d(x, offset, paddle.ones([2, 1, 1, 1])).shape
        paddle.Size([1, 2, 3, 3])

    Source: Dai et al., Deformable Convolutional Networks, 2017.
    """
    taps = weight.shape[2] * weight.shape[3] * deformable_groups
    if offset.shape[1] != 2 * taps or (mask is not None and mask.shape[1] != taps):
        raise ValueError(f"deform_conv2d: offset and mask must have {2 * taps} and {taps} channels")
    fn: Any = regions.deform_conv2d
    settings: dict[str, Any] = {"stride": _pair(stride), "padding": _pair(padding), "dilation": _pair(dilation)}
    return fn(x, offset, weight, bias, mask, **settings, deformable_groups=deformable_groups, groups=groups)


class DeformConv2D(Layer):
    """Layer for deform_conv2d(), called with (x, offset, mask).

    Arguments:
        in_channels: number of channels of the input.
        out_channels: number of channels of the output.
        kernel_size: size of the kernel, an integer or two.
        stride: step of the kernel, an integer or two. Default: 1.
        padding: zero padding of both sides, an integer or two. Default: 0.
        dilation: distance between neighboring kernel elements, an integer or two. Default: 1.
        deformable_groups: number of groups of input channels with offsets of their own. Default: 1.
        groups: number of groups of the convolution. Default: 1.
        weight_attr: ParamAttr, initializer or name of the weight; None: the default initializer.
        bias_attr: ParamAttr, initializer or name of the bias; None: zeros; False: no bias.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, offset = paddle.ones([1, 1, 3, 3]), paddle.zeros([1, 2, 3, 3])
        >>> paddle.vision.ops.DeformConv2D(1, 2, 1)(x, offset).shape
        paddle.Size([1, 2, 3, 3])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        deformable_groups: int = 1,
        groups: int = 1,
        weight_attr: Any = None,
        bias_attr: Any = None,
    ) -> None:
        super().__init__()
        kernel = _pair(kernel_size)
        self._settings = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        self._settings["deformable_groups"] = deformable_groups
        fan_in = in_channels * kernel[0] * kernel[1]
        first = nn.initializer.Normal(0.0, (2.0 / fan_in) ** 0.5)
        shape = [out_channels, in_channels // groups, *kernel]
        self.weight = self.create_parameter(shape, weight_attr, default_initializer=first)
        self.bias = self.create_parameter([out_channels], bias_attr, is_bias=True)

    def forward(self, x: Any, offset: Any, mask: Any = None) -> Any:
        """Compute the convolution.

        Returns:
            A tensor [N, out_channels, H_out, W_out].
        """
        return deform_conv2d(x, offset, self.weight, self.bias, mask=mask, **self._settings)


def yolo_box(
    x: Tensor,
    img_size: Tensor,
    anchors: Any,
    class_num: int,
    conf_thresh: float,
    downsample_ratio: int,
    clip_bbox: bool = True,
    name: Any = None,
    scale_x_y: float = 1.0,
    iou_aware: bool = False,
    iou_aware_factor: float = 0.5,
) -> tuple[Tensor, Tensor]:
    """Decode the output of a YOLOv3 head into boxes and scores.

    Arguments:
        x: output of the head [N, anchors * (5 + class_num), H, W]; with iou_aware one more channel for each anchor.
        img_size: height and width of each image, int32 [N, 2].
        anchors: width and height of each anchor in pixels, in a flat list.
        class_num: number of classes.
        conf_thresh: boxes with a lower confidence are set to zeros.
        downsample_ratio: ratio of image size to feature size.
        clip_bbox: clip the boxes to the image. Default: True.
        scale_x_y: factor of the decoded centers. Default: 1.0.
        iou_aware: x has predicted IoUs. Default: False.
        iou_aware_factor: exponent of the predicted IoU in the confidence. Default: 0.5.

    Returns:
        The boxes [N, anchors * H * W, 4] as (x1, y1, x2, y2), and the scores [N, anchors * H * W, class_num].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x, size = paddle.zeros([1, 6, 1, 1]), paddle.to_tensor([[8, 8]], dtype="int32")
        >>> boxes, scores = paddle.vision.ops.yolo_box(x, size, [4, 4], 1, 0.1, 8)
        >>> boxes.tolist(), scores.tolist()
        ([[[2.0, 2.0, 6.0, 6.0]]], [[[0.25]]])

    Source: Redmon and Farhadi, YOLOv3, 2018.
    """
    count = len(anchors) // 2
    want = count * (5 + class_num + iou_aware)
    if x.shape[1] != want:
        raise ValueError(f"yolo_box: x has {x.shape[1]} channels; expected {want} for {count} anchors")
    fn: Any = regions.yolo_box
    settings: dict[str, Any] = {"anchors": tuple(anchors), "classes": class_num, "threshold": conf_thresh}
    settings |= {"ratio": downsample_ratio, "clip": clip_bbox, "scale": scale_x_y}
    return fn(x, img_size, **settings, aware=iou_aware, aware_factor=iou_aware_factor)


@on_host(lambda given: HostResult(("n",), "int64"))
def nms(
    boxes: Tensor,
    iou_threshold: float = 0.3,
    scores: Tensor | None = None,
    category_idxs: Tensor | None = None,
    categories: Any = None,
    top_k: int | None = None,
) -> Tensor:
    """Non-maximum suppression: remove each box that overlaps a better one.

    Arguments:
        boxes: [n, 4] as (x1, y1, x2, y2), sorted by score unless scores are given.
        iou_threshold: a box is removed if its IoU with a better one exceeds this. Default: 0.3.
        scores: scores [n]; None: the boxes are sorted.
        category_idxs: category of each box [n]; only boxes of the same category suppress each other.
        categories: the categories to consider; None: all.
        top_k: largest number of boxes to return; None: all.

    Returns:
        The indices of the remaining boxes, int64, the best first.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> boxes = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
        >>> nms(boxes, 0.5).tolist()
        [0, 2]
    """
    places = concrete(boxes, "nms()", "scores and masks")
    for name, given in (("scores", scores), ("category_idxs", category_idxs)):
        if given is not None and given.shape != [len(places)]:
            raise ValueError(f"nms: {name} has the shape {[*given.shape]}, and there are {len(places)} boxes")
    order = np.arange(len(places)) if scores is None else np.argsort(-scores.numpy(), kind="stable")
    kinds = np.zeros(len(places)) if category_idxs is None else category_idxs.numpy()
    if categories is not None:
        order = order[np.isin(kinds[order], list(categories))]
    kept = _best(places, order, kinds, iou_threshold)
    return to_tensor(np.array(kept if top_k is None else kept[:top_k], np.int64))


def _best(boxes: np.ndarray, order: np.ndarray, kinds: np.ndarray, threshold: float) -> list[int]:
    left, top, right, bottom = boxes.astype(np.float64).T
    area = (right - left) * (bottom - top)
    kept: list[int] = []
    gone = np.zeros(len(boxes), bool)
    for i in order:
        if gone[i]:
            continue
        kept.append(int(i))
        wide = np.clip(np.minimum(right[i], right) - np.maximum(left[i], left), 0, None)
        high = np.clip(np.minimum(bottom[i], bottom) - np.maximum(top[i], top), 0, None)
        shared = wide * high
        gone |= (shared / np.maximum(area[i] + area - shared, 1e-12) > threshold) & (kinds == kinds[i])
    return kept


def box_coder(
    prior_box: Tensor,
    prior_box_var: Any,
    target_box: Tensor,
    code_type: str = "encode_center_size",
    box_normalized: bool = True,
    axis: int = 0,
    name: Any = None,
) -> Tensor:
    """Encode boxes relative to prior boxes, or decode them.

    Arguments:
        prior_box: prior boxes [m, 4] as (x1, y1, x2, y2).
        prior_box_var: their variances, [m, 4] or four numbers; None: ones.
        target_box: boxes [n, 4] to encode, or codes [n, m, 4] to decode.
        code_type: "encode_center_size" or "decode_center_size". Default: 'encode_center_size'.
        box_normalized: False: coordinates are pixels, and the last pixel belongs to a box. Default: True.
        axis: for decoding, the dimension of target_box that does not belong to the priors. Default: 0.

    Returns:
        The codes or boxes, [n, m, 4].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> prior, target = paddle.to_tensor([[0.0, 0.0, 2.0, 2.0]]), paddle.to_tensor([[0.0, 0.0, 2.0, 4.0]])
        >>> paddle.vision.ops.box_coder(prior, None, target).astype("float64").numpy().round(3).tolist()
        [[[0.0, 0.5, 0.0, 0.693]]]
    """
    one = 0.0 if box_normalized else 1.0
    variance = None if prior_box_var is None else prior_box_var
    if isinstance(variance, list | tuple):
        variance = to_tensor(np.array(variance, np.float32))
    if code_type == "encode_center_size":
        p, target = _centred(prior_box.unsqueeze(0), one), target_box.unsqueeze(1)
        middle = (target[..., 0] + target[..., 2]) / 2, (target[..., 1] + target[..., 3]) / 2  # whichever pixel is last
        t = *middle, *_centred(target, one)[2:]
        parts = [(t[0] - p[0]) / p[2], (t[1] - p[1]) / p[3], (t[2] / p[2]).abs().log(), (t[3] / p[3]).abs().log()]
        out = stack(parts, -1)
        return out if variance is None else out / variance
    if code_type != "decode_center_size":
        raise ValueError(
            f"box_coder: code_type is {code_type!r}; expected 'encode_center_size' or 'decode_center_size'"
        )
    p = _centred(prior_box.unsqueeze(axis), one)
    if variance is not None and variance.ndim == 2:
        variance = variance.unsqueeze(axis)
    t4 = target_box if variance is None else target_box * variance
    cx, cy = t4[..., 0] * p[2] + p[0], t4[..., 1] * p[3] + p[1]
    w, h = t4[..., 2].exp() * p[2], t4[..., 3].exp() * p[3]
    return stack([cx - w / 2, cy - h / 2, cx + w / 2 - one, cy + h / 2 - one], -1)


def _centred(box: Tensor, one: float) -> tuple[Any, Any, Any, Any]:
    w, h = box[..., 2] - box[..., 0] + one, box[..., 3] - box[..., 1] + one
    return box[..., 0] + w / 2, box[..., 1] + h / 2, w, h


def read_file(filename: Any, name: Any = None) -> Tensor:
    """Read a file as bytes.

    Arguments:
        filename: path of the file.

    Returns:
        A uint8 tensor [number of bytes].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> from PIL import Image
        >>> file = tempfile.mkdtemp() + "/a.jpg"
        >>> Image.new("RGB", (4, 2)).save(file)
        >>> paddle.vision.ops.read_file(file).dtype
        paddle.uint8
    """
    return to_tensor(np.frombuffer(Path(filename).read_bytes(), np.uint8))


def decode_jpeg(x: Tensor, mode: str = "unchanged", name: Any = None) -> Tensor:
    """Decode a JPEG image.

    Arguments:
        x: bytes of the file, uint8, from read_file().
        mode: "unchanged", "gray" or "rgb". Default: 'unchanged'.

    Returns:
        A uint8 tensor [C, H, W].

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import tempfile
        >>> from PIL import Image
        >>> file = tempfile.mkdtemp() + "/a.jpg"
        >>> Image.new("RGB", (4, 2)).save(file)
        >>> paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file(file)).shape
        paddle.Size([3, 2, 4])
    """
    modes = {"unchanged": None, "gray": "L", "rgb": "RGB"}
    if mode not in modes:
        raise ValueError(f"decode_jpeg: mode is {mode!r}; expected 'unchanged', 'gray' or 'rgb'")
    image = pillow().open(io.BytesIO(x.numpy().tobytes()))
    array = np.asarray(image if modes[mode] is None else image.convert(modes[mode]))
    return to_tensor(np.ascontiguousarray(array[None] if array.ndim == 2 else array.transpose(2, 0, 1)))


_document(globals())
