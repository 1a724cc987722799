"""Files of data sets, as programs of older versions fetch them."""

from . import common

__all__ = ["common"]
