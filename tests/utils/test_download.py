"""Files that are fetched, checked and unpacked."""

from __future__ import annotations

import concurrent.futures
import hashlib
import http.server
import io
import tarfile
import threading
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
    with pytest.raises(ValueError, match="names a file outside"):
        paddle.utils.download.get_path_from_url((tmp_path / "bad.tar.gz").as_uri(), str(tmp_path / "in" / "deep"))
    assert not (tmp_path / "in" / "outside.txt").exists()


# -- a server that fails ---------------------------------------------------------------------------------------------
CONTENT = bytes(range(256)) * 4096


class Faulty(http.server.BaseHTTPRequestHandler):
    """Serves CONTENT; what it does to the requests, one after the other, stands in `faults`."""

    faults: list[str] = []
    asked: list[str | None] = []

    def do_GET(self):
        Faulty.asked.append(self.headers.get("Range"))
        fault = Faulty.faults.pop(0) if Faulty.faults else ""
        if fault.isdigit():
            return self.send_error(int(fault))
        start = int(self.headers["Range"][6:-1]) if self.headers.get("Range") and fault != "whole" else 0
        body = CONTENT[start:] if fault != "other" else b"something else"
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if fault == "cut" else body)

    def log_message(self, *args):
        """Say nothing."""


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(paddle.utils.download, "PAUSE", 0.0)
    Faulty.asked = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Faulty) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}/data.bin"
        running.shutdown()


def fetch(url, folder):
    md5 = hashlib.md5(CONTENT).hexdigest()
    return Path(paddle.utils.download.get_path_from_url(url, str(folder), md5, decompress=False)).read_bytes()


HALF, REST = len(CONTENT) // 2, len(CONTENT) // 4 * 3


@pytest.mark.parametrize(
    ("faults", "ranges"),
    [
        ([], [None]),
        (["cut", "cut"], [None, f"bytes={HALF}-", f"bytes={REST}-"]),  # each goes on where the last one ended
        (["503", "cut"], [None, None, f"bytes={HALF}-"]),
        (["cut", "whole"], [None, f"bytes={HALF}-"]),  # a server that knows no ranges
        (["other"], [None, None]),  # damaged: once more from the beginning
        (["cut", "416"], [None, f"bytes={HALF}-", None]),
    ],
)
def test_an_interrupted_download_goes_on(server, tmp_path, faults, ranges):
    Faulty.faults = faults[:]
    assert fetch(server, tmp_path) == CONTENT and Faulty.asked == ranges
    assert [p.name for p in tmp_path.iterdir()] == ["data.bin"]
    assert fetch(server, tmp_path) == CONTENT and Faulty.asked == ranges


def test_a_download_goes_on_in_another_process(server, tmp_path):
    Faulty.faults = ["cut", *["503"] * 3]
    with pytest.raises(RuntimeError, match="cannot be fetched .*503"):
        fetch(server, tmp_path)
    assert (tmp_path / "data.bin.part").stat().st_size == HALF and not (tmp_path / "data.bin").exists()
    assert fetch(server, tmp_path) == CONTENT and Faulty.asked[-1] == f"bytes={HALF}-"


@pytest.mark.parametrize(
    ("faults", "part"), [(["404"], "404"), (["other"] * 4, "the checksum is not the expected one")]
)
def test_a_download_that_fails_is_told(server, tmp_path, faults, part):
    Faulty.faults = faults[:]
    with pytest.raises(RuntimeError, match=part):
        fetch(server, tmp_path)
    assert len(Faulty.asked) == len(faults) and not (tmp_path / "data.bin").exists()


def test_processes_that_fetch_the_same_file_at_once(server, tmp_path):
    Faulty.faults = []
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(lambda _: fetch(server, tmp_path), range(4))) == {CONTENT}
    assert len(Faulty.asked) < 4
