"""Files that are fetched, checked and unpacked."""

from __future__ import annotations

import hashlib
import io
import tarfile
from pathlib import Path

import pytest

import paddle_lite_py as paddle


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
