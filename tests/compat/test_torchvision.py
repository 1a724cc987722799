"""Data sets and pictures in the form of torchvision."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.compat import torchvision


def write_idx(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    head = bytes([0, 0, 8, array.ndim]) + b"".join(n.to_bytes(4, "big") for n in array.shape)
    path.write_bytes(head + array.tobytes())


@pytest.mark.parametrize("kind", ["MNIST", "FashionMNIST"])
def test_files_below_the_root(tmp_path, kind):
    pictures, labels = np.arange(2 * 28 * 28).reshape(2, 28, 28).astype("uint8"), np.array([3, 7], "uint8")
    for part, n in (("train", 2), ("t10k", 1)):
        write_idx(tmp_path / kind / "raw" / f"{part}-images-idx3-ubyte", pictures[:n])
        write_idx(tmp_path / kind / "raw" / f"{part}-labels-idx1-ubyte", labels[:n])
    made = getattr(torchvision, f"Indexed{kind}")
    data = made(tmp_path, True, paddle.vision.transforms.ToTensor(), target_transform=lambda y: y + 1)
    assert [label for _, label in data] == [4, 8] and data[0][0].shape == [1, 28, 28]
    assert data.data.shape == [2, 28, 28] and data.targets.tolist() == [3, 7]
    assert len(made(str(tmp_path), train=False)) == 1
    (batch, target) = next(iter(paddle.io.DataLoader(data, batch_size=2)))
    assert batch.shape == [2, 1, 28, 28] and target.shape == [2]


def test_fake_pictures_are_the_same_each_time():
    data = torchvision.FakeImages(3, (1, 4, 5), 6, np.asarray)
    assert data[1][0].shape == (4, 5) and 0 <= data[1][1] < 6
    np.testing.assert_array_equal(data[1][0], data[1][0])
    with pytest.raises(IndexError, match="index 3 is out of range; there are 3 pictures"):
        data[3]


def test_pictures_in_a_grid(tmp_path):
    x = np.arange(3 * 3 * 2 * 2, dtype="float32").reshape(3, 3, 2, 2)
    grid = torchvision.make_grid(paddle.to_tensor(x), nrow=2, padding=1, pad_value=-1.0).numpy()
    assert grid.shape == (3, 7, 7) and (grid[:, 0] == -1).all()
    np.testing.assert_array_equal(grid[:, 1:3, 4:6], x[1])
    np.testing.assert_array_equal(grid[:, 4:6, 1:3], x[2])
    scaled = torchvision.make_grid(list(paddle.to_tensor(x)), normalize=True).numpy()
    assert scaled.min() == 0 and scaled.max() == 1
    torchvision.save_image(paddle.to_tensor(x / x.max()), tmp_path / "grid.png", nrow=3)
    with paddle.vision.image_load(str(tmp_path / "grid.png")) as picture:
        assert picture.size == (14, 6)
    with pytest.raises(ValueError, match="a tensor has 5 dimensions"):
        torchvision.make_grid(paddle.ones([1, 2, 3, 4, 5]))
