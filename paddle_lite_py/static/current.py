"""Which programs are under construction."""

from __future__ import annotations

from typing import Any


class Current:
    """The programs that ops and first values of parameters go to, and the prefix of the names made now."""

    main: Any
    startup: Any
    prefix = ""
    device: str | None = None


current = Current()
