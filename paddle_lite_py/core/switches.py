"""What users switch off in the environment."""

from __future__ import annotations

import os


def is_on(name: str) -> bool:
    """Whether a setting that is on by default is left on: not 0, false or off in the environment."""
    return os.environ.get(name, "1").lower() not in ("0", "false", "off")
