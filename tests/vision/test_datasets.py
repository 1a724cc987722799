"""Data sets of pictures, and pictures in files."""

from __future__ import annotations

import gzip
import io
import pickle
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import paddle_lite_py as paddle
from paddle_lite_py.vision import datasets
from paddle_lite_py.vision import transforms as T


def picture(h=12, w=16, channels=3):
    return np.random.default_rng(0).integers(0, 256, (h, w, channels), dtype=np.uint8)


def idx(path: Path, array: np.ndarray) -> Path:
    head = b"\0\0\x08" + bytes([array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(gzip.compress(head + array.tobytes()))
    return path


def test_mnist(tmp_path: Path):
    pictures = picture(28, 28, 5).transpose(2, 0, 1)
    paths = (
        idx(tmp_path / "images.gz", np.ascontiguousarray(pictures)),
        idx(tmp_path / "labels.gz", np.arange(5, dtype=np.uint8)),
    )
    data = datasets.MNIST(*paths, transform=T.ToTensor())
    image, label = data[3]
    assert len(data) == 5 and image.shape == [1, 28, 28] and label.tolist() == [3]
    batch = next(iter(paddle.io.DataLoader(data, batch_size=2)))
    assert [t.shape for t in batch] == [[2, 1, 28, 28], [2, 1]]
    paths[0].write_bytes(paths[0].read_bytes()[:40])
    with pytest.raises((ValueError, EOFError)):
        datasets.MNIST(*paths)
    with pytest.raises(ValueError, match="mode is 'valid'"):
        datasets.MNIST(*paths, mode="valid")


def cifar(path: Path, content: object) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        data = pickle.dumps(content, protocol=2)
        info = tarfile.TarInfo("cifar-10-batches-py/data_batch_1")
        info.size = len(data)
        tar.addfile(info, io.BytesIO(data))
    return path


def test_cifar(tmp_path: Path):
    pictures = np.random.default_rng(0).integers(0, 256, (2, 3072), dtype=np.uint8)
    data = datasets.Cifar10(cifar(tmp_path / "c.tar.gz", {b"data": pictures, b"labels": [3, 8]}), backend="cv2")
    image, label = data[1]
    assert len(data) == 2 and int(label) == 8
    np.testing.assert_array_equal(image, pictures[1].reshape(3, 32, 32).transpose(1, 2, 0))
    with pytest.raises(pickle.UnpicklingError, match="posix.system|nt.system|os.system"):
        datasets.Cifar10(cifar(tmp_path / "bad.tar.gz", Evil()))


class Evil:
    def __reduce__(self):
        import os

        return os.system, ("true",)


def test_folders(tmp_path: Path):
    for name in ("cat/1.png", "cat/2.png", "dog/1.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.fromarray(picture()).save(tmp_path / name)
    (tmp_path / "cat" / "notes.txt").write_text("")
    data = datasets.DatasetFolder(tmp_path, transform=T.ToTensor())
    assert data.classes == ["cat", "dog"] and data.targets == [0, 0, 1] and data[2][1] == 1
    assert len(datasets.ImageFolder(tmp_path)) == 3 and datasets.ImageFolder(tmp_path)[0][0].size == (16, 12)
    with pytest.raises(RuntimeError, match="no file was found"):
        datasets.ImageFolder(tmp_path / "nothing")


def test_pictures_are_read_in_each_form(tmp_path: Path):
    path = tmp_path / "a.png"
    Image.fromarray(picture()).save(path)
    np.testing.assert_array_equal(np.asarray(paddle.vision.image_load(path)), picture())
    np.testing.assert_array_equal(paddle.vision.image_load(path, "cv2"), picture()[:, :, ::-1])
    with pytest.raises(ValueError, match="backend is 'jpeg'"):
        paddle.vision.set_image_backend("jpeg")
