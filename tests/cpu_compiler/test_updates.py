"""Kernels of updates: each step gives what XLA gives, in place or not, in pieces or not, and whoever else reads."""

from __future__ import annotations

import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import kernels, prepare, updates
from paddle_lite_py.cpu_compiler.machine_code import KERNEL, MOST_BUFFERS
from paddle_lite_py.host.tier import program_jit

pytestmark = pytest.mark.skipif(not updates.serves(), reason="llvmlite is not for this machine")

NUMBERS = [0.0, -0.0, 1.0, -1.0, 2.5, -3e38, 3e38, 1e-40, np.inf, -np.inf, np.nan]

# Steps of a, b (arrays), m (an array of bools), n (a number) and p (a bool).
STEPS = {
    "add": lambda a, b, m, n, p: a + b,
    "sub": lambda a, b, m, n, p: a - n,
    "mul": lambda a, b, m, n, p: a * b,
    "div": lambda a, b, m, n, p: a / b,
    "neg": lambda a, b, m, n, p: -a,
    "abs": lambda a, b, m, n, p: jnp.abs(a),
    "sign": lambda a, b, m, n, p: jnp.sign(a),
    "square": lambda a, b, m, n, p: jax.lax.square(a),
    "power of 2": lambda a, b, m, n, p: a**2,
    "sqrt": lambda a, b, m, n, p: jnp.sqrt(a),
    "rsqrt": lambda a, b, m, n, p: jax.lax.rsqrt(a),
    "maximum": lambda a, b, m, n, p: jnp.maximum(a, b),
    "minimum": lambda a, b, m, n, p: jnp.minimum(a, n),
    "constant": lambda a, b, m, n, p: a * 0.1 + np.float32(1e-8),
    "filled": lambda a, b, m, n, p: a + jnp.full_like(a, n),
    "by a mask": lambda a, b, m, n, p: jnp.where(m, a, b),
    "by a bool": lambda a, b, m, n, p: jnp.where(p, a, b),
    "compared": lambda a, b, m, n, p: jnp.where((a > b) | (b <= n) & (a != n), a, n),
    "ordered": lambda a, b, m, n, p: jnp.where((a >= b) & (a < n) | (a == b), b, a),
}


def jaxpr_of(fn, *args, donated=()):
    return jax.make_jaxpr(prepare(fn, donated))(*args)


def calls(fn, *args, donated=()):
    """How many kernels there are, and how many steps beside them."""
    names = [e.primitive.name for e in jaxpr_of(fn, *args, donated=donated).jaxpr.eqns]
    return names.count("ffi_call"), len(names) - names.count("ffi_call")


def run(fn, *args, donated=()):
    return jax.jit(prepare(fn, donated), donate_argnums=donated)(*[jnp.array(a) for a in args])


def same(found, expected, atol=1e-7):
    """But for the last bits: which products and sums are one instruction is LLVM's choice."""
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=3e-7, atol=atol)


def adam(p, m, v, g, rate):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    return p - rate * (m / (jnp.sqrt(v) + 1e-8)), m, v


def arrays(n, count, shape=None):
    rng = np.random.default_rng(0)
    return [rng.random(n, dtype=np.float32).reshape(shape or n) for _ in range(count)]


@pytest.mark.parametrize("name", STEPS)
def test_each_step_is_xlas(name):
    first = np.array(NUMBERS, "float32").repeat(len(NUMBERS))
    second = np.tile(np.array(NUMBERS, "float32"), len(NUMBERS))
    mask = np.arange(first.size) % 3 == 0

    def fn(*args):
        return STEPS[name](*args), args[0] + args[1]

    for number, yes in ((np.float32(0.5), np.True_), (np.float32(-2), np.False_)):
        args = first, second, mask, number, yes
        assert calls(fn, *args)[0] == 1
        with np.errstate(all="ignore"):
            found, expected = run(fn, *args), jax.jit(fn)(*args)
        same(found, expected, atol=0)
        assert [np.signbit(np.asarray(a)).tolist() for a in found if not np.isnan(a).any()] == [
            np.signbit(np.asarray(a)).tolist() for a in expected if not np.isnan(a).any()
        ]


@pytest.mark.parametrize("n", [2, 15, 16, 33, kernels.PIECE, 2 * kernels.PIECE + 1, 9 * kernels.PIECE - 1])
@pytest.mark.parametrize("donated", [(), (0, 1, 2), (1,)])
def test_updates_of_any_size_in_place_or_not(n, donated):
    args = (*arrays(n, 4), np.float32(1e-2))
    assert calls(adam, *args, donated=donated) == (1, 0)
    same(run(adam, *args, donated=donated), jax.jit(adam)(*args))


def test_the_memory_is_that_of_what_is_replaced():
    args = [jnp.array(a) for a in (*arrays(1000, 4), np.float32(1e-2))]
    before = [a.unsafe_buffer_pointer() for a in args[:3]]
    found = jax.jit(prepare(adam, (0, 1, 2)), donate_argnums=(0, 1, 2))(*args)
    assert [a.unsafe_buffer_pointer() for a in found] == before


def test_threads_share_a_large_array(monkeypatch):
    """Several threads run kernels at once, each in many pieces."""
    monkeypatch.setattr(kernels, "cpus", lambda: range(8))
    n = 40 * kernels.PIECE + 7
    args = (*arrays(n, 4), np.float32(1e-2))

    def several(p, m, v, g, rate):
        return [adam(p * k, m, v, g + k, rate) for k in range(1, 4)]

    f, expected = jax.jit(prepare(several)), jax.jit(several)(*args)
    for _ in range(20):
        same(f(*args), expected)


def test_what_reads_a_parameter_later_sees_it_as_it_was():
    """The gradient of what comes before a layer is made of its weight, and nothing of the weight's own gradient."""

    def step(first, second, x):
        def loss(first, second):
            return (jnp.tanh(x @ first) @ second).sum()

        grads = jax.grad(loss, (0, 1))(first, second)
        return [w - 0.1 * g for w, g in zip((first, second), grads, strict=True)]

    args = arrays(64, 3, (8, 8))
    assert calls(step, *args, donated=(0, 1))[0] == 2
    text = jax.jit(prepare(step, (0, 1)), donate_argnums=(0, 1)).lower(*args).compile().as_text()
    assert text.count(f'"{KERNEL}"') == 2 and " copy(" not in text[text.index("ENTRY") :]
    same(run(step, *args, donated=(0, 1)), jax.jit(step)(*args), atol=1e-6)


X = np.linspace(0.1, 1, 12, dtype="float32").reshape(3, 4)
OTHERS = {
    "one result of arguments that stay": (lambda a, b: a + b, ()),
    "results of nothing that was given": (lambda a, b: ((s := jnp.cumsum(a)) + 1, s * 2), ()),
    "other dtypes": (lambda a, b: [(c := a.astype("float64")) + 1, c * 2], ()),
    "single numbers": (lambda a, b: [(n := a[0, 0]) + b[0, 0], n - 1], ()),
    "what is read again": (lambda a, b: jnp.cumsum(a * b) + 0, ()),
    "broadcasts": (lambda a, b: a + b[0], ()),
    "functions of a library": (lambda a, b: jnp.exp(a), (0,)),
    "a third power": (lambda a, b: a**3, (0,)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_the_rest_is_xlas(name):
    fn, donated = OTHERS[name]
    assert calls(fn, X, X, donated=donated)[0] == 0
    same(run(fn, X, X, donated=donated), jax.jit(fn)(X, X))


def test_results_that_depend_on_each_other_are_not_joined():
    """What makes one of another by more than its elements keeps them apart."""

    def fn(a, b):
        first = a * 2 + b
        return first, (first @ first.T) @ a + b

    same(run(fn, X, X, donated=(0, 1)), jax.jit(fn)(X, X))


@pytest.mark.parametrize("shape", [(0,), (3, 0)])
@pytest.mark.parametrize("donated", [(), (0, 1, 2)])
def test_arrays_without_elements_stay_xlas(shape, donated):
    args = (*[np.zeros(shape, "float32")] * 4, np.float32(1))
    assert calls(adam, *args, donated=donated)[0] == 0
    assert [a.shape for a in run(adam, *args, donated=donated)] == [shape] * 3


def test_sizes_that_are_not_known_stay_xlas():
    (n,) = jax.export.symbolic_shape("n")
    spec = jax.ShapeDtypeStruct((n, 4), "float32")
    assert calls(adam, *[spec] * 4, jax.ShapeDtypeStruct((), "float32"))[0] == 0


def test_many_arrays_stay_xlas():
    def fn(x, *arrays):
        return [a + x for a in arrays]

    args = [X] * (MOST_BUFFERS // 2 + 1)
    assert calls(fn, *args)[0] == 0
    same(run(fn, *args), jax.jit(fn)(*args))


def test_results_given_twice_and_arguments_given_back():
    def fn(a, b):
        c = a + b
        return c, c, b, c * b

    same(run(fn, X, X + 1, donated=(0, 1)), jax.jit(fn)(X, X + 1))


def test_it_is_switched_off_or_there_is_no_compiler(monkeypatch):
    monkeypatch.setenv("FLAGS_update_kernels", "0")
    assert not updates.serves.__wrapped__()
    monkeypatch.delenv("FLAGS_update_kernels")
    monkeypatch.setattr(updates, "compiler", lambda: None)
    assert not updates.serves.__wrapped__()
    monkeypatch.setattr(updates, "serves", lambda: False)
    assert calls(adam, *arrays(8, 4), np.float32(1), donated=(0,))[0] == 0


def test_a_call_without_a_plan_says_so():
    call = jax.ffi.ffi_call(KERNEL, jax.ShapeDtypeStruct((4,), "float32"))
    with pytest.raises(jax.errors.JaxRuntimeError, match="a kernel that this process has no plan of"):
        jax.block_until_ready(jax.jit(lambda x: call(x, key=np.int64(12)))(np.ones(4, "float32")))


def test_a_large_program_is_compiled_apart(all_are_large, tmp_path):
    args = (*arrays(100, 4), np.array(1e-2, "float32"))
    same(program_jit(prepare(adam), 1)(*args), jax.jit(adam)(*args))
    assert len(list(tmp_path.glob("*.executable"))) == 1


def net_and_optimizer(kind):
    paddle.seed(3)
    net = paddle.nn.Sequential(paddle.nn.Linear(40, 1000), paddle.nn.Tanh(), paddle.nn.Linear(1000, 3))
    return net, getattr(paddle.optimizer, kind)(learning_rate=0.01, parameters=net.parameters())


@pytest.mark.parametrize(
    "kind", ["SGD", "Momentum", "Adam", "AdamW", "Adamax", "Adagrad", "RMSProp", "Adadelta", "Lamb"]
)
@pytest.mark.parametrize("static", [False, True])
def test_optimizers_train_as_with_xlas_kernels(kind, static, monkeypatch):
    x = paddle.to_tensor(np.random.default_rng(0).random((50, 40), dtype="float32"))

    def trained():
        net, optimizer = net_and_optimizer(kind)

        def step(x):
            loss = (net(x) ** 2).mean()
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            return loss

        run = paddle.jit.to_static(step) if static else step
        return [float(run(x)) for _ in range(4)], [p.numpy() for p in net.parameters()]

    found = trained()
    monkeypatch.setattr(updates, "serves", lambda: False)
    jax.clear_caches()
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(trained()), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


FRESH = """
import json, numpy as np, paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import updates
counted = []
call = updates.ReplacedSteps.call
updates.ReplacedSteps.call = lambda *a: counted.append(1) or call(*a)
paddle.seed(1)
net = paddle.nn.Linear(300, 300)
adam = paddle.optimizer.Adam(0.01, parameters=net.parameters())
@paddle.jit.to_static
def step(x):
    loss = (net(x) ** 2).mean()
    loss.backward()
    adam.step()
    adam.clear_grad()
    return loss
losses = [float(step(paddle.ones([4, 300]))) for _ in range(3)]
print(json.dumps([losses, len(counted)]))
"""


def test_a_new_process_runs_what_another_has_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("PADDLE_LITE_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", FRESH]
    first, second = (json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(2))
    assert first == second and first[1] > 0


def test_saved_programs_hold_none(tmp_path):
    fn = paddle.jit.to_static(lambda x: (x + 1, x * 2), input_spec=[paddle.static.InputSpec([4], "float32")])
    paddle.jit.save(fn, str(tmp_path / "fn"))
    assert all(KERNEL.encode() not in path.read_bytes() for path in tmp_path.iterdir())
