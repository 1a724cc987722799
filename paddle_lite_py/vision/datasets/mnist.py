"""MNIST and FashionMNIST, from their IDX files."""

from __future__ import annotations

import math
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from ...core.archives import gunzipped
from .base import PictureDataset, Transform, find

__all__ = ["MNIST", "FashionMNIST"]

_ROOT = "https://dataset.bj.bcebos.com/"


def read_idx(path: Any) -> np.ndarray:
    """Return the array of bytes of an IDX file, plain or gzipped.

    Raises:
        ValueError: if it is no such file, or shorter than it says.
    """
    data = Path(path).read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gunzipped(data, path)
        except (EOFError, OSError, zlib.error) as e:
            raise ValueError(f"{path} is damaged: {e}") from e
    if len(data) < 4 or data[:3] != b"\0\0\x08" or len(data) < 4 + 4 * data[3]:
        raise ValueError(f"{path} is no IDX file of bytes")
    shape = tuple(int(n) for n in np.frombuffer(data, ">u4", data[3], 4))
    start = 4 + 4 * len(shape)
    if len(data) - start != math.prod(shape):
        raise ValueError(f"{path} says that it holds {shape}, and holds {len(data) - start} bytes")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


class MNIST(PictureDataset):
    """MNIST handwritten digits: images [28, 28], with int64 labels [1].

    Arguments:
        image_path: path of the IDX file of images, plain or gzipped; None: download it.
        label_path: path of the IDX file of labels; None: download it.
        mode: "train" or "test". Default: 'train'.
        transform: function that is applied to each image; None: none.
        download: download missing files. Default: True.
        backend: "pil" or "cv2" (arrays); None: the backend set by set_image_backend().

    Raises:
        ValueError: for another mode or a damaged file.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.datasets.MNIST, paddle.io.Dataset)
        True

    Source: LeCun et al., Gradient-Based Learning Applied to Document Recognition, 1998.
    """

    NAME = "mnist"
    URL_PREFIX = _ROOT + "mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "9fb629c4189551a2d022fa330f9573f3"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "ec29112dd5afa0611ce80d1b7f02629c"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "f68b3c2dcbeaaa9fbdd348bbdeb94873"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "d53e105ee54ea40749a09fcbcd1e9432"

    def __init__(
        self,
        image_path: Any = None,
        label_path: Any = None,
        mode: str = "train",
        transform: Transform = None,
        download: bool = True,
        backend: str | None = None,
    ) -> None:
        super().__init__(mode, ("train", "test"), transform, backend)
        self.image_path = self._path("IMAGE", image_path, download)
        self.label_path = self._path("LABEL", label_path, download)
        self.images = read_idx(self.image_path)
        self.labels = read_idx(self.label_path).astype(np.int64).reshape(-1, 1)
        if len(self.images) != len(self.labels):
            raise ValueError(f"{type(self).__name__}: {len(self.images)} pictures and {len(self.labels)} labels")
        self.dtype = "float32"

    def _path(self, kind: str, given: Any, download: bool) -> str:
        part = f"{self.mode.upper()}_{kind}"
        url, md5 = getattr(self, f"{part}_URL"), getattr(self, f"{part}_MD5")
        return find(type(self).__name__, given, url, md5, download, self.NAME)

    def __getitem__(self, idx: int) -> tuple[Any, np.ndarray]:
        picture = self.images[idx]
        return self._shown(picture if self.backend == "pil" else picture.astype(np.float32)), self.labels[idx]

    def __len__(self) -> int:
        return len(self.labels)


class FashionMNIST(MNIST):
    """Fashion-MNIST clothing: images [28, 28], with int64 labels [1].

    Arguments:
        image_path: path of the IDX file of images, plain or gzipped; None: download it.
        label_path: path of the IDX file of labels; None: download it.
        mode: "train" or "test". Default: 'train'.
        transform: function that is applied to each image; None: none.
        download: download missing files. Default: True.
        backend: "pil" or "cv2" (arrays); None: the backend set by set_image_backend().

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.vision.datasets.FashionMNIST, paddle.io.Dataset)
        True

    Source: Xiao et al., Fashion-MNIST, 2017.
    """

    NAME = "fashion-mnist"
    URL_PREFIX = _ROOT + "fashion_mnist/"
    TEST_IMAGE_URL = URL_PREFIX + "t10k-images-idx3-ubyte.gz"
    TEST_IMAGE_MD5 = "bef4ecab320f06d8554ea6380940ec79"
    TEST_LABEL_URL = URL_PREFIX + "t10k-labels-idx1-ubyte.gz"
    TEST_LABEL_MD5 = "bb300cfdad3c16e7a12a480ee83cd310"
    TRAIN_IMAGE_URL = URL_PREFIX + "train-images-idx3-ubyte.gz"
    TRAIN_IMAGE_MD5 = "8d4fb7e6c68d591d4c3dfef9ec88bf0d"
    TRAIN_LABEL_URL = URL_PREFIX + "train-labels-idx1-ubyte.gz"
    TRAIN_LABEL_MD5 = "25c81989df183df01b3e8a0aad5dffbe"
