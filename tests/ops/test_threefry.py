"""The bits that are drawn with operations of their own are those that JAX draws."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from paddle_lite_py.core.jax_compat.threefry import integers, random_key
from paddle_lite_py.host.tier import OP_STEPS, choose_tier
from paddle_lite_py.ops import threefry


@pytest.mark.parametrize("shape", [(), (0, 3), (1,), (7, 3), (2, 1, 5, 4)])
@pytest.mark.parametrize("p", [0.0, 0.1, 0.9, 1 - 1e-12])
def test_draws_are_those_of_jax(shape: tuple[int, ...], p: float):
    for seed in range(3):
        key = jax.random.fold_in(jax.random.key(seed), 5)
        expected = jax.random.bernoulli(key, p, shape)
        np.testing.assert_array_equal(jax.jit(lambda k: threefry.bernoulli(k, p, shape))(key), expected)


DRAWS = {
    "normal": lambda k: jax.random.normal(k, (2, 3)),
    "float64": lambda k: jax.random.uniform(k, (3,), "float64"),
    "bytes": lambda k: jax.random.bits(k, (5,), "uint8"),
    "integers": lambda k: jax.random.randint(k, (4,), 0, 1000),
    "no numbers": lambda k: jax.random.normal(k, (0, 2)),
    "of many keys": lambda k: jax.vmap(lambda one: jax.random.normal(one, (3,)))(jax.random.split(k, 2)),
    "folded": lambda k: jax.random.bits(jax.random.fold_in(k, 2**32 - 1)),
    "permutation": lambda k: jax.random.permutation(k, 5),
}


@pytest.mark.parametrize("partitionable", [True, False])
def test_the_generator_gives_the_numbers_of_jax(partitionable):
    def drawn(key):
        return [draw(key) for draw in DRAWS.values()]

    with jax.threefry_partitionable(partitionable):
        for seed in (0, 2**31 + 5):
            expected = jax.jit(drawn)(jax.random.key(seed))
            for name, found, wanted in zip(DRAWS, jax.jit(drawn)(random_key(seed)), expected, strict=True):
                np.testing.assert_array_equal(found, wanted, err_msg=name, strict=True)


def test_the_generator_that_jax_is_set_to_is_taken():
    with jax.default_prng_impl("rbg"):
        assert jax.random.key_impl(random_key(0)) == "rbg"


def test_other_generators_are_left_to_jax():
    key = jax.random.key(0, impl="rbg")
    np.testing.assert_array_equal(threefry.bernoulli(key, 0.5, (50,)), jax.random.bernoulli(key, 0.5, (50,)))


def test_each_element_has_a_draw_of_its_own():
    found = threefry.bernoulli(jax.random.key(1), 0.3, (200, 300))
    assert abs(float(found.mean()) - 0.3) < 0.01
    assert abs(float((found[1:] & found[:-1]).mean()) - 0.09) < 0.01


@pytest.mark.parametrize(
    ("low", "high"), [(0, 100), (-5, 3), (7, 7), (9, 2), (0, 2**33), (-(2**62), 2**62), (-(2**63), 2**63 - 1)]
)
def test_integers_are_those_of_jax(low, high):
    key = random_key(3)
    expected = jax.random.randint(key, (5, 3), low, high, np.int64)
    np.testing.assert_array_equal(integers(key, low, high, (5, 3)), expected, strict=True)


def test_numpy_draws_few_integers():
    traced = jax.jit(lambda seed: integers(random_key(seed), 0, 100, (3, 4))).trace(np.int64(3))
    writer, on_host = choose_tier(traced, [np.int64(3)], OP_STEPS - 4)  # the op has some steps of its own
    assert writer is not None and on_host
