"""Transforms of pictures in each form."""

from __future__ import annotations

import random

import numpy as np
import pytest
from PIL import Image

import paddle_lite_py as paddle
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


def test_two_pictures_are_cropped_alike():
    top, left, height, width = T.RandomCrop((4, 5))._get_param(img=picture(), output_size=(4, 5))
    assert T.functional.crop(picture(), top, left, height, width).shape[:2] == (4, 5)
