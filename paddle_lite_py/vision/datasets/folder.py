"""Pictures in folders."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...io import Dataset
from ..image import image_load

__all__ = ["DatasetFolder", "ImageFolder"]

EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def _load(path: str) -> Any:
    found = image_load(path)
    if not hasattr(found, "convert"):
        return found
    with found:  # Pillow has the file open until then
        return found.convert("RGB")


def _sample(loader: Callable[[str], Any], transform: Callable[[Any], Any] | None, path: str) -> Any:
    """Load and transform a file; an error names the file."""
    try:
        sample = loader(path)
        return sample if transform is None else transform(sample)
    except Exception as e:
        e.add_note(f"while reading {path}")
        raise


def _files(root: Any, extensions: Any, is_valid_file: Callable[[str], bool] | None, who: str) -> list[str]:
    """Return the paths under a folder that are chosen, in order."""
    if extensions is not None and is_valid_file is not None:
        raise ValueError(f"{who}: give extensions or is_valid_file, not both")
    endings = tuple(EXTENSIONS if extensions is None else extensions)
    chosen = is_valid_file or (lambda path: path.lower().endswith(endings))
    found = []
    for folder, _, names in sorted(os.walk(root, followlinks=True)):
        found += [path for name in sorted(names) if chosen(path := os.path.join(folder, name))]
    return found


class DatasetFolder(Dataset):
    """Data set of files in one folder for each class: root/class/file yields (sample, class index).

    Arguments:
        root: the folder of the class folders.
        loader: function from a path to a sample; None: read RGB images.
        extensions: file extensions to include.
        transform: function that is applied to each sample; None: none.
        is_valid_file: function from a path to whether to include the file, instead of extensions.

    Raises:
        RuntimeError: if there is no class or no file.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp()); (folder / "cat").mkdir()
        >>> np.save(folder / "cat" / "a.npy", np.ones([2, 2]))
        >>> data = paddle.vision.datasets.DatasetFolder(str(folder), np.load, (".npy",))
        >>> data.classes, data[0][1]
        (['cat'], 0)
    """

    def __init__(
        self,
        root: Any,
        loader: Callable[[str], Any] | None = None,
        extensions: Any = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root, self.transform, self.extensions = root, transform, extensions
        self.loader = loader or _load
        self.classes = sorted(p.name for p in Path(root).iterdir() if p.is_dir())
        self.class_to_idx = {name: i for i, name in enumerate(self.classes)}
        self.samples = [
            (path, i)
            for name, i in self.class_to_idx.items()
            for path in _files(Path(root) / name, extensions, is_valid_file, type(self).__name__)
        ]
        if not self.samples:
            raise RuntimeError(f"{type(self).__name__}: no file was found in the folders of {root}")
        self.targets = [i for _, i in self.samples]
        self.dtype = "float32"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        return _sample(self.loader, self.transform, path), target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """Data set of all images under a folder, without labels: each sample is a list of one image.

    Arguments:
        root: the folder.
        loader: function from a path to a sample; None: read RGB images.
        extensions: file extensions to include.
        transform: function that is applied to each sample; None: none.
        is_valid_file: function from a path to whether to include the file, instead of extensions.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> import pathlib, tempfile
        >>> folder = pathlib.Path(tempfile.mkdtemp()); (folder / "cat").mkdir()
        >>> np.save(folder / "cat" / "a.npy", np.ones([2, 2]))
        >>> data = paddle.vision.datasets.ImageFolder(str(folder), np.load, (".npy",))
        >>> len(data), data[0][0].shape
        (1, (2, 2))
    """

    def __init__(
        self,
        root: Any,
        loader: Callable[[str], Any] | None = None,
        extensions: Any = None,
        transform: Callable[[Any], Any] | None = None,
        is_valid_file: Callable[[str], bool] | None = None,
    ) -> None:
        self.root, self.transform, self.extensions = root, transform, extensions
        self.loader = loader or _load
        self.samples = _files(root, extensions, is_valid_file, type(self).__name__)
        if not self.samples:
            raise RuntimeError(f"{type(self).__name__}: no file was found under {root}")

    def __getitem__(self, index: int) -> list[Any]:
        return [_sample(self.loader, self.transform, self.samples[index])]

    def __len__(self) -> int:
        return len(self.samples)
