"""Flowers of 102 kinds."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .archive import Archive
from .base import PictureDataset, Transform, find

__all__ = ["Flowers"]

_ROOT = "http://paddlemodels.bj.bcebos.com/flowers/"
_SETS = {"train": "tstid", "test": "trnid", "valid": "valid"}


def _matrix(path: str, name: str) -> np.ndarray:
    try:
        matlab: Any = importlib.import_module("scipy.io")
    except ImportError as e:
        raise ImportError("Flowers: its labels are MATLAB files; try `pip install scipy`") from e
    found = matlab.loadmat(path)
    if name not in found:
        held = ", ".join(k for k in found if not k.startswith("__"))
        raise ValueError(f"Flowers: {path} holds no {name!r}; it holds {held or 'nothing'}")
    return found[name][0]


class Flowers(PictureDataset):
    """Flowers-102: images of flowers of 102 classes, with int64 labels [1] from 1.

    Arguments:
        data_file: path of the archive of images; None: download it.
        label_file: path of the labels; None: download it.
        setid_file: path of the split; None: download it.
        mode: "train", "valid" or "test"; as in PaddlePaddle, "train" is the larger part, which its authors call test.
            Default: 'train'.
        transform: function that is applied to each image; None: none.
        download: download missing files. Default: True.
        backend: "pil" or "cv2" (arrays); None: the backend set by set_image_backend().

    Raises:
        ValueError: for another mode, or files that are damaged or do not fit together.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.datasets.Flowers, paddle.io.Dataset)
        True

    Source: Nilsback and Zisserman, Automated Flower Classification over a Large Number of Classes, 2008.
    """

    def __init__(
        self,
        data_file: Any = None,
        label_file: Any = None,
        setid_file: Any = None,
        mode: str = "train",
        transform: Transform = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, tuple(_SETS), transform, backend)
        given = (data_file, label_file, setid_file)
        urls = (_ROOT + "102flowers.tgz", _ROOT + "imagelabels.mat", _ROOT + "setid.mat")
        sums = (
            "52808999861908f626f3c1f4e79d11fa",
            "e0620be6f572b9609742df49c70aed4d",
            "a5357ecc9cb78c4bef273ce3793fc85c",
        )
        paths = [find("Flowers", g, u, m, download, "flowers") for g, u, m in zip(given, urls, sums, strict=True)]
        self.labels, self.indexes = _matrix(paths[1], "labels"), _matrix(paths[2], _SETS[self.mode])
        self._archive = Archive("Flowers", paths[0])
        if len(self.indexes) and int(max(self.indexes)) > len(self.labels):
            few = f"{len(self.labels)} labels, and the split names picture {int(max(self.indexes))}"
            raise ValueError(f"Flowers: {paths[1]} holds {few} ({paths[2]})")

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        index = int(self.indexes[idx])
        picture = self._archive.picture(f"jpg/image_{index:05d}.jpg")
        return self._shown(picture), np.array([self.labels[index - 1]]).astype(np.int64)

    def __len__(self) -> int:
        return len(self.indexes)
