"""The signature of a layer whose default data format depends on its number of dimensions."""

from __future__ import annotations

import inspect

CHANNELS_FIRST = {1: "NCL", 2: "NCHW", 3: "NCDHW"}


def show_default(cls: type, data_format: str) -> None:
    """Let the signature of a class show the data format that None stands for in its __init__."""
    params = list(inspect.signature(cls.__init__).parameters.values())[1:]  # type: ignore[misc]
    shown = [p.replace(default=data_format) if p.name == "data_format" else p for p in params]
    cls.__signature__ = inspect.Signature(shown)  # type: ignore[attr-defined]
