"""Deep learning with the PaddlePaddle API on JAX and XLA."""

from . import config

config.configure()

from . import eager, ops, tensor  # noqa: E402
from .ops.math import *  # noqa: E402, F403
from .ops.linalg import *  # noqa: E402, F403
from .ops.reduction import *  # noqa: E402, F403
from .tensor import Tensor  # noqa: E402, F403
from .autograd import no_grad, grad
from . import autograd
tensor.install_methods()
