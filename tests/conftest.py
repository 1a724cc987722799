"""Set before anything imports JAX: compiled code is kept between runs and shared by the test processes."""

from __future__ import annotations

import os
from pathlib import Path

CACHE = Path(__file__).resolve().parent.parent / ".cache"
os.environ.setdefault("PADDLE_LITE_CACHE_DIR", str(CACHE / "xla"))
