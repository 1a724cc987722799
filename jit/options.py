"""How static functions are compiled, each and all of them."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from .cache import SIZE

# Set to 1, every static function is checked against its eager run.
CHECK_VARIABLE = "PADDLE_LITE_CHECK"


class _Settings:
    enabled = True
    verbosity = 0  # above 0, each trace is printed
    code_level = 0  # above 0, converted code is printed when it is traced
    check = os.environ.get(CHECK_VARIABLE, "") not in ("", "0")


settings = _Settings()


class CompileOptions(NamedTuple):
    """How a function is compiled: see to_static."""

    full_graph: bool = False
    cache_size: int = SIZE
    check: bool = False
    buckets: Any = None
    passes: Any = ()  # over the program that a trace gives


DEFAULTS = CompileOptions()
