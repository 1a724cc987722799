"""Names of traced programs: equal for equal programs, in every process, and for no others."""

from __future__ import annotations

import itertools
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from paddle_lite_py.core.jax_compat import threefry
from paddle_lite_py.cpu_compiler import fingerprints
from paddle_lite_py.cpu_compiler.fingerprints import fingerprint

X = np.arange(6, dtype=np.float32).reshape(2, 3)
TABLE = np.arange(2000.0)  # longer than NumPy prints


def named(fn, *args):
    return fingerprint(jax.make_jaxpr(fn)(*args))


def repeated(body, n=3):
    return lambda x: jax.lax.fori_loop(0, n, lambda _, c: body(c), x)


def looked_up(table):
    return lambda x: jnp.asarray(table)[x.astype(int)]


def random(impl):
    return lambda x: (
        x + jax.random.uniform(jax.random.wrap_key_data(jnp.zeros(2 if impl else 4, "uint32"), impl=IMPL[impl]))
    )


IMPL = ["rbg", "threefry2x32"]
CHANGED = np.where(TABLE == 1000, -1, TABLE)

# Programs of which no two compute the same.
PROGRAMS = {
    "sum": (lambda x: x.sum(), X),
    "another primitive": (lambda x: x.max(), X),
    "another parameter": (lambda x: x.sum(0), X),
    "another shape": (lambda x: x.sum(), X[:1]),
    "another type": (lambda x: x.sum(), X.astype(np.float64)),
    "a number": (lambda x: x * 2.0, X),
    "another number": (lambda x: x * 3.0, X),
    "a number of another type": (lambda x: x * np.float64(2.0), X),
    "no number": (lambda x: x * np.nan, X),
    "nothing": (lambda x: x * 0.0, X),
    "less than nothing": (lambda x: x * -0.0, X),
    "difference": (lambda x, y: x - y, X, X),
    "turned round": (lambda x, y: y - x, X, X),
    "with itself": (lambda x, y: x - x, X, X),
    "two results": (lambda x, y: (x - y, x), X, X),
    "the other result": (lambda x, y: (x - y, y), X, X),
    "loop": (repeated(jnp.sin), X),
    "another body": (repeated(jnp.cos), X),
    "another length": (repeated(jnp.sin, 4), X),
    "branch": (lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x), X),
    "branches turned round": (lambda x: jax.lax.cond(x[0, 0] > 0, jnp.cos, jnp.sin, x), X),
    "rule": (lambda x: jax.nn.relu(x), X),
    "another rule": (lambda x: jax.nn.silu(x), X),
    "table": (looked_up(TABLE), X),
    "table changed where none is printed": (looked_up(CHANGED), X),
    "drawn": (random(0), X),
    "drawn by another generator": (random(1), X),
}


def test_programs_that_differ_have_names_that_differ():
    names = {what: named(*program) for what, program in PROGRAMS.items()}
    assert None not in names.values()
    for a, b in itertools.combinations(names, 2):
        assert names[a] != names[b], (a, b)


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_program_that_is_traced_again_has_the_same_name(what):
    fn, *args = PROGRAMS[what]
    first = named(fn, *args)
    jax.clear_caches()
    assert named(lambda *args: fn(*args), *args) == first


def test_another_process_gives_the_same_name():
    code = f"import sys; sys.path[:0] = {sys.path!r}; from tests.cpu_compiler.test_fingerprints import *; "
    code += "print([named(*PROGRAMS[w]) for w in PROGRAMS])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.strip() == str([named(*program) for program in PROGRAMS.values()])


@jax.custom_vjp
def scaled(x):
    return x * 2


scaled.defvjp(lambda x: (x * 2, None), lambda _, g: (g * 2,))


def test_rules_of_differentiation_have_no_part():
    assert named(scaled, X) is not None
    assert named(jax.grad(lambda x: scaled(x).sum()), X) != named(scaled, X)


def test_what_calls_python_has_no_name():
    def f(x):
        return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)

    assert named(f, X) is None
    assert named(repeated(f), X) is None


def test_another_source_of_the_generator_has_another_name(monkeypatch):
    def draw(x):
        return x + jax.random.uniform(threefry.random_key(0))

    first = named(draw, X)
    monkeypatch.setattr(fingerprints, "_source_digest", lambda: "another")
    assert first is not None and named(draw, X) not in (None, first)
