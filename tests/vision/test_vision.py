"""Transforms, data sets and models for pictures."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import tarfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import paddle_lite_py as paddle
from paddle_lite_py.vision import datasets, models
from paddle_lite_py.vision import transforms as T


def picture(h=12, w=16, channels=3):
    return np.random.default_rng(0).integers(0, 256, (h, w, channels), dtype=np.uint8)


def forms(array):
    """The same picture in each form."""
    return Image.fromarray(array), array, paddle.to_tensor(array.transpose(2, 0, 1))


def back(image):
    """A picture in any form as an array [h, w, c]."""
    found = image.numpy().transpose(1, 2, 0) if isinstance(image, paddle.Tensor) else np.asarray(image)
    return found[:, :, None] if found.ndim == 2 else found


@pytest.mark.parametrize(
    "change",
    [
        lambda i: T.pad(i, (1, 2, 3, 4), fill=7),
        lambda i: T.pad(i, 2, padding_mode="reflect"),
        lambda i: T.crop(i, 2, 3, 5, 6),
        lambda i: T.center_crop(i, (5, 7)),
        T.hflip,
        T.vflip,
        lambda i: T.adjust_brightness(i, 1.3),
        lambda i: T.adjust_contrast(i, 0.6),
        lambda i: T.adjust_saturation(i, 1.5),
        lambda i: T.adjust_hue(i, -0.3),
        lambda i: T.to_grayscale(i, 3),
        lambda i: T.rotate(i, 30, "bilinear", expand=True),
        lambda i: T.affine(i, 20, (2, 3), 0.8, [10, 5]),
        lambda i: T.erase(i, 1, 2, 3, 4, 9),
    ],
)
def test_the_three_forms_agree(change):
    one, two, three = map(back, map(change, forms(picture())))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


def test_what_flips_and_crops_do():
    x = picture()
    np.testing.assert_array_equal(T.hflip(x), x[:, ::-1])
    np.testing.assert_array_equal(T.crop(x, 1, 2, 3, 4), x[1:4, 2:6])
    np.testing.assert_array_equal(T.rotate(x, 90, expand=True), np.rot90(x))
    np.testing.assert_array_equal(T.adjust_brightness(x, 0.0), np.zeros_like(x))
    np.testing.assert_array_equal(T.adjust_saturation(x, 1.0), x)


def test_resizing():
    x = picture(4, 6)
    assert T.resize(x, 8).shape == (8, 12, 3) and T.resize(Image.fromarray(x), 8).size == (12, 8)
    np.testing.assert_array_equal(T.resize(x, (8, 12), "nearest"), x.repeat(2, 0).repeat(2, 1))
    area = T.resize(x.astype(np.float32), (2, 3), "area")
    np.testing.assert_allclose(area, x.reshape(2, 2, 3, 2, 3).mean((1, 3)), rtol=1e-6)
    ramp = np.arange(4, dtype=np.float32)[None, :, None]
    np.testing.assert_allclose(T.resize(ramp, (1, 8))[0, :, 0], [0, 0.25, 0.75, 1.25, 1.75, 2.25, 2.75, 3])
    with pytest.raises(ValueError, match="interpolation is 'cubic'"):
        T.resize(x, 3, "cubic")


def test_to_tensor_and_normalize():
    x = T.to_tensor(Image.fromarray(picture()))
    assert x.shape == [3, 12, 16] and x.dtype == "float32"
    np.testing.assert_allclose(x.numpy(), picture().transpose(2, 0, 1) / np.float32(255))
    out = T.Normalize([0.5] * 3, [0.25] * 3)(x)
    np.testing.assert_allclose(out.numpy(), (x.numpy() - 0.5) / 0.25, rtol=1e-6)
    with pytest.raises(TypeError, match="img is int; expected a Pillow image"):
        T.hflip(3)


def test_random_transforms_repeat_with_the_seed():
    chain = T.Compose(
        [
            T.RandomResizedCrop(8),
            T.RandomHorizontalFlip(),
            T.RandomVerticalFlip(),
            T.ColorJitter(0.4, 0.4, 0.4, 0.2),
            T.RandomRotation(20),
            T.RandomAffine(10, (0.1, 0.1), (0.9, 1.1), 5),
            T.RandomPerspective(1.0),
            T.RandomErasing(1.0, value="random"),
            T.RandomCrop(9, pad_if_needed=True),
            T.ToTensor(),
        ]
    )
    found = []
    for seed in (1, 1, 2):
        random.seed(seed)
        found.append(chain(picture()).numpy())
    assert found[0].shape == (3, 9, 9)
    np.testing.assert_array_equal(found[0], found[1])
    assert (found[0] != found[2]).any()


def test_keys_choose_what_is_transformed():
    class Both(T.BaseTransform):
        def _apply_image(self, image):
            return image + 1

        def _apply_mask(self, mask):
            return mask + 2

    assert Both(keys=("image", "mask", "label"))((0, 0, 0, 0)) == (1, 2, 0, 0)
    with pytest.raises(ValueError, match="smaller than"):
        T.RandomCrop(99)(picture())


# -- data sets -----------------------------------------------------------------------------------------------------
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


# -- models --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "make",
    [
        lambda: models.mobilenet_v1(scale=0.125, num_classes=3),
        lambda: models.mobilenet_v2(scale=0.125, num_classes=3),
        lambda: models.mobilenet_v3_small(scale=0.25, num_classes=3),
        lambda: models.ResNet(models.resnet.BasicBlock, 18, num_classes=3),
    ],
)
def test_models_compute_and_train(make):
    net = paddle.jit.to_static(make())
    out = net(paddle.rand([2, 3, 32, 32]))
    assert out.shape == [2, 3]
    out.sum().backward()
    assert all(p.grad is not None for p in net.parameters() if not p.stop_gradient)


def test_published_weights_are_refused_with_the_way_out():
    with pytest.raises(NotImplementedError, match="set_state_dict"):
        models.resnet18(pretrained=True)


def test_the_loss_of_yolo_in_a_program_and_its_error():
    rs = np.random.RandomState(0)
    x = paddle.to_tensor(rs.randn(1, 14, 3, 3).astype("float32"))
    box, label = paddle.to_tensor([[[0.3, 0.3, 0.2, 0.2]]]), paddle.to_tensor([[1]])
    loss = paddle.vision.ops.yolo_loss
    static = paddle.jit.to_static(lambda x: loss(x, box, label, [3, 4, 5, 6], [0, 1], 2, 0.7, 8))
    np.testing.assert_allclose(
        static(x).numpy(), loss(x, box, label, [3, 4, 5, 6], [0, 1], 2, 0.7, 8).numpy(), rtol=1e-5
    )
    with pytest.raises(ValueError, match="x has 14 channels; expected 7 for 1 anchors"):
        loss(x, box, label, [3, 4], [0], 2, 0.7, 8)
