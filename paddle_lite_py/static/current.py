"""Which programs are under construction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .program import Program


class Current:
    """The programs that ops and first values of parameters go to, and the prefix of the names made now."""

    main: Program
    startup: Program
    prefix = ""
    device: str | None = None


current = Current()
