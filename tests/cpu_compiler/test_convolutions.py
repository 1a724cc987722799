"""Convolutions of oneDNN: those that it takes give what XLA's give, in every form, and the others are XLA's."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py.cpu_compiler import convolution_choice, convolutions, onednn, prepare
from paddle_lite_py.cpu_compiler.machine_code import CONVOLUTION
from paddle_lite_py.host.tier import program_jit

needs_onednn = pytest.mark.skipif(onednn.loaded() is None, reason="oneDNN is not for this machine")
CHANNELS = 16


@pytest.fixture(autouse=True)
def small_ones_too(monkeypatch):
    """Convolutions that are small enough for a test count as those that oneDNN is faster at."""
    for name in ("MIN_PRODUCTS", "MIN_PRODUCTS_SUMMED", "MIN_WINDOWS", "MIN_CHANNELS"):
        monkeypatch.setattr(convolution_choice, name, 0)
    monkeypatch.setattr(onednn, "MIN_PRODUCTS_SHARED", 0)


@pytest.fixture
def served(monkeypatch):
    """The kinds of the convolutions that oneDNN was given."""
    kinds = []

    def chosen(convolution):
        plan = convolution_choice.chosen(convolution)
        return kinds.append(convolution.kind) or plan if plan else None

    monkeypatch.setattr(convolutions, "chosen", chosen)
    return kinds


def arrays(*shapes, dtype="float32"):
    rng = np.random.default_rng(0)
    return [rng.normal(size=s).astype(dtype) for s in shapes]


def count(fn, *args):
    """How many calls of oneDNN, and how many convolutions of XLA's a function becomes."""
    text = str(jax.make_jaxpr(prepare(fn))(*args))
    return text.count(CONVOLUTION), text.count("conv_general_dilated[")


def same(found, expected):
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5 * float(np.abs(b).max(initial=1e-9)), rtol=1e-4)


def conv(kernel, space=2, stride=1, dilation=1, padding=(1, 1), groups=1, first=False, size=8, channels=CHANNELS):
    """A convolution of x and weight, and shapes for both."""
    axes, lengths = "DHW"[-space:], (size, size + 1, size - 1)[:space]
    x_shape = (2, channels, *lengths) if first else (2, *lengths, channels)
    numbers = (f"NC{axes}", f"OI{axes}", f"NC{axes}") if first else (f"N{axes}C", f"{axes}IO", f"N{axes}C")

    def fn(x, weight):
        weight = weight if first else jnp.moveaxis(weight, (0, 1), (-1, -2))
        return jax.lax.conv_general_dilated(
            x,
            weight,
            (stride,) * space,
            padding if isinstance(padding, str) else (padding,) * space,
            rhs_dilation=(dilation,) * space,
            dimension_numbers=numbers,
            feature_group_count=groups,
        )

    return fn, x_shape, (CHANNELS, channels // groups, *(kernel,) * space)


def gradients(fn):
    """The values and both gradients of a function of two arrays, in a sum that weighs each element."""

    def all_three(x, weight):
        out, pull = jax.vjp(fn, x, weight)
        return out, *pull(jnp.cos(jnp.arange(out.size, dtype=out.dtype)).reshape(out.shape))

    return all_three


FORMS = [
    {"kernel": 3},
    {"kernel": 3, "stride": 2},
    {"kernel": 3, "dilation": 2, "padding": (2, 2)},
    {"kernel": 3, "stride": 2, "dilation": 2, "padding": (0, 1)},
    {"kernel": 1, "padding": (0, 0)},
    {"kernel": 1, "stride": 2, "padding": (0, 0)},
    {"kernel": 7, "stride": 2, "padding": (3, 3), "channels": 3},
    {"kernel": 3, "padding": (3, 3)},  # more than the kernel reaches
    {"kernel": 2, "stride": 3, "padding": (0, 0)},  # parts of x that no window reaches
    {"kernel": 3, "size": 2},  # a kernel that is larger than the picture
    {"kernel": 3, "groups": 4},
    {"kernel": 3, "groups": 2, "stride": 2},
    {"kernel": 3, "groups": CHANNELS},
    {"kernel": 3, "first": True},
    {"kernel": 3, "first": True, "groups": 2, "stride": 2},
    {"kernel": 5, "space": 1, "stride": 2, "dilation": 2, "padding": "SAME"},
    {"kernel": 3, "space": 3, "size": 4},
    {"kernel": 3, "space": 3, "size": 4, "stride": 2, "groups": 2},
]


@needs_onednn
@pytest.mark.parametrize("form", FORMS, ids=str)
def test_a_convolution_and_both_gradients(form, served):
    fn, *shapes = conv(**form)
    x, weight = arrays(*shapes)
    same(jax.jit(prepare(gradients(fn)))(x, weight), jax.jit(gradients(fn))(x, weight))
    assert sorted(served) == sorted(onednn.KINDS)
    assert count(gradients(fn), x, weight) == (3, 0)


@needs_onednn
@pytest.mark.parametrize("stride", [1, 2])
def test_of_both_gradients_again(stride, served):
    fn, *shapes = conv(3, stride=stride)
    x, weight = arrays(*shapes)

    def again(x, weight):
        return jax.grad(lambda *a: sum(jnp.sum(jnp.sin(g)) for g in gradients(fn)(*a)), (0, 1))(x, weight)

    same(jax.jit(prepare(again))(x, weight), jax.jit(again)(x, weight))
    assert len(served) >= 5


@needs_onednn
@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_layers_of_a_static_function(data_format, served):
    conv1 = paddle.nn.Conv2D(3, 16, 3, padding=1, data_format=data_format)
    conv2 = paddle.nn.Conv2D(16, 16, 3, stride=2, groups=2, data_format=data_format)
    back = paddle.nn.Conv2DTranspose(16, 8, 3, stride=2, data_format=data_format)
    params = [p for layer in (conv1, conv2, back) for p in layer.parameters()]
    x = paddle.to_tensor(arrays((2, 3, 12, 12) if data_format == "NCHW" else (2, 12, 12, 3))[0], stop_gradient=False)

    def step(x):
        loss = (back(paddle.nn.functional.relu(conv2(conv1(x)))) ** 2).mean()
        return [loss, *paddle.grad(loss, [x, *params])]

    expected = [t.numpy() for t in step(x)]
    del served[:]
    same([t.numpy() for t in paddle.jit.to_static(step, full_graph=True)(x)], expected)
    # The weights of the last have theirs by XLA: the gradient of a convolution whose x is spread out.
    assert {kind: served.count(kind) for kind in onednn.KINDS} == {"forward": 3, "data": 3, "weights": 2}


@needs_onednn
def test_within_a_loop():
    fn, *shapes = conv(3)
    x, weight = arrays(*shapes)

    def looped(x, weight):
        return jax.lax.fori_loop(0, 3, lambda i, y: jnp.tanh(fn(y, weight)), x)

    same(jax.jit(prepare(looped))(x, weight), jax.jit(looped)(x, weight))
    assert count(looped, x, weight) == (1, 0)


@needs_onednn
@pytest.mark.parametrize(("size", "shared"), [(16, True), (15, False)])
def test_two_threads_at_once(size, shared, monkeypatch):
    """Those that all threads take part in wait for each other."""
    monkeypatch.setattr(onednn, "MIN_PRODUCTS_SHARED", 0 if shared else math.inf)
    fn, *shapes = conv(3, size=size)
    x, weight = arrays(*shapes)
    kept = len(onednn.loaded().table.kept)
    same(prepare(gradients(fn))(x, weight), gradients(fn)(x, weight))
    assert [bool(plan[2]) for plan in onednn.loaded().table.kept[kept:]] == [shared] * 3
    run = jax.jit(prepare(gradients(fn)))
    expected = {scale: [np.asarray(a) for a in run(x * scale, weight)] for scale in (1, 2)}
    wrong = []

    def calls(scale):
        for _ in range(30):
            found = run(x * scale, weight)
            wrong.extend(a for a, b in zip(found, expected[scale], strict=True) if not np.array_equal(a, b))

    threads = [threading.Thread(target=calls, args=(scale,)) for scale in expected]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


OTHERS = {
    "bfloat16": lambda x, w: conv(3)[0](x.astype("bfloat16"), w.astype("bfloat16")),
    "float64": lambda x, w: conv(3)[0](x.astype("float64"), w.astype("float64")),
    "int32": lambda x, w: conv(3)[0](x.astype("int32"), w.astype("int32")),
    "negative padding": conv(3, padding=(-1, 2))[0],
    "nothing": lambda x, w: conv(3)[0](x[:0], w),
    "a wider result": lambda x, w: jax.lax.conv(x, w.T, (1, 1), "SAME", preferred_element_type="float64"),
}


@pytest.mark.parametrize("fn", OTHERS.values(), ids=OTHERS)
def test_others_are_xlas(fn):
    x, weight = (
        arrays((2, 16, 16, 16), (16, 16, 3, 3)) if fn is not OTHERS["a wider result"] else arrays(*[(4,) * 4] * 2)
    )
    assert count(fn, x, weight) == (0, 1)
    same(jax.jit(prepare(fn))(x, weight), jax.jit(fn)(x, weight))


@needs_onednn
def test_sizes_that_are_not_known_are_xlas():
    fn, _, shape = conv(3)
    (n,) = jax.export.symbolic_shape("n")
    specs = jax.ShapeDtypeStruct((n, 8, 9, CHANNELS), "float32"), jax.ShapeDtypeStruct(shape, "float32")
    assert count(fn, *specs) == (0, 1)


@needs_onednn
def test_saved_programs_hold_none(tmp_path):
    net = paddle.nn.Conv2D(16, 16, 3)
    net.eval()
    x = paddle.to_tensor(arrays((2, 16, 12, 12))[0])
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([2, 16, 12, 12], "float32")])
    assert all(CONVOLUTION.encode() not in path.read_bytes() for path in tmp_path.iterdir())
    same(paddle.jit.load(str(tmp_path / "net"))(x).numpy(), net(x).numpy())


@pytest.mark.parametrize("lacks", ["the flag", "the package", "its own library", "the compiler", "few cores"])
def test_without_it_all_are_xlas(monkeypatch, lacks):
    match lacks:
        case "the flag":
            monkeypatch.setenv("FLAGS_use_onednn", "0")
        case "the package":
            monkeypatch.setattr(onednn, "PACKAGE", "of-nobody")
        case "its own library":
            monkeypatch.setattr(onednn, "LIBRARY", "libnothing.so")
        case "the compiler":
            monkeypatch.setattr(onednn, "compiler", lambda: None)
        case "few cores":
            monkeypatch.setattr(onednn, "MOST_CORES", 0)
    assert onednn.loaded.__wrapped__() is None
    monkeypatch.setattr(onednn, "loaded", lambda: None)
    fn, *shapes = conv(3)
    assert count(fn, *arrays(*shapes)) == (0, 1)


@needs_onednn
def test_a_slow_implementation_is_not_taken(monkeypatch):
    monkeypatch.setattr(onednn.OneDNN, "name", lambda *a: "ref:any")
    fn, *shapes = conv(3, size=9)
    assert count(fn, *arrays(*shapes)) == (0, 1)


@needs_onednn
def test_a_large_program_is_compiled_apart(all_are_large, tmp_path):
    fn, *shapes = conv(3)
    x, weight = arrays(*shapes)
    same(program_jit(prepare(gradients(fn)), 1)(x, weight), jax.jit(gradients(fn))(x, weight))
    assert len(list(tmp_path.glob("*.executable"))) == 1


FRESH = """
import json, sys
import jax, numpy as np
import paddle_lite_py as paddle
hits = []
jax.monitoring.register_event_listener(lambda event, **_: hits.append(event) if event.endswith("cache_hits") else None)
x = paddle.to_tensor(np.arange(2 * 64 * 256, dtype="float32").reshape(2, 64, 16, 16) % 7)
w = paddle.to_tensor(np.arange(64 * 64 * 9, dtype="float32").reshape(64, 64, 3, 3) % 5)
y = paddle.jit.to_static(lambda x, w: paddle.nn.functional.conv2d(x, w, padding=1), full_graph=True)(x, w)
from paddle_lite_py.cpu_compiler import onednn
print(json.dumps([float(y.sum()), len(hits), onednn.loaded().table.kept != []]))
"""


@needs_onednn
def test_a_new_process_runs_what_another_has_compiled(monkeypatch, tmp_path):
    monkeypatch.setenv("PADDLE_LITE_CACHE_DIR", str(tmp_path))
    command = [sys.executable, "-c", FRESH]
    first, second = (json.loads(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(2))
    assert first[0] == second[0] and first[1] == 0 < second[1] and first[2] and second[2]


@needs_onednn
@pytest.mark.parametrize(("known", "said"), [(False, "no plan of"), (True, "oneDNN fails")])
@pytest.mark.parametrize("shared", [False, True])
def test_calls_that_cannot_be_done_say_so(known, said, shared):
    fn, *shapes = conv(3)
    x, weight = arrays(*shapes)
    key = 11 + shared if known else 13
    if known:
        library = onednn.loaded()
        array = library.described(onednn.Strided((4,), (1,)))
        copy = library.primitive(library.reorder(array, array))
        library.table.add(key, [shared, 1, copy.value, 1, 1, array.value, 0, 0])  # from somewhere, and to nowhere
    call = jax.ffi.ffi_call(CONVOLUTION, jax.ShapeDtypeStruct(x.shape, x.dtype))
    with pytest.raises(jax.errors.JaxRuntimeError, match=said):
        jax.block_until_ready(jax.jit(lambda x, w: call(x, w, key=np.int64(key)))(x, weight))
