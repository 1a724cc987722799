"""Pascal VOC 2012, segmentation."""

from __future__ import annotations

from typing import Any

from .archive import Archive
from .base import PictureDataset, Transform, find

__all__ = ["VOC2012"]

_URL, _MD5 = "https://dataset.bj.bcebos.com/voc/VOCtrainval_11-May-2012.tar", "6cd6e144f989b92b3379bac3b3de84fd"
_ROOT = "VOCdevkit/VOC2012"
_SETS = {"train": "trainval", "test": "train", "valid": "val"}


class VOC2012(PictureDataset):
    """Pascal VOC 2012 segmentation: images, with the class of each pixel.

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train", "valid" or "test". Default: 'train'.
        transform: function that is applied to each image; None: none.
        download: download missing files. Default: True.
        backend: "pil" or "cv2" (arrays); None: the backend set by set_image_backend().

    Raises:
        ValueError: for another mode, or an archive that is damaged or lacks a file, which is named.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.datasets.VOC2012, paddle.io.Dataset)
        True

    Source: Everingham et al., The Pascal Visual Object Classes Challenge, 2010.
    """

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        transform: Transform = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, tuple(_SETS), transform, backend)
        self._archive = Archive("VOC2012", find("VOC2012", data_file, _URL, _MD5, download, "voc"))
        names = self._archive.read(f"{_ROOT}/ImageSets/Segmentation/{_SETS[self.mode]}.txt").decode().split()
        self.data = [f"{_ROOT}/JPEGImages/{name}.jpg" for name in names]
        self.labels = [f"{_ROOT}/SegmentationClass/{name}.png" for name in names]

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        return self._shown(self._archive.picture(self.data[idx])), self._archive.picture(self.labels[idx])

    def __len__(self) -> int:
        return len(self.data)
