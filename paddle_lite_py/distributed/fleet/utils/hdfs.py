"""Files of HDFS, through the command `hadoop fs`."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .file_system import FS, ExecuteError, FSFileExistsError, FSFileNotExistsError, FSShellCmdAborted, FSTimeOut

__all__ = ["HDFSClient"]

ABORTED = 134  # the exit code of a process that was aborted
_LISTED = 8  # columns of a line of `hadoop fs -ls`: the first begins with "d" for a folder, the last is the path


class HDFSClient(FS):
    """Client of HDFS.

    Arguments:
        hadoop_home: folder of Hadoop, with bin/hadoop.
        configs: settings of Hadoop by name, such as {"fs.default.name": "hdfs://...", "hadoop.job.ugi":
            "user,password"}.
        time_out: milliseconds during which a failed command is retried.
        sleep_inter: milliseconds between two attempts. Default: 1000.

    Raises:
        FileNotFoundError: when a command is to be run, and there is no Hadoop.

    Examples:
        >>> HDFSClient("/nowhere", {}).is_exist("/data")
        Traceback (most recent call last):
        ...
        FileNotFoundError: HDFSClient: there is no /nowhere/bin/hadoop; install Hadoop, ...
    """

    def __init__(
        self, hadoop_home: str, configs: Mapping[str, str] | None, time_out: int = 5 * 60 * 1000,
        sleep_inter: int = 1000,
    ) -> None:  # fmt: skip
        settings = [f"-D{name}={value}" for name, value in (configs or {}).items()]
        self._base = [f"{hadoop_home}/bin/hadoop", "fs", *settings]
        self._time_out, self._sleep_inter = time_out, sleep_inter

    def _try(self, *command: str) -> tuple[int, str]:
        """Run a command once; its exit code, and what it has said."""
        try:
            done = subprocess.run([*self._base, *command], capture_output=True, text=True)
        except FileNotFoundError:
            raise FileNotFoundError(
                f"HDFSClient: there is no {self._base[0]}; install Hadoop, and give its folder as hadoop_home"
            ) from None
        if done.returncode == ABORTED:
            raise FSShellCmdAborted(f"hadoop fs {' '.join(command)} was aborted: {done.stderr.strip()}")
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr

    def _run(self, *command: str) -> str:
        """Run a command, again while it fails; what it has printed.

        Raises:
            FSTimeOut: with what it says, if it goes on failing.
        """
        end = time.monotonic() + self._time_out / 1000
        while True:
            try:
                code, said = self._try(*command)
                if code == 0:
                    return said
            except ExecuteError as e:
                said = str(e)
            if time.monotonic() >= end:
                raise FSTimeOut(
                    f"hadoop fs {' '.join(command)} has failed for {self._time_out / 1000:g} s: {said.strip()}"
                )
            time.sleep(self._sleep_inter / 1000)

    def _listed(self, *paths: str) -> list[list[str]]:
        lines = [line.split(maxsplit=_LISTED - 1) for line in self._run("-ls", *paths).splitlines()]
        return [line for line in lines if len(line) == _LISTED]

    # -- questions -----------------------------------------------------------------------------------------------------
    def is_exist(self, fs_path: str) -> bool:
        """Whether there is something at a path."""
        return self._try("-test", "-e", fs_path)[0] == 0

    def is_dir(self, fs_path: str) -> bool:
        """Whether a path is a folder."""
        return self._try("-test", "-d", fs_path)[0] == 0

    def is_file(self, fs_path: str) -> bool:
        """Whether a path is a file."""
        return self.is_exist(fs_path) and not self.is_dir(fs_path)

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Names of the folders, and of the files, in a folder; none where there is nothing."""
        found: tuple[list[str], list[str]] = ([], [])
        for line in self._listed(fs_path) if self.is_exist(fs_path) else ():
            found[not line[0].startswith("d")].append(os.path.basename(line[-1]))
        return found

    def list_dirs(self, fs_path: str) -> list[str]:
        """Names of the folders in a folder; none where there is nothing."""
        return self.ls_dir(fs_path)[0]

    def list_files_info(self, path_list: list[str]) -> list[dict[str, Any]]:
        """Path and size in bytes of what some paths have."""
        return [{"path": line[-1], "size": int(line[4])} for line in (self._listed(*path_list) if path_list else ())]

    def cat(self, fs_path: str | None = None) -> str:
        """Return the content of a file as text; empty if there is no file."""
        return "\n".join(self._run("-cat", fs_path).splitlines()) if fs_path and self.is_file(fs_path) else ""

    def need_upload_download(self) -> bool:
        """True: programs of this machine cannot open what is there."""
        return True

    # -- changes -------------------------------------------------------------------------------------------------------
    def mkdirs(self, fs_path: str) -> None:
        """Make a folder, with those above it."""
        self._run("-mkdir", "-p", fs_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file, unless there is one.

        Raises:
            FSFileExistsError: if there is one, and exist_ok is False.
        """
        if not self.is_exist(fs_path):
            self._run("-touchz", fs_path)
        elif not exist_ok:
            raise FSFileExistsError(f"{fs_path} is there already")

    def delete(self, fs_path: str) -> None:
        """Delete what is at a path, if anything is."""
        if self.is_exist(fs_path):
            self._run("-rm", "-r", fs_path)

    def mv(self, fs_src_path: str, fs_dst_path: str, overwrite: bool = False, test_exists: bool = True) -> None:
        """Move a file or a folder.

        Arguments:
            overwrite: whether what is there is deleted first.
            test_exists: whether to look at both paths before.

        Raises:
            FSFileNotExistsError: if there is nothing to move.
            FSFileExistsError: if there is something where it is to go.
        """
        if overwrite:
            self.delete(fs_dst_path)
        if test_exists and not self.is_exist(fs_src_path):
            raise FSFileNotExistsError(f"{fs_src_path} is not there")
        if test_exists and self.is_exist(fs_dst_path):
            raise FSFileExistsError(f"{fs_dst_path} is there already")
        self._run("-mv", fs_src_path, fs_dst_path)

    # -- copies --------------------------------------------------------------------------------------------------------
    def upload(self, local_path: str, fs_path: str, multi_processes: int = 5, overwrite: bool = False) -> None:
        """Copy a file, or what a folder has, from this machine.

        Arguments:
            multi_processes: how many are copied at a time.
            overwrite: whether what is there is deleted first.

        Raises:
            FSFileNotExistsError: if there is nothing to copy.
        """
        if not os.path.exists(local_path):
            raise FSFileNotExistsError(f"{local_path} is not there")
        if overwrite:
            self.delete(fs_path)
        paths = [local_path]
        if os.path.isdir(local_path):
            paths = [os.path.join(local_path, name) for name in sorted(os.listdir(local_path))]
            self.mkdirs(fs_path)
        self._each(["-put"], paths, fs_path, multi_processes)

    def upload_dir(self, local_dir: str, dest_dir: str, overwrite: bool = False) -> None:
        """Copy a folder of this machine into a folder, which is made if it is not there."""
        local_dir, dest_dir = local_dir.rstrip("/"), dest_dir.rstrip("/")
        if overwrite:
            self.delete(f"{dest_dir}/{os.path.basename(local_dir)}")
        self.mkdirs(dest_dir)
        self._run("-put", local_dir, dest_dir)

    def download(self, fs_path: str, local_path: str, multi_processes: int = 5, overwrite: bool = False) -> None:
        """Copy a file, or what a folder has, to this machine.

        Arguments:
            multi_processes: how many are copied at a time.
            overwrite: whether files of this machine are written over.

        Raises:
            FSFileNotExistsError: if there is nothing to copy.
        """
        if not self.is_exist(fs_path):
            raise FSFileNotExistsError(f"{fs_path} is not there")
        paths = [fs_path]
        if self.is_dir(fs_path):
            folders, files = self.ls_dir(fs_path)
            paths = [f"{fs_path}/{name}" for name in (*files, *folders)]
            os.makedirs(local_path, exist_ok=True)
        self._each(["-get", "-f"] if overwrite else ["-get"], paths, local_path, multi_processes)

    def _each(self, command: list[str], paths: list[str], target: str, at_a_time: int) -> None:
        """A command for each path; the first error is raised."""
        with ThreadPoolExecutor(max(1, at_a_time)) as pool:
            list(pool.map(lambda path: self._run(*command, path, target), paths))
