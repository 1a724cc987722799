"""What reads and writes sound files: the standard library."""

from __future__ import annotations

__all__ = ["get_current_backend", "list_available_backends", "set_backend"]

_NAME = "wave_backend"


def list_available_backends() -> list[str]:
    """The only one.

    Examples:
        >>> list_available_backends()
        ['wave_backend']
    """
    return [_NAME]


def get_current_backend() -> str:
    """The only one.

    Examples:
        >>> get_current_backend()
        'wave_backend'
    """
    return _NAME


def set_backend(backend_name: str) -> None:
    """Choose it.

    Raises:
        NotImplementedError: for another name.

    Examples:
        >>> set_backend("wave_backend")
    """
    if backend_name != _NAME:
        raise NotImplementedError(f"audio.set_backend: {backend_name!r} is not available; expected {_NAME!r}")
