"""What programs written for torchvision need besides paddle.vision: data sets with its attributes, pictures in a grid.

`python -m paddle_lite_py migrate` names these.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..core.argument_docs import document as _document
from ..eager.tensor import Tensor
from ..io import Dataset
from ..ops.convert import to_tensor
from ..vision import datasets
from ..vision.image import pillow

__all__ = ["FakeImages", "IndexedFashionMNIST", "IndexedMNIST", "make_grid", "save_image"]


class IndexedMNIST(datasets.MNIST):
    """MNIST as torchvision has it: files below `root`, labels that are ints, and all of it in `data` and `targets`.

    Arguments:
        root: folder that has MNIST/raw; where it has no such files, those of the cache are taken.
        train: the training part, else the test part. Default: True.
        target_transform: function that is applied to each label; None: none.
        download: download files that are missing.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.compat.torchvision.IndexedMNIST, paddle.vision.datasets.MNIST)
        True
    """

    _folder = "MNIST"

    def __init__(
        self, root: Any = ".", train: bool = True, transform: Callable[[Any], Any] | None = None,
        target_transform: Callable[[Any], Any] | None = None, download: bool = False,
    ) -> None:  # fmt: skip
        part = "train" if train else "t10k"
        images, labels = (self._found(Path(root), f"{part}-{kind}-ubyte") for kind in ("images-idx3", "labels-idx1"))
        super().__init__(images, labels, "train" if train else "test", transform, download)
        self.train, self.target_transform = train, target_transform
        self.data, self.targets = to_tensor(self.images), to_tensor(self.labels[:, 0])

    def _found(self, root: Path, name: str) -> str | None:
        raw = root / self._folder / "raw"
        return next((str(p) for p in (raw / name, raw / f"{name}.gz") if p.exists()), None)

    def __getitem__(self, idx: int) -> tuple[Any, Any]:
        picture, label = super().__getitem__(idx)
        target = int(label[0])
        return picture, target if self.target_transform is None else self.target_transform(target)


class IndexedFashionMNIST(IndexedMNIST, datasets.FashionMNIST):
    """Fashion-MNIST as torchvision has it: see IndexedMNIST.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.torchvision.IndexedFashionMNIST.NAME
        'fashion-mnist'
    """

    _folder = "FashionMNIST"


class FakeImages(Dataset):
    """Random pictures with random labels, the same for each index.

    Arguments:
        size: how many. Default: 1000.
        image_size: channels, height and width.
        num_classes: labels are below it. Default: 10.
        target_transform: function that is applied to each label; None: none.
        random_offset: added to the index as the seed of a picture. Default: 0.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> pictures = paddle.compat.torchvision.FakeImages(4, (3, 8, 8))
        >>> pictures[0][0].size, len(pictures)
        ((8, 8), 4)
    """

    def __init__(
        self, size: int = 1000, image_size: Sequence[int] = (3, 224, 224), num_classes: int = 10,
        transform: Callable[[Any], Any] | None = None, target_transform: Callable[[Any], Any] | None = None,
        random_offset: int = 0,
    ) -> None:  # fmt: skip
        self.size, self.image_size, self.num_classes = size, tuple(image_size), num_classes
        self.transform, self.target_transform, self.random_offset = transform, target_transform, random_offset

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if not 0 <= index < self.size:
            raise IndexError(f"FakeImages: index {index} is out of range; there are {self.size} pictures")
        random = np.random.default_rng(index + self.random_offset)
        c, h, w = self.image_size
        picture = pillow().fromarray(random.integers(0, 256, (h, w, c) if c > 1 else (h, w), dtype=np.uint8))
        target = int(random.integers(self.num_classes))
        shown = picture if self.transform is None else self.transform(picture)
        return shown, target if self.target_transform is None else self.target_transform(target)


def make_grid(
    tensor: Any, nrow: int = 8, padding: int = 2, normalize: bool = False,
    value_range: tuple[float, float] | None = None, scale_each: bool = False, pad_value: float = 0.0,
) -> Tensor:  # fmt: skip
    """Lay pictures out in rows.

    Arguments:
        tensor: pictures [N, C, H, W], or a list of [C, H, W]; with one channel they become three.
        nrow: pictures in a row. Default: 8.
        padding: pixels between them. Default: 2.
        normalize: shift and scale the values to [0, 1]. Default: False.
        value_range: the values that become 0 and 1; None: the least and the greatest ones.
        scale_each: take these of each picture. Default: False.
        pad_value: of the pixels between pictures. Default: 0.0.

    Returns:
        One picture [3, height, width].

    Raises:
        ValueError: pictures have another number of dimensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> paddle.compat.torchvision.make_grid(paddle.ones([3, 1, 4, 4]), nrow=2).shape
        paddle.Size([3, 14, 14])
    """
    pictures = [np.asarray(t, np.float32) for t in (tensor if isinstance(tensor, list | tuple) else [tensor])]
    if wrong := [a.ndim for a in pictures if a.ndim not in (2, 3, 4)]:
        raise ValueError(f"make_grid: a tensor has {wrong[0]} dimensions; expected pictures [N, C, H, W] or [C, H, W]")
    x = np.concatenate([a if a.ndim == 4 else a.reshape(1, -1, *a.shape[-2:]) for a in pictures])
    x = np.repeat(x, 3, 1) if x.shape[1] == 1 else x
    if normalize:
        axes = (1, 2, 3) if scale_each else (0, 1, 2, 3)
        low, high = value_range or (x.min(axes, keepdims=True), x.max(axes, keepdims=True))
        x = (np.clip(x, low, high) - low) / np.maximum(np.subtract(high, low), 1e-5)
    n, c, h, w = x.shape
    columns = min(nrow, n)
    grid = np.full((c, math.ceil(n / columns) * (h + padding) + padding, columns * (w + padding) + padding), pad_value)
    for i in range(n):
        top, left = padding + i // columns * (h + padding), padding + i % columns * (w + padding)
        grid[:, top : top + h, left : left + w] = x[i]
    return to_tensor(x[0] if n == 1 else grid.astype(np.float32))


def save_image(tensor: Any, fp: Any, format: str | None = None, **settings: Any) -> None:
    """Write pictures to a file, as a grid.

    Arguments:
        tensor: pictures with values in [0, 1]; see make_grid().
        fp: path or open file.
        format: of the file; None: by the name.
        settings: of make_grid().

    Examples:
        >>> import io
        >>> import paddle_lite_py as paddle
        >>> file = io.BytesIO()
        >>> paddle.compat.torchvision.save_image(paddle.ones([2, 3, 4, 4]), file, "png")
        >>> file.getvalue()[1:4]
        b'PNG'
    """
    shown = np.clip(np.asarray(make_grid(tensor, **settings)) * 255 + 0.5, 0, 255).astype(np.uint8)
    pillow().fromarray(shown.transpose(1, 2, 0)).save(fp, format=format)


_document(globals())
