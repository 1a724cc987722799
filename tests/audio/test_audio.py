"""Windows and files of sound."""

from __future__ import annotations

import numpy as np
import pytest

import paddle_lite_py as paddle


def test_windows_that_are_not_known():
    with pytest.raises(ValueError, match="window is 'square'"):
        paddle.audio.functional.get_window("square", 4)
    assert paddle.audio.functional.get_window(("tukey", 0.5), 8).shape == [8]


def test_sound_files(tmp_path):
    file = tmp_path / "a.wav"
    sound = paddle.to_tensor([[0.5, 2.0, -2.0, 0.25]])
    paddle.audio.save(file, sound, 100)
    found, rate = paddle.audio.load(str(file))
    assert rate == 100 and found.dtype == "float32"
    np.testing.assert_allclose(found.numpy(), [[0.5, 1.0, -1.0, 0.25]], atol=2**-15)
    assert paddle.audio.load(file, 3)[0].tolist() == [[0.25]] and paddle.audio.load(file, 9)[0].shape == [1, 0]
    paddle.audio.save(file, paddle.to_tensor([[3, 4], [5, 6], [7, 8]], "int16"), 100, channels_first=False)
    assert paddle.audio.info(file)[:4] == (100, 3, 2, 16)
    assert paddle.audio.load(file, normalize=False)[0].tolist() == [[3.0, 5.0, 7.0], [4.0, 6.0, 8.0]]
    file.write_bytes(b"no sound")
    with pytest.raises(NotImplementedError, match="a.wav is no wave file"):
        paddle.audio.load(file)
    with pytest.raises(ValueError, match=r"src has the shape \[3\]"):
        paddle.audio.save(file, paddle.zeros([3]), 100)
    with pytest.raises(NotImplementedError, match="'soundfile' is not available"):
        paddle.audio.backends.set_backend("soundfile")
