"""The library of products behind NumPy."""

from __future__ import annotations

from contextlib import AbstractContextManager

from threadpoolctl import ThreadpoolController

from ..core.memo import once


def one_thread() -> AbstractContextManager[object]:
    """Let the library compute in one thread in the block.

    Its threads wait by spinning, which takes twenty to sixty times as long where others have the processors.
    """
    return _libraries().limit(limits=1, user_api="blas")


# Key: once a process: the libraries that are loaded.
@once
def _libraries() -> ThreadpoolController:
    return ThreadpoolController()
