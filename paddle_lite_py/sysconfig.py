"""Folders of headers and libraries: there are none, as nothing here is compiled from C++."""

from __future__ import annotations

from pathlib import Path

__all__ = ["get_include", "get_lib"]


def get_include() -> str:
    """Where headers would be."""
    return str(Path(__file__).parent / "include")


def get_lib() -> str:
    """Where libraries would be."""
    return str(Path(__file__).parent / "libs")
