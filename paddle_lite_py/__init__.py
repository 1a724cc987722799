"""Deep learning with the PaddlePaddle API on JAX and XLA."""

from . import config

config.configure()

from . import eager, ops  # noqa: E402
from .ops.binary import *  # noqa: E402, F403
from .ops.convert import *  # noqa: E402, F403
from .ops.creation import *  # noqa: E402, F403
from .ops.decomposition import inverse  # noqa: E402, F403
from .ops.diagonals import *  # noqa: E402, F403
from .ops.gather import *  # noqa: E402, F403
from .ops.inplace import *  # noqa: E402, F403
from .ops.joining import *  # noqa: E402, F403
from .ops.linalg import *  # noqa: E402, F403
from .ops.logic import *  # noqa: E402, F403
from .ops.manipulation import *  # noqa: E402, F403
from .ops.math import *  # noqa: E402, F403
from .ops.norms import *  # noqa: E402, F403
from .ops.random import *  # noqa: E402, F403
from .ops.reduction import *  # noqa: E402, F403
from .ops.scatter import *  # noqa: E402, F403
from .ops.search import *  # noqa: E402, F403
from .ops.slicing import *  # noqa: E402, F403
from .ops.statistics import *  # noqa: E402, F403
from .ops.unary import *  # noqa: E402, F403
from .random import get_rng_state, seed, set_rng_state  # noqa: E402, F403
from .tensor import Tensor, install_methods  # noqa: E402, F403

from . import autograd  # noqa: E402, F403
from .autograd import grad, no_grad  # noqa: E402, F403

install_methods()
