"""What this process runs on: versions, devices, and which of the optional packages are installed.

The extras are those of the installed distribution's own metadata, so that no second list can be wrong.
"""

from __future__ import annotations

import functools
import platform
import re
from importlib import metadata

import jax
import numpy as np

DISTRIBUTION = "paddle_lite_py"
# Extras for working on the project itself.
_FOR_DEVELOPERS = {"test", "dev", "bench", "docs", "gpu"}


@functools.cache
def extras(distribution: str = DISTRIBUTION) -> dict[str, list[str]]:
    """The packages that each extra installs, as `pip install` takes them; empty where the distribution is missing."""
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return {}
    found: dict[str, list[str]] = {}
    for line in lines:
        package, _, marker = line.partition(";")
        if extra := re.search(r"""extra == ['"]([\w-]+)['"]""", marker):
            found.setdefault(extra[1], []).append(package.strip())
    return found


def install_hint(*names: str) -> str:
    """The command that installs what extras need.

    Examples:
        >>> install_hint("kubernetes")
        'pip install pyyaml'
    """
    known = extras()
    if missing := [n for n in names if n not in known]:
        return f"pip install '.[{','.join(names)}]' in a clone of {DISTRIBUTION} (extra {missing[0]!r})"
    packages = dict.fromkeys(p for n in names for p in known[n])
    return "pip install " + " ".join(f"'{p}'" if re.search(r"[<>=\[]", p) else p for p in packages)


def has_extra(name: str, distribution: str = DISTRIBUTION) -> bool:
    """Whether all packages of an extra are installed, with the extras that it names of them.

    Examples:
        >>> has_extra("tests", "no-such-distribution")
        False
    """
    packages = extras(distribution).get(name)
    return bool(packages) and all(map(_is_installed, packages))


def _is_installed(requirement: str) -> bool:
    package, *wanted = re.findall(r"[\w.-]+", re.split(r"[<>=!~ ]", requirement)[0])
    return _version(package) is not None and all(has_extra(extra, package) for extra in wanted)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def versions(lite_version: str) -> dict[str, str]:
    """The versions of this package and of what it stands on, by name."""
    return {
        DISTRIBUTION: lite_version,
        "jax": jax.__version__,
        "jaxlib": _version("jaxlib") or "unknown",
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def describe(lite_version: str) -> str:
    """Versions, system, devices and extras, a line each, as `paddle.version.show()` and `run_check()` print them."""
    names = sorted(extras().keys() - _FOR_DEVELOPERS)
    devices = jax.devices()
    lines = {
        **versions(lite_version),
        "system": f"{platform.system()} {platform.machine()}",
        "devices": f"{len(devices)} x {devices[0].device_kind} ({devices[0].platform})",
        "extras": " ".join(filter(has_extra, names)) or "none",
        "extras not installed": " ".join(n for n in names if not has_extra(n)) or "none",
    }
    return "\n".join(f"{name}: {value}" for name, value in lines.items())
