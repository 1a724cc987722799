"""Files of this machine, and those of HDFS, for which a command on a folder of this machine stands: PaddlePaddle 3.3.1
gives the same answers for each row."""

from __future__ import annotations

import os
import sys

import pytest

from launching import PROGRAMS
from paddle_lite_py.distributed.fleet.utils import HDFSClient, LocalFS
from paddle_lite_py.distributed.fleet.utils.fs import FS, FSFileExistsError, FSFileNotExistsError, FSTimeOut

# What is asked of a file system with a folder "a" that has the folder "b" and the file "c", and what it answers: the
# answer, or the error, and what is in "a" afterwards.
ASKED = [
    (lambda fs, a: fs.ls_dir(a), (["b"], ["c"])),
    (lambda fs, a: fs.ls_dir(f"{a}/none"), ([], [])),
    (lambda fs, a: fs.list_dirs(a), ["b"]),
    (lambda fs, a: [fs.is_exist(p) for p in (a, f"{a}/c", f"{a}/d")], [True, True, False]),
    (lambda fs, a: [fs.is_dir(p) for p in (a, f"{a}/c", f"{a}/d")], [True, False, False]),
    (lambda fs, a: [fs.is_file(p) for p in (a, f"{a}/c", f"{a}/d")], [False, True, False]),
    (lambda fs, a: (fs.mkdirs(f"{a}/d/e"), fs.mkdirs(f"{a}/d/e"), fs.list_dirs(f"{a}/d"))[-1], ["e"]),
    (lambda fs, a: (fs.touch(f"{a}/c"), fs.touch(f"{a}/d"), sorted(fs.ls_dir(a)[1]))[-1], ["c", "d"]),
    (lambda fs, a: fs.touch(f"{a}/c", exist_ok=False), FSFileExistsError),
    (lambda fs, a: (fs.delete(f"{a}/c"), fs.delete(f"{a}/b"), fs.delete(f"{a}/none"), fs.ls_dir(a))[-1], ([], [])),
    (lambda fs, a: (fs.mv(f"{a}/c", f"{a}/d"), fs.ls_dir(a))[-1], (["b"], ["d"])),
    (lambda fs, a: fs.mv(f"{a}/none", f"{a}/d", test_exists=True), FSFileNotExistsError),
    (lambda fs, a: fs.mv(f"{a}/c", f"{a}/b", test_exists=True), FSFileExistsError),
    (lambda fs, a: (fs.mv(f"{a}/c", f"{a}/b", overwrite=True), fs.ls_dir(a))[-1], ([], ["b"])),
]


@pytest.fixture(params=["local", "hdfs"])
def files(request, tmp_path, monkeypatch):
    """A file system, and its folder "a"."""
    (tmp_path / "root" / "a" / "b").mkdir(parents=True)
    (tmp_path / "root" / "a" / "c").write_text("one\ntwo")
    if request.param == "local":
        return LocalFS(), str(tmp_path / "root" / "a")
    return hdfs(tmp_path, monkeypatch), "/a"


def hdfs(folder, monkeypatch):
    """A client of a folder's "root"."""
    command = folder / "hadoop" / "bin" / "hadoop"
    command.parent.mkdir(parents=True)
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -S -E {PROGRAMS / "hadoop.py"} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("HADOOP_FOLDER", str(folder / "root"))
    return HDFSClient(str(folder / "hadoop"), {"fs.default.name": "hdfs://here"}, time_out=0, sleep_inter=10)


@pytest.mark.parametrize(("ask", "answer"), ASKED)
def test_file_systems_answer_as_in_the_reference(files, ask, answer):
    if isinstance(answer, type):
        with pytest.raises(answer):
            ask(*files)
    else:
        assert ask(*files) == answer


def test_files_go_to_hdfs_and_back(tmp_path, monkeypatch):
    (tmp_path / "root").mkdir()
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    for name in ("x", "y", "deep/z"):
        (tmp_path / "mine" / name).write_text(f"{name} {name}")
    client = hdfs(tmp_path, monkeypatch)
    for _ in range(2):
        client.upload(str(tmp_path / "mine"), "/data", multi_processes=2, overwrite=True)
    assert client.ls_dir("/data") == (["deep"], ["x", "y"])
    assert client.list_files_info(["/data/x", "/data/deep"]) == [
        {"path": "/data/x", "size": 3},
        {"path": "/data/deep/z", "size": 13},
    ]
    assert client.cat("/data/x") == "x x" and client.cat("/data") == "" and client.need_upload_download()
    client.upload_dir(str(tmp_path / "mine"), "/more")
    assert client.list_dirs("/more") == ["mine"]
    client.download("/data", str(tmp_path / "back"))
    for overwrite in (False, True):
        client.download("/data/y", str(tmp_path / "y"), overwrite=overwrite)
    found = sorted(os.path.relpath(p, tmp_path / "back") for p in (tmp_path / "back").rglob("*") if p.is_file())
    assert found == ["deep/z", "x", "y"] and (tmp_path / "y").read_text() == "y y"
    for missing in (lambda: client.upload("/nowhere", "/data"), lambda: client.download("/none", "here")):
        with pytest.raises(FSFileNotExistsError, match="is not there"):
            missing()
    with pytest.raises(FSTimeOut, match="hadoop fs -put .* has failed for 0 s: .*File exists"):
        client.upload(str(tmp_path / "mine" / "x"), "/data")


def test_what_is_not_there_is_told():
    with pytest.raises(FileNotFoundError, match="there is no /nowhere/bin/hadoop; install Hadoop"):
        HDFSClient("/nowhere", None).ls_dir("/")
    with pytest.raises(NotImplementedError, match="LocalFS has no upload"):
        LocalFS().upload("a", "b")
    assert issubclass(LocalFS, FS) and not LocalFS().need_upload_download()
    with pytest.raises(AssertionError, match="is a file; expected a folder"):
        LocalFS().mkdirs(__file__)
