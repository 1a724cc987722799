"""What JAX does not document and is read all the same: each fact by itself, so that a failure says what has changed."""

from __future__ import annotations

import configparser
import functools
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import house
import paddle_lite_py as paddle
from paddle_lite_py.core import symbolic
from paddle_lite_py.core.jax_compat import calls, equations, jaxprs, versions, xla
from paddle_lite_py.core.jax_compat.equations import FORMS, UnknownFormError, called_jaxpr, check_forms, settings
from paddle_lite_py.core.jax_compat.sizes import standing_for
from paddle_lite_py.core.jax_compat.versions import JAX, JaxVersionWarning
from paddle_lite_py.cpu_compiler import chained, compared, flattening, fusion, kernels, layouts, prepare, updates
from paddle_lite_py.cpu_compiler.fingerprints import fingerprint
from paddle_lite_py.cpu_compiler.rewriting import optimized
from paddle_lite_py.host import generate, rules, tier

X, I = np.ones((4, 4), np.float32), np.ones((4, 4), np.int32)  # noqa: E741
KEY = jax.random.key(0)
PUT = lax.ScatterDimensionNumbers((1,), (0,), (0,))
UNARY = (
    "abs acos acosh asin asinh atan atanh cbrt ceil cos cosh digamma erf erf_inv erfc exp exp2 expm1 floor is_finite"
)
UNARY += " lgamma log log1p log2 logistic neg one_minus_square round rsqrt sign sin sinh sqrt square tan tanh"
BINARY = "add atan2 div eq ge gt le lt max min mul ne nextafter pow rem sub".split()
NEWER = {"log2", "one_minus_square", "polynomial"}  # since JAX 0.11, the last one since 0.12
NAMELESS = {"copy_p", "closed_call"}  # no function makes them, but older files and gradients of loops


@jax.custom_vjp
def doubled(x):
    return x * 2


doubled.defvjp(lambda x: (doubled(x), None), lambda _, g: (g * 2,))


def windows(function: Any, start: float) -> Any:
    return lambda x: lax.reduce_window(x, np.float32(start), function, (2, 2), (2, 2), "VALID")


def largest(x):
    return windows(lax.max, -np.inf)(x).sum()


def put(function: Any) -> Any:
    return lambda x: function(x, np.array([[1], [2]]), x[:2], PUT)


def along(name: str, *where: Any) -> Any:
    return lambda x: getattr(lax, name)(x, *where)


# By the name of a primitive a function that has it, and its arguments.
SAMPLES: dict[str, tuple[Any, ...]] = {
    **{n: (getattr(lax, n), X) for n in UNARY.split() if hasattr(lax, n)},
    **{n: (getattr(lax, n), X, X) for n in BINARY},
    **{n: (getattr(lax, f"bitwise_{n}"), I, I) for n in ("and", "or", "xor")},
    **{f"shift_{n}": (getattr(lax, f"shift_{n}"), I, I) for n in ("left", "right_arithmetic", "right_logical")},
    "dim_as_value": (lambda: jnp.asarray(export.symbolic_shape("n")[0]),),
    **{"not": (lax.bitwise_not, I), "population_count": (lax.population_count, I)},
    **{n: (getattr(lax, n), X.astype(np.complex64)) for n in ("real", "imag", "conj")},
    "complex": (lax.complex, X, X),
    "fft": (lambda x: lax.fft(x, lax.FftType.RFFT, (4,)), X),
    **{f"reduce_{n}": (along(f"reduce_{n}", (0,)), X) for n in ("sum", "max", "min", "prod")},
    **{f"reduce_{n}": (along(f"reduce_{n}", (0,)), I) for n in ("and", "or", "xor")},
    **{f"cum{n}": (getattr(lax, f"cum{n}"), X) for n in ("sum", "prod", "max", "min", "logsumexp")},
    **{n: (along(n, 0, np.int64), X) for n in ("argmax", "argmin")},
    **({"polynomial": (lambda x: lax.polynomial(x, [1.0, 2.0]), X)} if hasattr(lax, "polynomial") else {}),
    "reduce_window_max": (windows(lax.max, -np.inf), X),
    "reduce_window_min": (windows(lax.min, np.inf), X),
    "reduce_window_sum": (windows(lax.add, 0.0), X),
    "select_and_scatter_add": (lambda x: jax.vjp(jax.jit(largest), x)[1](np.float32(1)), X),
    "scatter": (put(lax.scatter), X),
    **{f"scatter-{n}": (put(getattr(lax, f"scatter_{n}")), X) for n in ("add", "mul", "min", "max")},
    "gather": (lambda x: x[np.array([1, 2])], X),
    "bitcast_convert_type": (lambda x: lax.bitcast_convert_type(x, np.int32), X),
    "broadcast_in_dim": (lambda x: lax.broadcast_in_dim(x, (2, 4, 4), (1, 2)), X),
    "clamp": (lax.clamp, X, X, X),
    "concatenate": (lambda x: lax.concatenate([x, x], 0), X),
    "convert_element_type": (lambda x: x.astype(np.float64), X),
    "copy": (jnp.copy, X),
    "dot_general": (jnp.matmul, X, X),
    "dynamic_slice": (lambda x, i: lax.dynamic_slice(x, (i, 0), (1, 1)), X, 0),
    "dynamic_update_slice": (lambda x, i: lax.dynamic_update_slice(x, x[:1], (i, 0)), X, 0),
    "integer_pow": (lambda x: lax.integer_pow(x, 3), X),
    "iota": (lambda: lax.iota(np.int32, 4),),
    "pad": (lambda x: lax.pad(x, np.float32(0), [(1, 1, 0)] * 2), X),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 10), X),
    "reshape": (lambda x: lax.reshape(x, (2, 8)), X),
    "rev": (lambda x: lax.rev(x, (0,)), X),
    "select_n": (lambda x: lax.select_n(x > 0, x, x), X),
    "slice": (lambda x: lax.slice(x, (0, 0), (1, 1)), X),
    "sort": (lax.sort, X),
    "split": (lambda x: lax.split(x, (1, 3)), X),
    "squeeze": (lambda x: lax.squeeze(x[:1], (0,)), X),
    "transpose": (lambda x: lax.transpose(x, (1, 0)), X),
    "stack": (lambda x: jnp.stack([x, x]), X),
    "tile": (lambda x: jnp.tile(x, (2, 2)), X),
    "unstack": (jnp.unstack, X),
    "top_k": (lambda x: lax.top_k(x, 2), X),
    "optimization_barrier": (lax.optimization_barrier, X),
    **({} if xla.shard_alike is None else {"shard_alike": (lambda x: xla.sharded_alike(x * 2, x), X)}),
    "add_any": (jax.grad(lambda x: (jnp.sin(x) * x).sum()), X),
    "random_seed": (jax.random.key, 0),
    "random_fold_in": (lambda k: jax.random.fold_in(k, 1), KEY),
    "random_split": (jax.random.split, KEY),
    "random_bits": (lambda k: jax.random.bits(k, (2,)), KEY),
    "random_wrap": (jax.random.wrap_key_data, np.zeros(2, np.uint32)),
    "random_unwrap": (jax.random.key_data, KEY),
    "conv_general_dilated": (lambda x: lax.conv(x[None, None], x[None, None], (1, 1), "VALID"), X),
    "ffi_call": (lambda x: jax.ffi.ffi_call("f", x)(x), X),
    "stop_gradient": (lax.stop_gradient, X),
    "jit": (jax.jit(lambda x: x + 1), X),
    "custom_jvp_call": (jax.nn.relu, X),
    "custom_vjp_call": (doubled, X),
    "scan": (lambda x: lax.scan(lambda c, y: (c + y, c), x[0], x), X),
    "while": (lambda x: lax.while_loop(lambda c: c[0, 0] > 2, lambda c: c + 1, x), X),
    "cond": (lambda x: lax.cond(x[0, 0] > 0, lambda x: x, lambda x: -x, x), X),
}
# Parameters that only some of the versions have, or some equations.
VARYING = {
    "cond": {"branches_platforms"},
    "scan": {"num_consts", "num_carry", "ft_in", "ft_out"},
    **dict.fromkeys(("reduce_max", "reduce_min"), {"out_sharding"}),
    "top_k": {"is_stable"},
    "erfc": {"accuracy"},
    "polynomial": {"unroll"},
}


def all_equations(jaxpr: Any) -> list[Any]:
    found = []
    for eqn in jaxpr.eqns:
        found.append(eqn)
        for value in eqn.params.values():
            for inner in value if isinstance(value, tuple) else (value,):
                found += all_equations(jaxprs.body_of(inner)) if jaxprs.is_jaxpr(inner) else []
    return found


def equation(name: str) -> Any:
    function, *args = SAMPLES[name]
    found = {e.primitive.name: e for e in all_equations(jax.make_jaxpr(function)(*args).jaxpr)}
    assert name in found, f"JAX {JAX}: no {name} any more, but {sorted(found)}"
    return found[name]


# -- facts -------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", SAMPLES)
def test_a_primitive_says_what_is_known_of_it(name):
    said = set(equation(name).params)
    assert not said - FORMS[name], f"JAX {JAX}: {name} says {said - FORMS[name]} too"
    missing = FORMS[name] - said - VARYING.get(name, set())
    assert not missing, f"JAX {JAX}: {name} says {missing} no more"


def test_each_primitive_of_the_table_has_a_sample():
    older = {"shard_alike"} if xla.shard_alike is None else set()
    assert FORMS.keys() - NAMELESS - older - {n for n in NEWER if not hasattr(lax, n)} == SAMPLES.keys()


def test_passes_and_rules_name_primitives_of_the_table():
    named = {
        *fusion.ELEMENTWISE,
        *fusion._MOVES,
        *layouts._RULES,
        *compared._EXTREMA,
        *compared._SPREADS,
        *chained._TAKEN,
    }
    named |= {*kernels._ARITHMETIC, *kernels._COMPARED, *kernels._LOGIC, *flattening.VIEWS, *updates._IN_MEMORY}
    named |= {*rules.RULES, *rules.COSTS, *tier._POINTWISE, *generate._SEVERAL}
    # Older spellings, an operator that JAX writes as a broadcast, and what the host tier has made itself.
    others = {
        "scatter_add",
        "scatter_mul",
        "scatter_min",
        "scatter_max",
        "expand_dims",
        "random_words",
        "wrapped_index",
    }
    assert named - others <= FORMS.keys()


def test_the_version_is_one_that_is_tested():
    assert versions.is_tested()
    config = configparser.ConfigParser()
    config.read(house.ROOT / "setup.cfg")
    assert f"jax>={versions.TESTED[0]},<{versions.TESTED[1]}" in config["options"]["install_requires"].split()


def test_a_scan_says_how_many_are_constant_and_carried():
    def scanned(x):
        return lax.scan(lambda c, y: ((c[0] + y[0] * x[0, 0], c[1] + 1), c[1] * x[1, 1]), (x[0], 2.0), (x, x))

    (scan,) = [e for e in jax.make_jaxpr(scanned)(X).jaxpr.eqns if e.primitive.name == "scan"]
    told = settings(scan)
    n = len(jaxprs.body_of(told["jaxpr"]).invars)
    assert (told["num_consts"], told["num_carry"], n - told["num_consts"]) == (n - 4, 2, 4)
    assert told["length"] == 4 and told["reverse"] is False


@pytest.mark.parametrize("name", ["jit", "custom_jvp_call", "custom_vjp_call"])
def test_a_call_says_what_it_calls(name):
    body, constants = called_jaxpr(equation(name))
    assert len(body.eqns) >= 1 and len(body.invars) == 1 and not constants
    assert called_jaxpr(equation("sin")) is None


def test_constants_are_kept_apart_from_equations():
    table = np.arange(500.0)
    made = jax.make_jaxpr(lambda x: x + table)(1.0)
    assert len(jaxprs.constants_of(made)) == len(jaxprs.body_of(made).constvars) == 1
    other = jaxprs.with_body(made, jaxprs.body_of(made).replace(eqns=list(made.eqns)))
    np.testing.assert_array_equal(jaxprs.as_function(other)(1.0)[0], table + 1)
    np.testing.assert_array_equal(jaxprs.as_function(jaxprs.closed(made.jaxpr, [-table]))(1.0)[0], 1 - table)


def test_equations_are_taken_over_as_they_are():
    made = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(X)
    taken = jax.make_jaxpr(lambda x: calls.inlined(made.jaxpr, made.consts, [x]))(X)
    assert [e.primitive.name for e in taken.jaxpr.eqns] == ["sin", "add"]


def test_a_sharding_that_is_none_in_particular_is_known():
    said = equation("jit").params
    assert all(map(jaxprs.is_unspecified, (*said["in_shardings"], *said["out_shardings"])))
    assert jaxprs.is_empty_mesh(said["ctx_mesh"]) and not jaxprs.is_unspecified(None)


def test_options_of_the_compiler_are_known():
    assert xla.known_options(xla.options(("INDIVIDUAL_DOT", "REDUCE"), False))
    plain = "xla_cpu_use_fusion_emitters" in xla.known_options(xla.options(("REDUCE",), True))
    assert plain == (versions.numbers(JAX) < (0, 11))
    assert xla.known_options({"xla_no_such_option": 1}) == {}


def test_modules_of_programs_that_are_loaded_can_be_read():
    jitted = jax.jit(lambda x: x * 3 + 4).lower(X).compile()
    assert any("multiply" in module.to_string() for module in xla.live_modules()) and jitted is not None


# -- forms that are not known ------------------------------------------------------------------------------------------
@pytest.fixture
def not_yet_told(monkeypatch):
    monkeypatch.setattr(versions._Told, "once", False)


def convolved(x):
    return jnp.transpose(lax.conv(x[None, None], x[None, None], (1, 1), "SAME"), (0, 1, 3, 2))


def with_params(name: str, change: Any) -> Any:
    """A jaxpr in which one primitive says something else."""
    body = jax.make_jaxpr(convolved)(X).jaxpr
    return body.replace(eqns=[e.replace(params=change(e.params)) if e.primitive.name == name else e for e in body.eqns])


def test_a_parameter_that_says_something_is_noticed_and_one_that_says_nothing_is_not():
    check_forms(with_params("transpose", lambda p: {**p, "new": None}))
    with pytest.raises(UnknownFormError, match="transpose with new"):
        check_forms(with_params("transpose", lambda p: {**p, "new": False}))


def test_bodies_of_loops_and_branches_are_looked_at():
    inner = with_params("transpose", lambda p: {**p, "new": 1})
    outer = jax.make_jaxpr(jax.jit(lambda x: x + 1))(X).jaxpr
    (call,) = outer.eqns
    called_with = jaxprs.with_body(call.params["jaxpr"], inner)
    with pytest.raises(UnknownFormError, match="transpose with new"):
        check_forms(outer.replace(eqns=[call.replace(params={**call.params, "jaxpr": called_with})]))
    with pytest.raises(UnknownFormError, match="transpose with new"):
        check_forms(
            outer.replace(eqns=[call.replace(params={**call.params, "out_layouts": (called_with,), "jaxpr": None})])
        )


@pytest.mark.parametrize("change", [lambda p: {**p, "new": 1}, lambda p: {}], ids=["one more", "one less"])
def test_a_program_of_an_unknown_form_is_left_as_it_is(change, not_yet_told):
    body = with_params("transpose", change)
    with pytest.warns(JaxVersionWarning, match=f"an equation of a program of JAX {JAX}"):
        assert optimized(body) is body
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert optimized(body) is body  # and is said once


def test_what_could_not_be_read_is_an_error_in_tests(not_yet_told):
    for _ in range(2):
        with pytest.raises(JaxVersionWarning):
            optimized(with_params("transpose", lambda p: {}))


def test_what_the_passes_make_is_checked_with_versions_that_are_not_tested(monkeypatch, not_yet_told):
    checked = []
    monkeypatch.setattr(versions, "is_tested", lambda: False)
    monkeypatch.setattr("paddle_lite_py.cpu_compiler.rewriting.is_tested", lambda: False)
    monkeypatch.setattr(jaxprs, "check", checked.append)
    prepare(convolved)(X)
    assert len(checked) == 1


def test_programs_that_the_passes_make_are_well_formed():
    def net(x, w):
        y = jax.nn.relu(lax.conv(x, w, (1, 1), "SAME")).transpose(0, 2, 3, 1)
        return jax.nn.softmax(y.reshape(8, -1) @ jnp.ones((16, 3))) + y.max()

    def step(x, w):
        return w - 0.1 * jax.grad(lambda w: net(x, w).sum())(w)

    args = np.ones((2, 4, 4, 4), np.float32), np.ones((4, 4, 3, 3), np.float32)
    jaxprs.check(optimized(jax.make_jaxpr(step)(*args).jaxpr))


def unknown(monkeypatch, *names: str) -> None:
    """Have these primitives say more than is known of them."""
    for name in names:
        monkeypatch.setitem(equations.FORMS, name, frozenset({"something else"}))


def test_a_static_function_of_an_unknown_form_gives_the_same(monkeypatch, not_yet_told):
    net = paddle.nn.Sequential(
        paddle.nn.Conv2D(3, 4, 3), paddle.nn.ReLU(), paddle.nn.Flatten(), paddle.nn.Linear(144, 2)
    )
    x = paddle.rand([2, 3, 8, 8])
    expected = net(x).numpy()
    unknown(monkeypatch, "transpose", "dot_general", "conv_general_dilated", "scan")
    with pytest.warns(JaxVersionWarning) as told:
        found = [paddle.jit.to_static(lambda x, k=k: net(x) * k)(x).numpy() for k in (1, 2)]
    assert len(told) == 1
    np.testing.assert_allclose(found[0], expected, 1e-5, 1e-6)
    np.testing.assert_allclose(found[1], 2 * expected, 1e-5, 1e-6)


def test_a_small_array_of_an_unknown_form_is_left_to_xla(monkeypatch, not_yet_told):
    run = tier.tiered(lambda x: lax.cumsum(x, 0) + jnp.sin(x), 1)
    unknown(monkeypatch, "cumsum")
    with pytest.warns(JaxVersionWarning, match="a step of the host tier"):
        found = run(X)
    np.testing.assert_allclose(np.asarray(found), np.cumsum(X, 0) + np.sin(X), 1e-6)


def test_a_training_step_runs_where_no_form_is_known(monkeypatch, not_yet_told):
    def trained() -> list[float]:
        paddle.seed(0)
        net = paddle.nn.LSTM(3, 4)
        optimizer = paddle.optimizer.Adam(0.1, parameters=net.parameters())
        x, losses = paddle.rand([2, 5, 3]), []
        for _ in range(3):
            loss = (net(x)[0] ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            losses.append(float(loss))
        return losses

    expected = trained()
    for wanted in (False, True):  # so that nothing is kept for arrays of the host
        paddle.set_flags({"FLAGS_host_tier": wanted})
    unknown(monkeypatch, *(name for name, known in FORMS.items() if known))
    with pytest.warns(JaxVersionWarning):
        np.testing.assert_allclose(trained(), expected, 1e-4)


def test_a_call_of_an_unknown_form_is_made_one_by_one(monkeypatch, not_yet_told):
    made = jax.make_jaxpr(lambda x: jnp.sin(x) + 1)(X)
    monkeypatch.setattr(calls, "_with_one", functools.cache(dict))
    with pytest.warns(JaxVersionWarning, match="a call of a compiled function"):
        (found,) = jax.jit(lambda x: calls.inlined(made.jaxpr, made.consts, [x]))(X)
    np.testing.assert_allclose(found, np.sin(X) + 1, 1e-6)


def test_a_program_of_an_unknown_form_has_no_name(not_yet_told):
    made = jax.make_jaxpr(SAMPLES["scan"][0])(X)
    assert fingerprint(made) is not None
    eqns = [e.replace(params={**e.params, "ft_in": 1}) if e.primitive.name == "scan" else e for e in made.jaxpr.eqns]
    made = jaxprs.closed(made.jaxpr.replace(eqns=eqns), made.consts)
    with pytest.warns(JaxVersionWarning, match="the name of a program"):
        assert fingerprint(made) is None


def test_what_lies_alike_has_the_same_values():
    made = jax.jit(lambda x: xla.sharded_alike(jnp.zeros(x.shape), x) + 1)
    np.testing.assert_array_equal(made(X), np.ones_like(X))
    _, *steps = jax.make_jaxpr(lambda x: xla.sharded_alike(x * 2, x))(X).eqns
    assert xla.shard_alike is None or [s.primitive.name in rules.AS_THEY_ARE for s in steps] == [True]
    grad = jax.grad(lambda x: xla.sharded_alike(x * 2, x).sum())(X)
    np.testing.assert_array_equal(grad, np.full_like(X, 2))


def test_symbols_of_earlier_traces_are_no_sizes_of_this_one():
    """JAX's caches compare what they were traced for before with what they are asked for now."""
    earlier, now = symbolic.Symbols(), symbolic.Symbols()
    for name in ("n", "unseen"):
        earlier.new(name)
    now.new("n")
    with standing_for({"n": 7}, now.scope) as conditions:
        assert now.symbols["n"] == 7
        assert not any(old in (7, now.symbols["n"]) for old in earlier.symbols.values())
        with pytest.raises(Exception, match=r"[Ii]nconclusive"):
            earlier.symbols["n"] >= 7  # noqa: B015
    assert list(conditions.texts) == ["n - 7 == 0"]
