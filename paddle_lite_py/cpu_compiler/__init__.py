"""The passes that run before XLA compiles a program for CPUs, and the process that compiles large programs.

All that other rooms need is here: `prepare()` gives a function in the form that XLA does best with (`passes.py` has the
list), `OutOfProcessJit` one that is compiled by another process where it is large; and an op may ask which form of a
convolution is wanted.
"""

from .convolution_choice import takes
from .inline import inline_device
from .layouts import transposes_are_free
from .named_programs import described, file_of_traced, nested
from .onednn import KINDS
from .out_of_process import OutOfProcessJit, may_be_large, may_warm, warm_seconds
from .rewriting import prepare
from .traced import size

__all__ = [
    "KINDS",
    "OutOfProcessJit",
    "described",
    "file_of_traced",
    "inline_device",
    "may_be_large",
    "may_warm",
    "nested",
    "prepare",
    "size",
    "takes",
    "transposes_are_free",
    "warm_seconds",
]
