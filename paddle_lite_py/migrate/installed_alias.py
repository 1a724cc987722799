"""`import paddle` as this package for everything in an environment: notebooks, pytest, scripts of other packages.

What stands in `site` is copied into the environment's site-packages as the distribution `paddlepaddle`: pip then takes
requirements of other packages for satisfied, and `pip uninstall paddlepaddle` removes it as `alias remove` does.
"""

from __future__ import annotations

import os
import shutil
import site
import sysconfig
from contextlib import suppress
from importlib import metadata
from importlib.machinery import PathFinder
from pathlib import Path

from ..version import lite_version

SOURCE = Path(__file__).with_name("site")
_REFERENCE = ("paddlepaddle", "paddlepaddle-gpu", "paddlepaddle-xpu")
_INSTALLER = "paddle_lite_py"


class AliasError(RuntimeError):
    """The alias cannot be installed or removed."""


def site_packages() -> Path:
    """Return the folder of this environment that packages are installed in; the user's where that cannot be written."""
    folder = Path(sysconfig.get_path("purelib"))
    if not os.access(folder, os.W_OK) and site.ENABLE_USER_SITE:
        return Path(site.getusersitepackages())
    return folder


def find_alias(folder: Path) -> metadata.Distribution | None:
    """Return the alias that is installed in a folder."""
    return next(filter(_is_alias, metadata.distributions(name="paddlepaddle", path=[str(folder)])), None)


def _is_alias(distribution: metadata.Distribution) -> bool:
    return (distribution.read_text("INSTALLER") or "").strip() == _INSTALLER


def other_paddle(folder: Path) -> str | None:
    """Return what `import paddle` or pip finds in this environment other than the alias; None if nothing."""
    for name in _REFERENCE:
        for found in metadata.distributions(name=name, path=[str(folder)]):
            if not _is_alias(found):
                return f"{name} {found.version} in {folder}"
    spec = PathFinder.find_spec("paddle", [str(folder)])
    return None if spec is None or find_alias(folder) else str(spec.origin or folder / "paddle")


def install(folder: Path | None = None) -> str:
    """Let `import paddle` give this package in the environment that a folder of packages belongs to.

    Raises:
        AliasError: another `paddle` is installed there, or the folder cannot be written.
    """
    folder = folder or site_packages()
    if other := other_paddle(folder):
        raise AliasError(
            f"another `paddle` is installed: {other}. Use an environment of its own, or remove that one first "
            "(pip uninstall paddlepaddle)"
        )
    try:
        names = [p.name for p in SOURCE.iterdir() if p.is_dir() and p.name.startswith("paddle")]
        ignored = shutil.ignore_patterns("__pycache__")
        for name in names:
            shutil.copytree(SOURCE / name, folder / name, ignore=ignored, dirs_exist_ok=True)
        _write_record(folder, names)
    except OSError as e:
        raise AliasError(f"{folder} cannot be written ({e.strerror or e}); use a virtual environment") from None
    return status(folder)


def _write_record(folder: Path, names: list[str]) -> None:
    record = next(folder / name for name in names if name.endswith(".dist-info")) / "RECORD"
    record.touch()
    files = sorted(p.relative_to(folder) for name in names for p in (folder / name).rglob("*") if p.is_file())
    record.write_text("".join(f"{p.as_posix()},,\n" for p in files if "__pycache__" not in p.parts), encoding="utf-8")


def remove(folder: Path | None = None) -> str:
    """Undo `install`, removing nothing but what it has written."""
    folder = folder or site_packages()
    if alias := find_alias(folder):
        for file in alias.files or ():
            path = folder / file
            path.unlink(missing_ok=True)
            shutil.rmtree(path.with_name("__pycache__"), ignore_errors=True)
            with suppress(OSError):  # it contains files of others
                path.parent.rmdir()
    return status(folder)


def status(folder: Path | None = None) -> str:
    """Describe in a sentence what `import paddle` gives in this environment."""
    folder = folder or site_packages()
    if other := other_paddle(folder):
        return f"`import paddle` gives another package: {other}"
    if find_alias(folder):
        return f"`import paddle` gives paddle_lite_py {lite_version} (alias in {folder})"
    return f"no alias in {folder}: `python -m paddle_lite_py alias install` lets `import paddle` give paddle_lite_py"
