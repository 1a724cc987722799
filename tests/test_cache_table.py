"""Each path that keeps something x each thing that may change: call, change it, call again, change it back, call again.

One function, of which all results depend on something else, is computed by each path; NumPy says what is right.
"""

import threading
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn, static

SMALL, LARGE = (3, 4), (200, 200)  # the second one is XLA's


# All that the results depend on; of no class of its own, whose methods would name the attributes, so that guards would
# look at those too that the code below does not name.
BEGINNING = {
    "given": None,
    "default": "float32",
    "zero": 0.0,
    "number": 1.0,
    "axis": 0,
    "shift": 1,
    "casting": False,
    "grad": True,
    "flags": {},
    "thread": False,
    "factor": 2.0,  # of the custom op
}
w = SimpleNamespace(**BEGINNING)


def computed(x):
    """The results for a tensor, in the world as it is."""
    count = (x > 0).astype("int64").sum()
    return {
        "default dtype": paddle.where(x > 0, 0.1, 0.2),
        "zero": (x > -99).astype(x.dtype) / w.zero,
        "kind of a number": count * w.number,
        "axis": x.sum(axis=w.axis),
        "shift": nn.functional.normalize(x.roll(w.shift, axis=w.axis), axis=w.axis),
        "product": paddle.matmul(x, x, transpose_y=True),
        "view": x[:, w.shift].reshape([-1]) * 1,
        "loss": (x * x * w.factor).sum(),
    }


def right(world):
    """The same by NumPy."""
    x, axis = world.given, world.axis
    count = (x > 0).sum()
    rolled = np.roll(x, world.shift, axis)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = {
            "default dtype": np.where(x > 0, 0.1, 0.2).astype(world.default),
            "zero": np.ones_like(x) / np.asarray(world.zero, x.dtype),
            "kind of a number": np.asarray(count * world.number, "float32" if type(world.number) is float else "int64"),
            "axis": x.sum(axis=axis, dtype=x.dtype),
            "shift": rolled / np.maximum(np.sqrt((rolled * rolled).sum(axis, keepdims=True)), 1e-12),
            "product": (x @ x.T).astype(jnp.bfloat16 if world.casting else x.dtype),
            "view": x[:, world.shift],
            "loss": (x * x * world.factor).sum(dtype=x.dtype),
        }
    if world.grad:
        found["gradient"] = 2 * x * world.factor
    return found


def agree(found, wanted, where):
    for name in wanted.keys() & found.keys():
        a, b = np.asarray(found[name]), wanted[name]
        assert (a.dtype, a.shape) == (b.dtype, b.shape), (where, name)
        wide = 3e-2 if b.dtype == jnp.bfloat16 else 3e-4
        a, b = a.astype("float64"), b.astype("float64")
        np.testing.assert_allclose(a, b, rtol=wide, atol=wide * 10, err_msg=f"{where}: {name}")
        if not np.isfinite(b).all():
            np.testing.assert_array_equal(np.signbit(a), np.signbit(b), err_msg=f"{where}: {name}")


# -- what changes ------------------------------------------------------------------------------------------------------
def in_place(array):
    array += 1.5
    return array


CHANGES = {
    "nothing": lambda: {},
    "content": lambda: {"given": w.given * 2},
    "content in place": lambda: {"given": in_place(w.given)},
    "signs": lambda: {"given": -w.given},
    "dtype": lambda: {"given": w.given.astype("float64")},
    "shape": lambda: {"given": w.given[: len(w.given) - 1]},
    "default dtype": lambda: {"default": "float64"},
    "sign of zero": lambda: {"zero": -0.0},
    "kind of a number": lambda: {"number": 1},
    "attribute": lambda: {"axis": 1},
    "number": lambda: {"shift": 2},
    "casting": lambda: {"casting": True},
    "gradients": lambda: {"grad": False},
    "redefinition": lambda: {"factor": 3.0},
    "deferral": lambda: {"flags": {"FLAGS_defer_ops": False}},
    "tiers": lambda: {"flags": {"FLAGS_host_tier": False}},
    "thread": lambda: {"thread": True},
}
INPUTS = ("content", "content in place", "signs", "shape", "default dtype", "deferral", "tiers", "thread", "gradients")


@contextmanager
def surroundings():
    paddle.set_default_dtype(w.default)
    paddle.set_flags(w.flags)
    casting = paddle.amp.auto_cast(dtype="bfloat16") if w.casting else nullcontext()
    try:
        with casting, nullcontext() if w.grad else paddle.no_grad():
            yield
    finally:
        paddle.set_flags(dict.fromkeys(w.flags, True))
        paddle.set_default_dtype("float32")


def called(path):
    """A call in the world as it is."""
    found = []

    def call():
        with surroundings():
            found.append({k: np.asarray(v) for k, v in path().items() if v is not None})

    if w.thread:
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()
    else:
        call()
    return found[0]


# -- paths -------------------------------------------------------------------------------------------------------------
def argument():
    return paddle.to_tensor(w.given, stop_gradient=False)


def with_gradient(f, backward):
    def path():
        x = argument()
        out = f(x)
        if w.grad:
            out["gradient"] = backward(out["loss"], x)
        assert out["loss"].stop_gradient is not w.grad
        return out

    return path


def by_backward(loss, x):
    loss.backward()
    return x.grad


def by_grad(loss, x):
    (first,) = paddle.grad(loss, [x], create_graph=True)
    (second,) = paddle.grad(first.sum(), [x])
    np.testing.assert_allclose(second.numpy(), 2 * w.factor)
    return first


def eager(_):
    return with_gradient(computed, by_backward)


def twice(_):
    return with_gradient(computed, by_grad)


def to_static(_):
    return with_gradient(paddle.jit.to_static(computed, full_graph=True), by_backward)


def unknown_sizes(_):
    spec = [static.InputSpec([None, None], "float32")]
    return with_gradient(paddle.jit.to_static(computed, full_graph=True, input_spec=spec), by_backward)


def in_parts(_):
    def f(x):
        out = computed(x)
        float(x.sum().numpy())  # what a graph cannot hold
        return out | {"loss": out["loss"] * 1}

    return with_gradient(paddle.jit.to_static(f), by_backward)


def by_layer(_):
    class Net(nn.Layer):
        def forward(self, x):
            return computed(x)

    return with_gradient(paddle.jit.to_static(Net()), by_backward)


def custom(_):
    def defined(factor):
        @paddle.utils.custom_op(name="of_the_cache_table")
        def of_the_cache_table(x, /, powers=(1,), by=1.0):
            return (x * jnp.asarray(by).astype(x.dtype) * len(powers) * factor * x).sum()

        return of_the_cache_table

    known = {}

    def f(x):
        if known.get("factor") != w.factor:
            known.update(factor=w.factor, op=defined(w.factor))
        return {"loss": known["op"](x), "zero": (x > -99).astype(x.dtype) / w.zero}

    return with_gradient(f, by_backward)


def mapped(_):
    def path():
        x = argument()
        rows = paddle.autograd.vmap(lambda row: ((row > -99).astype(row.dtype) / w.zero, (row * row * w.factor).sum()))(
            x
        )
        _, tangents = paddle.autograd.jvp(lambda x: (x * x * w.factor).sum(), x, paddle.ones_like(x))
        np.testing.assert_allclose(tangents.numpy(), 2 * w.factor * w.given.sum(), rtol=1e-3, atol=1e-2)
        return {"zero": rows[0], "loss": rows[1].sum()}

    return path


def bucketed(_):
    spec = [static.InputSpec([None, None], "float32")]
    padded = paddle.jit.to_static(lambda x: (x * x * w.factor).sum(), input_spec=spec, buckets=[5, 256])
    return with_gradient(lambda x: {"loss": padded(x)}, by_backward)


def joined_step(_):
    """A training step whose rate times the gradient shows in the weight."""
    weight = paddle.create_parameter(list(w.given.shape), "float32")
    opt = paddle.optimizer.SGD(1.0, parameters=[weight])
    return stepped(weight, opt, lambda: step(weight, opt))


def static_step(_):
    weight = paddle.create_parameter(list(w.given.shape), "float32")
    opt = paddle.optimizer.SGD(1.0, parameters=[weight])
    return stepped(weight, opt, paddle.jit.to_static(lambda: step(weight, opt), full_graph=True))


def step(weight, opt):
    out = computed(weight)
    out["loss"].backward()
    opt.step()
    opt.clear_grad()
    return out


def stepped(weight, opt, run):
    def path():
        weight.set_value(w.given)
        with paddle.enable_grad():
            out = run()
        return out | {"gradient": w.given - weight.numpy()}

    return path


def saved(folder):
    spec = [static.InputSpec([None, w.given.shape[1]], "float32", "x")]
    paddle.jit.save(paddle.jit.to_static(computed, input_spec=spec), str(folder / "net"), platforms=["cpu"])
    return folder / "net"


def loaded(folder):
    return with_gradient(paddle.jit.load(str(saved(folder))), by_backward)


def array_given(folder):
    load = paddle.jit.load(str(saved(folder)))
    return lambda: load(w.given)


def predictor(folder):
    made = paddle.inference.create_predictor(paddle.inference.Config(str(saved(folder))))
    names = list(right(w))[:-1]

    def path():
        made.get_input_handle("x").copy_from_cpu(w.given)
        made.run()
        return dict(zip(names, [made.get_output_handle(n).copy_to_cpu() for n in made.get_output_names()], strict=True))

    return path


def executor(_):
    paddle.enable_static()
    main, exe = static.Program(), static.Executor()
    with paddle.utils.unique_name.guard(), static.program_guard(main, static.Program()):
        x = static.data("x", [None, w.given.shape[1]], "float32")
        x.stop_gradient = False
        out = computed(x)
        out["gradient"] = static.gradients([out["loss"]], [x])[0]
    paddle.disable_static()

    def path():
        return dict(zip(out, exe.run(main, {"x": w.given}, list(out.values())), strict=True))

    return path


ALL = tuple(CHANGES)
FIXED = "content", "content in place", "signs", "shape", "default dtype", "deferral", "tiers", "thread", "gradients"
STEP = tuple(c for c in ALL if c not in ("dtype", "shape", "gradients", "casting"))
FEW = "default dtype", "sign of zero", "attribute", "casting", "gradients", "thread"  # each costs a trace
# Path, size, what changes.
TABLE = [
    (eager, SMALL, ALL),
    (eager, LARGE, ALL),
    (twice, SMALL, ALL),
    (twice, LARGE, ALL),
    (joined_step, SMALL, STEP),
    (joined_step, LARGE, STEP),
    (custom, SMALL, ALL),
    (mapped, SMALL, ALL),
    (to_static, SMALL, ALL),
    (by_layer, LARGE, FEW),
    (unknown_sizes, SMALL, (*FEW, "shape")),
    (in_parts, SMALL, ("number", "default dtype", "casting", "redefinition")),
    (bucketed, SMALL, ("shape", "redefinition", "signs", "gradients")),
    (static_step, SMALL, ("sign of zero", "default dtype", "redefinition", "content in place", "thread")),
    (loaded, SMALL, FIXED),
    (array_given, LARGE, FIXED),
    (predictor, LARGE, FIXED),
    (executor, SMALL, FIXED),
    (executor, LARGE, FIXED),
]
DECLARED = loaded, array_given, predictor, executor  # what they are given may change, and nothing else


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole", "ignore:.*has been traced")
@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row[0].__name__}-{row[1][0]}")
def test_all_that_a_result_depends_on_is_seen(row, tmp_path):
    make, shape, changes = row
    data = np.random.default_rng(0).integers(-8, 8, shape).astype("float32")
    vars(w).update(BEGINNING | {"given": data.copy()})
    path, before = make(tmp_path), dict(vars(w))
    for change in ("nothing", *changes):
        for there in (True, False):
            vars(w).update(before)
            w.given = data.copy() if not there else w.given
            vars(w).update(CHANGES[change]() if there else {})
            frozen = SimpleNamespace(**before | {"given": w.given, "grad": w.grad}) if make in DECLARED else w
            for call in range(3 if there else 2):
                where = f"{make.__name__}, {change if there else f'after {change}'}, call {call}"
                agree(called(path), right(frozen), where)
