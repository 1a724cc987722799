"""Optional packages: what each extra installs, and whether it is installed.

Read from the metadata of the installed distribution, so that no second list can be wrong.
"""

from __future__ import annotations

import re
from importlib import metadata

from .memo import once

DISTRIBUTION = "paddle_lite_py"


# Key: the distribution; what is installed stays for a process.
@once
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
    """Return the command that installs what extras need.

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
    packages = extras(distribution).get(name, [])
    return bool(packages) and all(map(_is_installed, packages))


def _is_installed(requirement: str) -> bool:
    package, *wanted = re.findall(r"[\w.-]+", re.split(r"[<>=!~ ]", requirement)[0])
    return version_of(package) is not None and all(has_extra(extra, package) for extra in wanted)


def version_of(distribution: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None
