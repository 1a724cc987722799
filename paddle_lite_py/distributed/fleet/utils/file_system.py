"""The interface of file systems, and their errors."""

from __future__ import annotations

from typing import Any

__all__ = ["FS", "ExecuteError", "FSFileExistsError", "FSFileNotExistsError", "FSShellCmdAborted", "FSTimeOut"]


class ExecuteError(Exception):
    """A command of a file system has failed."""


class FSShellCmdAborted(ExecuteError):
    """A command of a file system was aborted."""


class FSFileExistsError(Exception):
    """There is something where nothing was expected."""


class FSFileNotExistsError(Exception):
    """There is nothing where something was expected."""


class FSTimeOut(Exception):
    """A command of a file system has failed for as long as it might be tried."""


class FS:
    """A file system; one of its kind has the methods that make sense there.

    Examples:
        >>> FS().cat("notes.txt")
        Traceback (most recent call last):
        ...
        NotImplementedError: FS has no cat()
    """

    def _missing(self, name: str) -> NotImplementedError:
        return NotImplementedError(f"{type(self).__name__} has no {name}()")

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """Names of the folders, and of the files, in a folder."""
        raise self._missing("ls_dir")

    def list_dirs(self, fs_path: str) -> list[str]:
        """Names of the folders in a folder."""
        raise self._missing("list_dirs")

    def is_file(self, fs_path: str) -> bool:
        """Whether a path is a file."""
        raise self._missing("is_file")

    def is_dir(self, fs_path: str) -> bool:
        """Whether a path is a folder."""
        raise self._missing("is_dir")

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is something at a path."""
        raise self._missing("is_exist")

    def mkdirs(self, fs_path: str) -> None:
        """Make a folder, with those above it."""
        raise self._missing("mkdirs")

    def delete(self, fs_path: str) -> None:
        """Delete what is at a path, if anything is."""
        raise self._missing("delete")

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Make an empty file, unless there is one."""
        raise self._missing("touch")

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Give a file or a folder another path."""
        raise self._missing("rename")

    def mv(self, fs_src_path: str, fs_dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Move a file or a folder."""
        raise self._missing("mv")

    def upload(self, local_path: str, fs_path: str, *args: Any, **kwargs: Any) -> None:
        """Copy a file or what a folder has from this machine."""
        raise self._missing("upload")

    def upload_dir(self, local_dir: str, dest_dir: str, *args: Any, **kwargs: Any) -> None:
        """Copy a folder from this machine into a folder."""
        raise self._missing("upload_dir")

    def download(self, fs_path: str, local_path: str, *args: Any, **kwargs: Any) -> None:
        """Copy a file or what a folder has to this machine."""
        raise self._missing("download")

    def cat(self, fs_path: str | None = None) -> str:
        """Return the content of a file as text."""
        raise self._missing("cat")

    def need_upload_download(self) -> bool:
        """Whether files must be copied before a program of this machine can open them."""
        raise self._missing("need_upload_download")
