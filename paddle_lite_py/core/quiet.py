"""The logs of libraries, set before JAX is imported."""

from __future__ import annotations

import logging


def quiet(logger: str, level: int = logging.WARNING) -> None:
    """Keep lines of a library below a level out of the user's log, unless its logger has a level already.

    A program that logs at DEBUG for itself would get a page of them for each compilation.
    """
    if logging.getLogger(logger).level == logging.NOTSET:
        logging.getLogger(logger).setLevel(level)
