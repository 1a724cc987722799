"""Data sets of pictures, and pictures in files."""

from __future__ import annotations

import gzip
import hashlib
import io
import pickle
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import corpora
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
    with pytest.raises(ValueError, match="images.gz is damaged"):
        datasets.MNIST(*paths)
    with pytest.raises(ValueError, match="5 pictures and 3 labels"):
        datasets.MNIST(
            idx(tmp_path / "i.gz", np.zeros([5, 28, 28], np.uint8)), idx(tmp_path / "l.gz", np.zeros([3], np.uint8))
        )
    with pytest.raises(ValueError, match="mode is 'valid'"):
        datasets.MNIST(*paths, mode="valid")


def cifar(path: Path, content: object) -> Path:
    return corpora.archive(path, {"cifar-10-batches-py/data_batch_1": pickle.dumps(content, protocol=2)})


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


@pytest.mark.parametrize(
    ("batch", "part"),
    [
        ({b"data": np.zeros([2, 3072], np.uint8), b"labels": [1]}, "holds 2 pictures and 1 labels"),
        ({b"data": np.zeros([1, 3000], np.uint8), b"labels": [1]}, "holds 0.97"),
        ({b"fine_labels": [1]}, "is no batch with data and labels"),
    ],
)
def test_batches_that_do_not_fit_are_named(batch, part, tmp_path: Path):
    with pytest.raises(ValueError, match=f"Cifar10: cifar-10-batches-py/data_batch_1 in .*{part}"):
        datasets.Cifar10(cifar(tmp_path / "c.tar.gz", batch))


def test_a_damaged_archive_is_named(tmp_path: Path):
    path = cifar(tmp_path / "c.tar.gz", {b"data": np.zeros([9, 3072], np.uint8), b"labels": [1] * 9})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(ValueError, match="Cifar10: .*c.tar.gz is no whole tar file"):
        datasets.Cifar10(path)


def coded(kind: str, array: np.ndarray) -> bytes:
    out = io.BytesIO()
    Image.fromarray(array).save(out, kind)
    return out.getvalue()


def voc(path: Path, names: str, **files: bytes) -> Path:
    root = "VOCdevkit/VOC2012/"
    found = {f"{root}ImageSets/Segmentation/trainval.txt": names.encode()}
    found |= {f"{root}JPEGImages/{n}.jpg": data for n, data in files.items()}
    found |= {f"{root}SegmentationClass/{n}.png": coded("PNG", picture()[:, :, 0]) for n in names.split()}
    return corpora.archive(path, found)


@pytest.mark.parametrize("workers", [0, 2])
def test_voc(tmp_path: Path, workers: int):
    files = {n: coded("JPEG", picture()) for n in ("a", "b", "c", "d")}
    data = datasets.VOC2012(voc(tmp_path / "voc.tar", "a b c d", **files), transform=T.ToTensor())
    batches = list(paddle.io.DataLoader(data, batch_size=2, num_workers=workers))
    assert [[t.shape for t in batch] for batch in batches] == [[[2, 3, 12, 16], [2, 12, 16]]] * 2
    np.testing.assert_array_equal(batches[1][1][1].numpy(), picture()[:, :, 0])


@pytest.mark.parametrize("workers", [0, 1])
def test_a_corrupt_picture_is_named(tmp_path: Path, workers: int):
    files = {"a": coded("JPEG", picture()), "b": b"no picture"}
    data = datasets.VOC2012(voc(tmp_path / "voc.tar", "a b c", **files))
    with pytest.raises(OSError, match="cannot identify") as caught:
        list(paddle.io.DataLoader(data, batch_size=None, num_workers=workers, collate_fn=lambda x: 0))
    notes = " ".join(caught.value.__notes__)
    assert "while reading VOCdevkit/VOC2012/JPEGImages/b.jpg" in notes and "sample 1 of VOC2012" in notes
    with pytest.raises(ValueError, match="holds no VOCdevkit/VOC2012/JPEGImages/c.jpg"):
        data[2]
    assert len(datasets.VOC2012(voc(tmp_path / "none.tar", ""))) == 0


def test_flowers(tmp_path: Path):
    matlab = pytest.importorskip("scipy.io")
    archive = corpora.archive(tmp_path / "f.tar", {f"jpg/image_{i:05d}.jpg": coded("JPEG", picture()) for i in (1, 2)})
    matlab.savemat(tmp_path / "labels.mat", {"labels": [[5, 7]]})
    matlab.savemat(tmp_path / "split.mat", {"tstid": [[2, 1]], "trnid": [[3]]})
    given = archive, tmp_path / "labels.mat", tmp_path / "split.mat"
    data = datasets.Flowers(*given, backend="cv2")
    assert len(data) == 2 and data[0][0].shape == (12, 16, 3) and data[0][1].tolist() == [7]
    with pytest.raises(ValueError, match="2 labels, and the split names picture 3"):
        datasets.Flowers(*given, mode="test")
    with pytest.raises(ValueError, match=r"split.mat holds no 'valid'; it holds tstid, trnid"):
        datasets.Flowers(*given, mode="valid")


def test_a_corrupt_file_of_a_folder_is_named(tmp_path: Path):
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "1.png").write_bytes(coded("PNG", picture())[:80])
    with pytest.raises(OSError) as caught:
        datasets.DatasetFolder(tmp_path)[0]
    assert caught.value.__notes__ == [f"while reading {tmp_path / 'cat' / '1.png'}"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(RuntimeError, match="no file was found"):
        datasets.DatasetFolder(tmp_path / "empty")


def test_what_is_published_is_fetched_with_its_checksum(tmp_path: Path, monkeypatch):
    source = cifar(tmp_path / "cifar-10-python.tar.gz", {b"data": np.zeros([1, 3072], np.uint8), b"labels": [4]})
    monkeypatch.setattr(paddle.utils.download, "home", lambda: tmp_path / "home" / "weights")
    monkeypatch.setattr(paddle.utils.download, "PAUSE", 0.0)
    monkeypatch.setattr(datasets.Cifar10, "_url", source.as_uri())
    with pytest.raises(RuntimeError, match="the checksum is not the expected one"):
        datasets.Cifar10()
    monkeypatch.setattr(datasets.Cifar10, "_md5", hashlib.md5(source.read_bytes()).hexdigest())
    assert int(datasets.Cifar10()[0][1]) == 4
    source.unlink()
    assert len(datasets.Cifar10()) == 1  # from the cache


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


def test_a_small_file_of_a_huge_picture_is_not_unpacked(tmp_path: Path):
    """400 million pixels in 50 kB."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj()
    rows = b"".join(packer.compress(bytes(1 + 2500)) for _ in range(20_000)) + packer.flush()
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 20_000, 20_000, 1, 0, 0, 0, 0))
    path = tmp_path / "huge.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", rows) + chunk(b"IEND", b""))
    assert path.stat().st_size < 100_000
    for read in (
        paddle.vision.image_load,
        lambda p: paddle.vision.ops.decode_jpeg(paddle.vision.ops.read_file(str(p))),
    ):
        with pytest.raises(Image.DecompressionBombError, match="400000000 pixels"):
            read(path)
