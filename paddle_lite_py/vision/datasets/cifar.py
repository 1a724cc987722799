"""CIFAR-10 and CIFAR-100, from their archives of pickled batches, read without running what they hold."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from ...framework import unpickle
from .archive import Archive
from .base import PictureDataset, Transform, find

__all__ = ["Cifar10", "Cifar100"]

_ROOT = "https://dataset.bj.bcebos.com/cifar/"


class Cifar10(PictureDataset):
    """CIFAR-10: images [32, 32, 3] of 10 classes, with int64 labels.

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train" or "test". Default: 'train'.
        transform: function that is applied to each image; None: none.
        download: download missing files. Default: True.
        backend: "pil" or "cv2" (arrays); None: the backend set by set_image_backend().

    Raises:
        ValueError: for another mode, or an archive without such batches.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.datasets.Cifar10, paddle.io.Dataset)
        True

    Source: Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009.
    """

    _url, _md5 = _ROOT + "cifar-10-python.tar.gz", "c58f30108f718f92721af3b95e74349a"
    _parts = {"train": "data_batch", "test": "test_batch"}
    _label = b"labels"

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        transform: Transform = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, ("train", "test"), transform, backend)
        who = type(self).__name__
        self.data_file = find(who, data_file, self._url, self._md5, download, "cifar")
        self.data: list[tuple[np.ndarray, int]] = []
        archive = Archive(who, self.data_file)
        for name, member in archive.members.items():
            if self._parts[self.mode] in name and member.isfile():
                self._read(unpickle.read(io.BytesIO(archive.read(name)), encoding="bytes"), f"{name} in {archive.path}")
        if not self.data:
            raise ValueError(f"{who}: {self.data_file} holds no batch named {self._parts[self.mode]}")
        self.dtype = "float32"

    def _read(self, batch: Any, where: str) -> None:
        who = type(self).__name__
        if not isinstance(batch, dict) or b"data" not in batch or self._label not in batch:
            raise ValueError(f"{who}: {where} is no batch with data and {self._label.decode()}")
        pixels, labels = np.asarray(batch[b"data"]), batch[self._label]
        if pixels.size != len(labels) * 3 * 32 * 32:
            raise ValueError(f"{who}: {where} holds {pixels.size / 3072:g} pictures and {len(labels)} labels")
        self.data += zip(pixels.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1), labels, strict=True)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        picture, label = self.data[idx]
        form = picture if self.backend == "pil" else picture.astype(np.float32)
        return self._shown(form), np.array(label).astype(np.int64)

    def __len__(self) -> int:
        return len(self.data)


class Cifar100(Cifar10):
    """CIFAR-100: images [32, 32, 3] of 100 classes, with int64 labels.

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train" or "test". Default: 'train'.
        transform: function that is applied to each image; None: none.
        download: download missing files. Default: True.
        backend: "pil" or "cv2" (arrays); None: the backend set by set_image_backend().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.datasets.Cifar100, paddle.io.Dataset)
        True
    """

    _url, _md5 = _ROOT + "cifar-100-python.tar.gz", "eb9058c3a382ffc7106e4002c42a8d85"
    _parts = {"train": "train", "test": "test"}
    _label = b"fine_labels"
