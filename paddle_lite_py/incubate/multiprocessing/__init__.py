"""Processes that hand each other tensors: Python's own, since tensors are sent by value."""

from multiprocessing import *  # noqa: F403

from . import reductions  # noqa: F401
