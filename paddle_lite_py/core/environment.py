"""The environment of this process: versions, devices, and which optional packages are installed."""

from __future__ import annotations

import platform

import jax
import numpy as np

from .extras import DISTRIBUTION, extras, has_extra
from .jax_compat.versions import JAX, JAXLIB

# Extras for working on the project itself.
_FOR_DEVELOPERS = {"test", "dev", "bench", "docs", "gpu"}


def versions(lite_version: str) -> dict[str, str]:
    """Return the versions of this package and of what it stands on, by name."""
    return {
        DISTRIBUTION: lite_version,
        "jax": JAX,
        "jaxlib": JAXLIB,
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
