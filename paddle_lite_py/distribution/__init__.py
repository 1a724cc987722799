"""Probability distributions, transforms of them, and divergences between them."""

from ..core.argument_docs import document as _document
from . import transform
from .base import Distribution, ExponentialFamily
from .discrete import Bernoulli, Binomial, Categorical, ContinuousBernoulli, Geometric, Multinomial, Poisson
from .independent import Independent
from .kl import kl_divergence, register_kl
from .lkj_cholesky import LKJCholesky
from .location import Cauchy, Gumbel, Laplace, LogNormal, Normal, Uniform
from .positive import Beta, Chi2, Dirichlet, Exponential, Gamma, MultivariateNormal, StudentT
from .transform import *  # noqa: F403
from .transformed_distribution import TransformedDistribution

__all__ = [
    *("Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet"),
    *("Distribution", "Exponential", "ExponentialFamily", "Gamma", "Geometric", "Gumbel", "Independent"),
    *("LKJCholesky", "Laplace", "LogNormal", "Multinomial", "MultivariateNormal", "Normal", "Poisson", "StudentT"),
    *("TransformedDistribution", "Uniform", "kl_divergence", "register_kl"),
    *transform.__all__,
]

_document(globals())
