"""Sound: scales, windows, spectra and what is made of them."""

from . import features, functional

__all__ = ["features", "functional"]
