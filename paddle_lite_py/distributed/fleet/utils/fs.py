"""Files of this machine by the methods of a file system, and all kinds of these under one name."""

from __future__ import annotations

import os
import shutil

from .file_system import FS, ExecuteError, FSFileExistsError, FSFileNotExistsError, FSShellCmdAborted, FSTimeOut
from .hdfs import HDFSClient

__all__ = [
    "FS",
    "ExecuteError",
    "FSFileExistsError",
    "FSFileNotExistsError",
    "FSShellCmdAborted",
    "FSTimeOut",
    "HDFSClient",
    "LocalFS",
]


class LocalFS(FS):
    """Local file system, with the interface of HDFSClient.

    Examples:
        >>> import tempfile
        >>> files, folder = LocalFS(), tempfile.mkdtemp()
        >>> files.mkdirs(f"{folder}/a/b")
        >>> files.touch(f"{folder}/a/c")
        >>> files.ls_dir(f"{folder}/a"), files.is_file(f"{folder}/a/c")
        ((['b'], ['c']), True)
        >>> files.delete(folder)
    """

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Names of the folders, and of the files, in a folder; none where there is nothing."""
        found: tuple[list[str], list[str]] = ([], [])
        for name in os.listdir(fs_path) if self.is_exist(fs_path) else ():
            found[not os.path.isdir(os.path.join(fs_path, name))].append(name)
        return found

    def list_dirs(self, fs_path: str) -> list[str]:
        """Names of the folders in a folder; none where there is nothing."""
        return self.ls_dir(fs_path)[0]

    def is_file(self, fs_path: str) -> bool:
        """Whether a path is a file."""
        return os.path.isfile(fs_path)

    def is_dir(self, fs_path: str) -> bool:
        """Whether a path is a folder."""
        return os.path.isdir(fs_path)

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is something at a path."""
        return os.path.exists(fs_path)

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder, with those above it.

        Raises:
            AssertionError: if there is a file.
        """
        if os.path.isfile(fs_path):
            raise AssertionError(f"{fs_path} is a file; expected a folder, or nothing")
        os.makedirs(fs_path, exist_ok=True)

    def delete(self, fs_path: str) -> None:
        """Delete what is at a path, if anything is."""
        if os.path.isdir(fs_path):
            shutil.rmtree(fs_path)
        elif self.is_exist(fs_path):
            os.remove(fs_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file, unless there is one.

        Raises:
            FSFileExistsError: if there is one, and exist_ok is False.
        """
        if not self.is_exist(fs_path):
            with open(fs_path, "a"):
                pass
        elif not exist_ok:
            raise FSFileExistsError(f"{fs_path} is there already")

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give a file or a folder another path; a file that is there is replaced."""
        os.rename(fs_src_path, fs_dst_path)

    def mv(self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Move a file or a folder.

        Arguments:
            overwrite: whether what is there is deleted first.
            test_exists: both paths are looked at in any case.

        Raises:
            FSFileNotExistsError: if there is nothing to move.
            FSFileExistsError: if there is something where it is to go.
        """
        if not self.is_exist(src_path):
            raise FSFileNotExistsError(f"{src_path} is not there")
        if overwrite:
            self.delete(dst_path)
        if self.is_exist(dst_path):
            raise FSFileExistsError(f"{dst_path} is there already")
        self.rename(src_path, dst_path)

    def need_upload_download(self) -> bool:
        """False: programs open files where they are."""
        return False
