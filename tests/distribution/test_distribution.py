"""Draws of distributions: shapes, moments, gradients; and errors."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

import paddle_lite_py as paddle
from paddle_lite_py import distribution as D


def t(*values: float):
    return paddle.to_tensor(np.array(values, "float32"))


MAKERS = [
    lambda: D.Normal(t(0, 1), t(1, 2)),
    lambda: D.LogNormal(t(0, 1), t(0.2, 0.3)),
    lambda: D.Uniform(t(0, 1), t(1, 3)),
    lambda: D.Laplace(t(0, 1), t(1, 2)),
    lambda: D.Gumbel(t(0, 1), t(1, 2)),
    lambda: D.Exponential(t(0.5, 2)),
    lambda: D.Gamma(t(0.7, 2), t(1, 3)),
    lambda: D.Beta(t(0.7, 2), t(1, 3)),
    lambda: D.Dirichlet(t(0.7, 2, 1)),
    lambda: D.StudentT(t(7, 9), t(0, 1), t(1, 2)),
    lambda: D.MultivariateNormal(t(0, 1), covariance_matrix=t(2, 0.5, 0.5, 1).reshape([2, 2])),
    lambda: D.Bernoulli(t(0.3, 0.9)),
    lambda: D.Geometric(t(0.4, 0.9)),
    lambda: D.Poisson(t(1, 3)),
    lambda: D.Binomial(t(5, 5), t(0.3, 0.6)),
    lambda: D.Multinomial(4, t(0.3, 0.6, 0.1)),
    lambda: D.ContinuousBernoulli(t(0.3, 0.5)),
]


@pytest.mark.parametrize("make", MAKERS)
def test_draws_have_the_moments_that_are_told(make):
    paddle.seed(3)
    d = make()
    x = d.sample([4000])
    assert x.shape == [4000, *d.batch_shape, *d.event_shape] and x.stop_gradient
    spread = d.variance.sqrt().numpy()
    assert (np.abs(x.mean(0).numpy() - d.mean.numpy()) < 6 * spread / np.sqrt(4000)).all()
    np.testing.assert_allclose(x.std(0).numpy(), spread, rtol=0.15)


@pytest.mark.parametrize("make", [D.Normal, D.Laplace, D.Gumbel, D.LogNormal, D.Cauchy, D.Uniform])
def test_a_draw_carries_its_gradient(make):
    loc, scale = (paddle.to_tensor(v, stop_gradient=False) for v in (0.5, 2.0))
    make(loc, scale).rsample([3]).sum().backward()
    assert loc.grad is not None and scale.grad is not None


def test_the_distributions_of_which_sample_carries_its_gradient_are_those_of_paddlepaddle():
    loc, scale = (paddle.to_tensor([v], stop_gradient=False) for v in (0.5, 2.0))
    carrying = [
        D.Normal(loc, scale), D.LogNormal(loc, scale), D.Uniform(loc, scale), D.StudentT(scale, loc, scale),
        D.Independent(D.Normal(loc, scale), 1), D.TransformedDistribution(D.Normal(loc, scale), [D.ExpTransform()]),
    ]  # fmt: skip
    others = [
        D.Laplace(loc, scale),
        D.Gumbel(loc, scale),
        D.Cauchy(loc, scale),
        D.Gamma(loc, scale),
        D.Beta(loc, scale),
    ]
    for d in carrying + others:
        assert d.sample([3]).stop_gradient == (d in others), d
    paddle.seed(2)
    once = carrying[0].sample([3])
    (gradient,) = paddle.grad(once.sum(), [scale])
    np.testing.assert_allclose(gradient.numpy(), ((once - 0.5) / 2.0).sum().numpy().reshape([1]), rtol=1e-5)


def test_draws_repeat_with_the_seed_and_in_static_functions():
    d = D.Normal(0.0, 1.0)
    found = []
    for draw in (lambda: d.sample([3]), paddle.jit.to_static(lambda: d.sample([3]))):
        paddle.seed(1)
        found.append(draw().numpy())
    np.testing.assert_allclose(*found, rtol=1e-6)  # the same bits, made normal by two libraries


def test_choices_and_correlations():
    paddle.seed(0)
    x = D.Categorical(t(1, 3)).sample([4000])
    assert x.dtype == "int64" and abs(x.astype("float32").mean().item() - 0.75) < 0.04
    root = D.LKJCholesky(3, t(1.0, 2.0)).sample([5])
    assert root.shape == [5, 2, 3, 3] and root.dtype == "float32"
    np.testing.assert_allclose((root @ root.mT).diagonal(axis1=-2, axis2=-1).numpy(), 1.0, rtol=1e-5)
    logits = D.Bernoulli(t(0.3)).rsample([4000], temperature=0.1)  # samples are sigmoids of these
    relaxed = paddle.nn.functional.sigmoid(logits)
    assert abs(relaxed.mean().item() - 0.3) < 0.04 and logits.min().item() < -1 and logits.max().item() > 1


def test_errors_name_what_is_wrong():
    with pytest.raises(NotImplementedError, match="of Normal from Gamma is not known"):
        D.kl_divergence(D.Normal(0.0, 1.0), D.Gamma(1.0, 1.0))
    with pytest.raises(ValueError, match="give one of covariance_matrix"):
        D.MultivariateNormal(t(0, 1))
    with pytest.raises(NotImplementedError, match="is not injective"):
        D.TransformedDistribution(D.Normal(0.0, 1.0), [D.AbsTransform()]).log_prob(t(1))
    with pytest.raises(TypeError, match="no subclass of Distribution"):
        D.register_kl(int, D.Normal)


def test_a_rule_of_ones_own():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, Mine)
    def rule(p, q):
        return paddle.to_tensor(7.0)

    assert Mine(0.0, 1.0).kl_divergence(Mine(0.0, 1.0)).item() == 7.0
    assert D.Normal(0.0, 1.0).kl_divergence(Mine(0.0, 1.0)).item() == 0.0


def test_divergence_of_continuous_bernoulli():
    p, q = (D.ContinuousBernoulli(t(*v)) for v in ((0.2, 0.6), (0.7, 0.6)))
    np.testing.assert_allclose(D.kl_divergence(p, q).numpy(), [0.201036, 0.0], atol=1e-5)  # PaddlePaddle's


class Rates(D.ExponentialFamily):
    """Exponential distributions by their natural parameters."""

    _mean_carrier_measure = 0.0

    def __init__(self, rate):
        super().__init__(rate.shape)
        self.rate = rate

    @property
    def _natural_parameters(self):
        return (-self.rate,)

    def _log_normalizer(self, theta):
        return -(-theta).log()


class Flow(D.Transform):
    """A transform as users write one: three factors, applied together."""

    _type = D.transform.Type.BIJECTION
    _domain = _codomain = D.variable.Independent(D.variable.real, 1)

    def _forward(self, x):
        return x * t(0.5, 1.0, 2.0)

    def _inverse(self, y):
        return y / t(0.5, 1.0, 2.0)

    def _forward_log_det_jacobian(self, x):
        return (t(0.5, 1.0, 2.0).log() * paddle.ones_like(x)).sum(-1)


def test_transforms_of_the_users():
    x, base = t(0.1, 0.2, 0.3), D.Independent(D.Normal(t(0, 0, 0), t(1, 1, 1)), 1)
    factors = np.array([0.5, 1.0, 2.0])

    def expected(factors):
        return -0.5 * ((x.numpy() / factors) ** 2).sum() - 3 * np.log(np.sqrt(2 * np.pi)) - np.log(factors).sum()

    twice = D.TransformedDistribution(base, [Flow(), Flow()])
    assert twice.log_prob(x).item() == pytest.approx(expected(factors**2), rel=1e-5)
    assert Flow()(x).tolist() == (x * t(0.5, 1, 2)).tolist() and Flow()(base).sample([2]).shape == [2, 3]
    assert Flow().inverse_log_det_jacobian(x).item() == pytest.approx(0, abs=1e-6)
    chain = Flow()(D.ExpTransform())  # the called one comes first
    np.testing.assert_allclose(chain.forward(x).numpy(), np.exp(x.numpy() * factors), rtol=1e-6)
    assert paddle.jit.to_static(twice.log_prob)(x).item() == pytest.approx(twice.log_prob(x).item(), rel=1e-6)
    # PaddlePaddle counts the logarithm of a single factor once, not for each element of an event.
    single = D.TransformedDistribution(base, [D.AffineTransform(t(0.0).reshape([]), t(2.0).reshape([]))])
    assert single.log_prob(x).item() == pytest.approx(expected(np.full(3, 2.0)), rel=1e-5)
    with pytest.raises(ValueError, match="x has the shape .*; expected 1 dimensions of an event or more"):
        Flow().forward(x[0])
    with pytest.raises(NotImplementedError, match=r"Transform does not define _forward\(\)"):
        D.Transform().forward(x)
    with pytest.raises(TypeError, match="expected a list of transforms"):
        D.ChainTransform([2])


def test_entropy_of_a_family_of_the_users():
    rate = paddle.to_tensor([1.0, 2.0])
    np.testing.assert_allclose(Rates(rate).entropy().numpy(), D.Exponential(rate).entropy().numpy(), rtol=1e-6)
    with pytest.raises(NotImplementedError, match="ExponentialFamily has no entropy"):
        D.ExponentialFamily().entropy()


@pytest.mark.parametrize(("dtype", "least"), [("float32", 1.1920929e-07), ("float64", 2.220446049250313e-16)])
def test_what_is_certain_has_a_finite_logarithm(dtype, least):
    d = D.Bernoulli(paddle.to_tensor([0.0, 1.0], dtype))
    assert np.allclose(d.mean.numpy(), [least, 1 - least], rtol=1e-6, atol=0) and d.mean.dtype == dtype
    # As PaddlePaddle 3.3.1 has them.
    assert np.allclose(d.log_prob(paddle.ones([2], dtype)).numpy(), [np.log(least), -least], rtol=1e-6, atol=0)
    assert np.allclose(d.logits.numpy(), [np.log(least), -np.log(least)], rtol=1e-6)
    assert np.isfinite(d.entropy().numpy()).all() and (d.sample([50]) == paddle.to_tensor([0.0, 1.0], dtype)).all()


def test_poisson_without_events():
    p, q = D.Poisson(t(0, 2)), D.Poisson(t(2, 2))
    assert p.log_prob(t(0, 0)).tolist() == [0, -2]
    np.testing.assert_allclose(p.entropy(), [0, 1.7048829], rtol=1e-6)
    np.testing.assert_allclose(D.kl_divergence(p, q), [2, 0], atol=1e-6)


def test_binomials_of_different_counts():
    p, q = D.Binomial(t(3, 5), t(0.3, 0.4)), D.Binomial(t(4, 5), t(0.5, 0.1))
    np.testing.assert_allclose(p.entropy(), [1.1404672, 1.4979], rtol=1e-4)
    np.testing.assert_allclose(D.kl_divergence(p, q), [0.644693, 1.556194], rtol=1e-5)
    assert D.kl_divergence(q, p).tolist()[0] == float("inf")


def test_entropies_of_poisson_distributions_in_programs_and_for_any_rate():
    rates = np.array([0.0, 0.3, 5.0, 63.9, 64.0, 64.1, 400.0])

    def exact(rate):
        k = np.arange(1200)
        log = scipy.stats.poisson(rate).logpmf(k)
        return -(np.exp(log) * np.where(np.isfinite(log), log, 0)).sum()

    want = [exact(r) for r in rates]
    entropy = lambda rate: D.Poisson(rate).entropy()  # noqa: E731
    x = paddle.to_tensor(rates, stop_gradient=False)
    for function in (entropy, paddle.jit.to_static(entropy, full_graph=True)):
        found = function(x)
        np.testing.assert_allclose(found.numpy(), want, rtol=2e-8, atol=1e-12)
        slopes = paddle.grad(found.sum(), x)[0].numpy()[1:]
        near = (np.array([exact(r + 1e-4) for r in rates[1:]]) - [exact(r - 1e-4) for r in rates[1:]]) / 2e-4
        np.testing.assert_allclose(slopes, near, rtol=1e-5)


def test_a_uniform_distribution_whose_limits_are_swapped_has_no_density():
    d = D.Uniform(t(0, 3), t(2, 1))
    assert d.log_prob(t(1, 2)).isnan().tolist() == [False, True]
    assert d.log_prob(t(5, 1.5)).tolist()[0] == -np.inf and d.log_prob(t(0, 2)).exp()[0].item() == 0.5
    assert d.prob(t(1, 2)).tolist() == [0.5, 0.0] and d.probs(t(5, 5)).tolist() == [0.0, 0.0]
