"""The functions on tensors that the public namespace has: those of the ops, and every in-place method as a function."""

# ruff: noqa: F401, F403

from ..dispatch.define import INPLACE as _INPLACE
from .binary import *
from .convert import *
from .creation import *
from .decomposition import inverse
from .diagonals import *
from .gather import *
from .joining import *
from .linalg import *
from .logic import *
from .manipulation import *
from .math import *
from .math_names import *
from .norms import *
from .random import *
from .reduction import *
from .scatter import *
from .search import *
from .slicing import *
from .splitting import *
from .statistics import *
from .unary import *

globals().update(_INPLACE)
