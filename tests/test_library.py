"""Small parts of the library: devices, flags, versions, readers, downloads."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import reader


def test_a_device_answers_honestly():
    assert paddle.device.get_device() == paddle.get_device()
    assert paddle.is_compiled_with_cuda() is (paddle.device.cuda.device_count() > 0)
    assert not paddle.is_compiled_with_xpu() and paddle.get_cudnn_version() is None
    assert paddle.device.cuda.memory_allocated() >= 0 and paddle.device.cuda.max_memory_reserved() >= 0
    paddle.device.synchronize()
    paddle.device.cuda.empty_cache()
    with pytest.raises(ValueError, match="device 99 is not there"):
        paddle.device.get_device_name(99)


def test_flags_are_kept():
    with pytest.warns(UserWarning, match="FLAGS_cudnn_deterministic=True has no effect"):
        paddle.set_flags({"FLAGS_cudnn_deterministic": True})
    assert paddle.get_flags(["FLAGS_cudnn_deterministic"]) == {"FLAGS_cudnn_deterministic": True}
    with pytest.raises(TypeError, match="'deterministic' is no name of a flag"):
        paddle.set_flags({"deterministic": True})
    with pytest.raises(ValueError, match="FLAGS_nothing was not set"):
        paddle.get_flags("FLAGS_nothing")


def test_versions():
    paddle.utils.require_version("2.0.0", "4.0")
    with pytest.raises(RuntimeError, match="this program requires at least 99.0.0"):
        paddle.utils.require_version("99.0.0")
    with pytest.raises(ValueError, match="min_version is 'new'"):
        paddle.utils.require_version("new")


def test_names_are_counted_once():
    from paddle_lite_py.nn import unique_name

    with unique_name.guard():
        assert [paddle.utils.unique_name.generate("fc"), unique_name.generate("fc")] == ["fc_0", "fc_1"]


def test_readers():
    def numbers():
        return iter(range(7))

    assert list(reader.batch(numbers, 3, drop_last=True)()) == [[0, 1, 2], [3, 4, 5]]
    assert sorted(reader.shuffle(numbers, 4)()) == list(range(7))
    assert list(reader.firstn(reader.chain(numbers, numbers), 9)()) == [*range(7), 0, 1]
    assert list(reader.buffered(numbers, 3)()) == list(range(7))
    assert list(reader.compose(numbers, numbers)())[1] == (1, 1)
    with pytest.raises(ValueError, match="shorter"):
        list(reader.compose(numbers, reader.firstn(numbers, 2))())


def test_data_parallel_is_the_layer_itself():
    layer = paddle.nn.Linear(2, 1)
    net = paddle.DataParallel(layer)
    with net.no_sync():
        net(paddle.ones([3, 2])).sum().backward()
    assert net.state_dict().keys() == layer.state_dict().keys() and layer.weight.grad is not None
    assert [p.name for p in net.parameters()] == [p.name for p in layer.parameters()]


def test_dlpack_both_ways():
    x = paddle.to_tensor([[1.0, 2.0]])
    capsule = paddle.utils.dlpack.to_dlpack(x)
    np.testing.assert_array_equal(paddle.utils.dlpack.from_dlpack(capsule).numpy(), x.numpy())


def archive(path: Path, name: str) -> None:
    with tarfile.open(path, "w:gz") as tar:
        info = tarfile.TarInfo(name)
        info.size = 2
        tar.addfile(info, io.BytesIO(b"hi"))


def test_a_file_is_fetched_once_checked_and_unpacked(tmp_path: Path):
    source, target = tmp_path / "data.tar.gz", tmp_path / "cache"
    archive(source, "data/a.txt")
    digest = hashlib.md5(source.read_bytes()).hexdigest()
    fetch = paddle.utils.download.get_path_from_url
    found = Path(fetch(source.as_uri(), str(target), digest))
    assert (found / "a.txt").read_text() == "hi"
    source.unlink()
    assert Path(fetch("https://nowhere.invalid/data.tar.gz", str(target), digest)) == found
    with pytest.raises(RuntimeError, match="cannot be fetched"):
        fetch(source.as_uri(), str(target), "0" * 32)


def test_a_hostile_archive_is_refused(tmp_path: Path):
    archive(tmp_path / "bad.tar.gz", "../outside.txt")
    with pytest.raises(tarfile.TarError):
        paddle.utils.download.get_path_from_url((tmp_path / "bad.tar.gz").as_uri(), str(tmp_path / "in" / "deep"))
    assert not (tmp_path / "in" / "outside.txt").exists()


def test_tensors_made_as_in_torch():
    assert paddle.FloatTensor(2, 3).shape == [2, 3] and paddle.LongTensor([1, 2]).dtype == "int64"
