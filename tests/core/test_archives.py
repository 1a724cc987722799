"""Archives of strangers: what they unpack to is bounded, and lies beside them."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.core import archives
from paddle_lite_py.utils.download import opened
from paddle_lite_py.vision.datasets.mnist import read_idx


def tar_of(path, files, mode="w:gz"):
    with tarfile.open(path, mode) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def zip_of(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(archives, "LEAST", 1 << 20)


@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_an_archive_is_unpacked_beside_it(tmp_path, make):
    path = make(tmp_path / "data.archive", {"top/a": b"1", "top/b": b"2"})
    assert opened(path) == tmp_path / "top" and (tmp_path / "top" / "b").read_bytes() == b"2"
    path = make(tmp_path / "more.archive", {"a": b"1", "b": b"2"})
    assert opened(path) == tmp_path / "more" and opened(path) == tmp_path / "more"


@pytest.mark.parametrize("make", [tar_of, zip_of])
@pytest.mark.parametrize("name", ["../out", "top/../../out", "/out", "..\\out"])
def test_names_that_lead_out_are_refused(tmp_path, make, name):
    (tmp_path / "in").mkdir()
    path = make(tmp_path / "in" / "data.archive", {name: b"x"})
    with pytest.raises(ValueError, match="names a file outside of it"):
        opened(path)
    assert [p.name for p in tmp_path.rglob("*")] == ["in", "data.archive"]


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("make", [tar_of, zip_of])
def test_archives_that_unpack_to_too_much_are_refused(tmp_path, make):
    path = make(tmp_path / "bomb", {"top/zeros": bytes(20 << 20)})
    with pytest.raises(ValueError, match="unpacks to more than"):
        opened(path)
    assert [p.name for p in tmp_path.iterdir()] == ["bomb"]


@pytest.mark.usefixtures("small")
def test_gzipped_files_that_unpack_to_too_much_are_refused(tmp_path):
    (tmp_path / "bomb").write_bytes(gzip.compress(bytes(20 << 20)))
    for read in (read_idx, paddle.profiler.load_profiler_result):
        with pytest.raises(ValueError, match="unpacks to more than"):
            read(str(tmp_path / "bomb"))
    tar_of(tmp_path / "tar", {"aclImdb/train/pos/1.txt": bytes(20 << 20)})
    with pytest.raises(ValueError, match="unpacks to more than"):
        paddle.text.Imdb(str(tmp_path / "tar"))
