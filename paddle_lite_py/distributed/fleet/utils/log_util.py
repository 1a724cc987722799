"""The log of training in several processes."""

import logging

logger = logging.getLogger("paddle.distributed")


def get_sync_logger() -> logging.Logger:
    """Return the logger: each record is written when it is made."""
    return logger
