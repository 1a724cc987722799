"""Settings of tuning: XLA tunes its kernels itself, so that they are only checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

__all__ = ["set_config"]


def set_config(config: Any = None) -> None:
    """Accept settings of "kernel", "layout" and "dataloader": a dict, or a JSON file of one. XLA tunes by itself.

    Raises:
        ValueError: for other settings.
    """
    found = json.loads(Path(config).read_text()) if isinstance(config, str) else config or {}
    if unknown := set(found) - {"kernel", "layout", "dataloader"}:
        raise ValueError(f"autotune.set_config: {', '.join(sorted(unknown))} is not known")
