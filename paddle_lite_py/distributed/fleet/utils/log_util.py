"""The log of training in several processes."""

import logging

logger = logging.getLogger("paddle.distributed")
