"""python -m paddle_lite_py.distributed.launch: start a program in several processes, and end them together."""

from .command import launch

__all__ = ["launch"]
