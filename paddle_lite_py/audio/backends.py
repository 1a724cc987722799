"""The backend that reads and writes sound files: the standard library."""

from __future__ import annotations

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]

_NAME = "wave_backend"


def list_available_backends() -> list[str]:
    """Return the names of the available audio backends.

    Returns:
        A list with one name.

    Examples:
        >>> list_available_backends()
        ['wave_backend']
    """
    return [_NAME]


def get_current_backend() -> str:
    """Return the name of the current audio backend.

    Examples:
        >>> get_current_backend()
        'wave_backend'
    """
    return _NAME


def set_backend(backend_name: str) -> None:
    """Set the audio backend.

    Arguments:
        backend_name: one of list_available_backends().

    Raises:
        NotImplementedError: for another name.

    Examples:
        >>> set_backend("wave_backend")
    """
    if backend_name != _NAME:
        raise NotImplementedError(f"audio.set_backend: {backend_name!r} is not available; expected {_NAME!r}")
