"""Helpers: names, versions, downloads, exchange of arrays."""

import sys

from ..core.argument_docs import document as _document
from ..custom import custom_op, numpy_op
from ..nn import unique_name
from . import cpp_extension, decorator_utils, dlpack, download
from .nests import flatten, is_sequence, map_structure, pack_sequence_as, to_sequence
from .tools import deprecated, require_version, run_check, try_import

# Can also be imported under this name: there is one counter of names for all.
sys.modules[f"{__name__}.unique_name"] = unique_name

__all__ = [
    *("cpp_extension", "custom_op", "deprecated", "dlpack", "download", "numpy_op", "require_version", "run_check"),
    *("flatten", "is_sequence", "map_structure", "pack_sequence_as", "to_sequence", "try_import", "unique_name"),
]

_document(globals())
