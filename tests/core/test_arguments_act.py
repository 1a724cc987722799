"""Arguments that once had no effect, and what they do: as in PaddlePaddle 3.3.1, whose figures these are."""

from __future__ import annotations

import hashlib
import threading

import numpy as np
import pytest

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn, static

T = paddle.to_tensor
TALL = [[1.0, 0.0], [1.0, 1.0], [1.0, 3.0]]
IMAGE = np.arange(10.0, dtype="float32").reshape(1, 1, 2, 5)


# -- linear algebra ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("data", "pivots", "shapes"),
    [
        (True, True, [[2, 2], [2, 2], [2, 2]]),
        (True, False, [[0], [2, 2], [2, 2]]),
        (False, True, [[2, 2], [0], [0]]),
        (False, False, [[0], [0], [0]]),
    ],
)
def test_parts_of_lu_unpack(data, pivots, shapes):
    factors = paddle.linalg.lu(T([[1.0, 2.0], [2.0, 5.0]]))
    assert [part.shape for part in paddle.linalg.lu_unpack(*factors, data, pivots)] == shapes
    assert [part.shape for part in factors[0].lu_unpack(factors[1], unpack_ludata=data, unpack_pivots=pivots)] == shapes


@pytest.mark.parametrize(
    ("driver", "shapes"),
    [
        (None, [[0], [], [0]]),
        ("gelsy", [[0], [], [0]]),
        ("gels", [[1], [0], [0]]),
        ("gelsd", [[1], [], [2]]),
        ("gelss", [[1], [], [2]]),
    ],
)
def test_drivers_of_lstsq(driver, shapes):
    solution, *rest = paddle.linalg.lstsq(T(TALL), T([[1.0], [3.0], [2.0]]), driver=driver)
    np.testing.assert_allclose(solution.numpy(), [[1.7142853], [0.2142858]], rtol=1e-5)
    assert [part.shape for part in rest] == shapes


def test_another_driver_is_an_error():
    with pytest.raises(ValueError, match="driver is 'qr'; expected one of gels, gelsy, gelsd, gelss"):
        paddle.linalg.lstsq(T(TALL), T(TALL), driver="qr")


# -- storage -------------------------------------------------------------------------------------------------------
STRIDED = [
    ([2, 3], [1, 2], 4, [[1.0, 3.0, 5.0], [2.0, 4.0, 6.0]]),
    ([3], [2], 4, [1.0, 3.0, 5.0]),
    ([2, 3], [0, 1], 8, [[2.0, 3.0, 4.0], [2.0, 3.0, 4.0]]),
]


@pytest.mark.parametrize(("shape", "stride", "offset", "expected"), STRIDED)
def test_strides_and_an_offset_in_bytes(shape, stride, offset, expected):
    x = paddle.zeros([1])
    assert x.set_(paddle.arange(12.0), shape, stride, offset) is x and x.tolist() == expected
    assert paddle.as_strided(paddle.arange(12.0), shape, stride, offset).tolist() == expected


def test_a_shape_alone_takes_elements_one_by_one():
    assert paddle.zeros([1]).set_(paddle.arange(12.0), [3], None, 8).tolist() == [2.0, 3.0, 4.0]
    assert paddle.zeros([1]).set_(paddle.arange(4.0)).tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("shape", "stride", "offset", "message"),
    [
        ([5], [4], 0, "reach elements 0 to 16, but x has 12"),
        ([3], [1], 2, "offset is 2; expected a multiple of 4"),
        (None, None, 4, "reach elements 1 to 12"),
    ],
)
def test_what_lies_outside_is_an_error(shape, stride, offset, message):
    with pytest.raises(ValueError, match=message):
        paddle.zeros([1]).set_(paddle.arange(12.0), shape, stride, offset)


# -- random numbers ------------------------------------------------------------------------------------------------
DRAWS = {
    "uniform": lambda seed: paddle.uniform([4], seed=seed),
    "gaussian": lambda seed: paddle.gaussian([4], seed=seed),
    "uniform_": lambda seed: paddle.zeros([4]).uniform_(0.0, 1.0, seed),
    "Normal": lambda seed: paddle.distribution.Normal(0.0, 1.0).sample([4], seed),
    "Uniform": lambda seed: paddle.distribution.Uniform(0.0, 1.0).sample([4], seed=seed),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_has_a_stream_of_its_own(name):
    draw = DRAWS[name]
    paddle.seed(1)
    between = draw(0).tolist()
    first = draw(3).tolist()
    paddle.seed(1)
    assert draw(3).tolist() == first != draw(4).tolist()
    assert draw(0).tolist() == between != draw(0).tolist()  # a draw with a seed leaves the stream where it is


@pytest.mark.parametrize("name", [n for n in DRAWS if n != "uniform_"])
def test_a_seed_in_programs(name, static_mode):
    seeded, other = DRAWS[name](3), DRAWS[name](0)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    (a, b), (c, d) = (exe.run(fetch_list=[seeded, other]) for _ in range(2))
    assert (a == c).all() and not (b == d).all()


def test_a_seed_in_a_static_function():
    f = paddle.jit.to_static(lambda x: x + paddle.uniform([4], seed=3))
    assert f(paddle.zeros([4])).tolist() == f(paddle.zeros([4])).tolist() == paddle.uniform([4], seed=3).tolist()


def test_nce_draws_the_same_classes_again(static_mode):
    x = static.data("x", [None, 3])
    loss = static.nn.nce(x, paddle.ones([2, 1], "int64"), 500, num_neg_samples=2, seed=4)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    a, b = (exe.run(feed={"x": np.ones([2, 3], "float32")}, fetch_list=[loss])[0] for _ in range(2))
    assert (a == b).all()


def test_random_takes_a_generator_and_one_bound():
    g = paddle.Generator(seed=5)
    first, second = (paddle.zeros([6]).random_(0, 1000, generator=g).tolist() for _ in range(2))
    assert first != second
    drawn = paddle.jit.to_static(lambda x: x.random_(0, 1000, generator=g))
    g.manual_seed(5)
    assert [drawn(paddle.zeros([6])).tolist() for _ in range(2)] == [first, second]
    assert set(paddle.zeros([200]).random_(3).tolist()) == {0.0, 1.0, 2.0}


# -- ops -----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize(("padding", "middle"), [(None, 3.0), (1, 0.0)])
def test_gradients_of_embeddings_by_frequency(staged, padding, middle):
    table = nn.Embedding(3, 2, padding_idx=padding, scale_grad_by_freq=True)
    run = paddle.jit.to_static(table) if staged else table
    (run(T([0, 0, 1, 2])) * T([[1.0], [2.0], [3.0], [4.0]])).sum().backward()
    assert table.weight.grad.tolist() == [[1.5, 1.5], [middle, middle], [4.0, 4.0]]


NEAREST = [0.0, 0.0, 1.0, 2.0, 3.0, 4.0]
BILINEAR = [0.0, 0.75, 1.5833333, 2.4166665, 3.25, 4.0]
BICUBIC = [-0.0525174, 0.6679688, 1.5630791, 2.4369216, 3.332031, 4.0525175]


@pytest.mark.parametrize(("mode", "row"), [("nearest", NEAREST), ("bilinear", BILINEAR), ("bicubic", BICUBIC)])
def test_interpolate_by_the_ratio_of_the_sizes(mode, row):
    out = F.interpolate(T(IMAGE), scale_factor=[1, 1.3], mode=mode, recompute_scale_factor=True)
    np.testing.assert_allclose(out.numpy()[0, 0, 0], row, atol=1e-5)
    with pytest.raises(ValueError, match="recompute_scale_factor needs scale_factor"):
        F.interpolate(T(IMAGE), size=[2, 3], recompute_scale_factor=True)


def test_repeats_are_as_many_as_they_are_said_to_be():
    x = T([1, 2])
    assert paddle.repeat_interleave(x, T([1, 2]), output_size=3).tolist() == [1, 2, 2]
    for repeats in (T([1, 2]), [1, 2], 3):
        with pytest.raises(ValueError, match="output_size is 4, but the counts add up to"):
            paddle.repeat_interleave(x, repeats, output_size=4)


def test_grouped_heads_may_be_refused():
    q, k = paddle.ones([1, 2, 4, 3]), paddle.ones([1, 2, 2, 3])
    assert F.scaled_dot_product_attention(q, k, k).shape == [1, 2, 4, 3]
    with pytest.raises(ValueError, match="query has 4 heads and key 2"):
        F.scaled_dot_product_attention(q, k, k, enable_gqa=False)


def test_boxes_of_the_categories_that_are_looked_for():
    boxes = T([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 2.0], [5.0, 5.0, 6.0, 6.0]])
    scores, kinds = T([0.9, 0.8, 0.7]), T([0, 1, 1])
    found = {k: paddle.vision.ops.nms(boxes, 0.5, scores, kinds, list(k)).tolist() for k in ((0, 1), (0,), (1,))}
    assert found == {(0, 1): [0, 1, 2], (0,): [0], (1,): [1, 2]}


def test_layers_that_work_in_place():
    x, y = paddle.ones([64]), T([1.0, -1.0])
    assert nn.Dropout(0.5, inplace=True)(x) is x and set(x.tolist()) == {0.0, 2.0}
    assert nn.Silu(inplace=True)(y) is y and y.tolist() != [1.0, -1.0]


def test_accuracy_counts():
    correct, total = paddle.zeros([1], "int32"), paddle.zeros([1], "int32")
    scores, labels = T([[0.1, 0.9], [0.8, 0.2], [0.3, 0.7]]), T([[1], [1], [1]])
    assert paddle.metric.accuracy(scores, labels, correct=correct, total=total).item() == pytest.approx(2 / 3)
    assert (correct.item(), total.item(), correct.shape, correct.dtype) == (2, 3, [], paddle.int32)


# -- state and files -----------------------------------------------------------------------------------------------
def test_state_without_gradients():
    layer = nn.Linear(2, 2)
    assert layer.state_dict()["weight"] is layer.weight
    kept = layer.state_dict(keep_vars=False)
    assert all(t.stop_gradient for t in kept.values())
    assert kept["weight"].tolist() == layer.weight.tolist() and not layer.weight.stop_gradient


def test_files_of_safetensors(tmp_path):
    state = {"w": paddle.ones([2], "bfloat16"), "n": paddle.arange(3)}
    paddle.save(state, tmp_path / "state", safetensors=True)
    found = paddle.load(tmp_path / "state", safetensors=True)
    assert (found["w"].dtype, found["n"].tolist()) == (paddle.bfloat16, [0, 1, 2])
    assert isinstance(paddle.load(tmp_path / "state", safetensors=True, return_numpy=True)["n"], np.ndarray)
    with pytest.raises(TypeError, match="no dict of tensors"):
        paddle.save([1], tmp_path / "state", safetensors=True)
    paddle.save({"w": paddle.ones([1])}, tmp_path / "old", pickle_protocol=2)
    assert (tmp_path / "old").read_bytes()[:2] == b"\x80\x02"


def test_weights_in_bfloat16_come_back(tmp_path):
    net = nn.Linear(2, 2).to(dtype="bfloat16")
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[static.InputSpec([None, 2], "bfloat16")])
    x = paddle.ones([1, 2], "bfloat16")
    assert paddle.jit.load(str(tmp_path / "net"))(x).tolist() == net(x).tolist()


@pytest.fixture
def published(tmp_path):
    """The url of a file of weights whose name holds its hash."""
    paddle.save({"w": paddle.ones([2])}, str(tmp_path / "net"))
    digits = hashlib.sha256((tmp_path / "net").read_bytes()).hexdigest()[:8]
    return (tmp_path / "net").rename(tmp_path / f"net-{digits}.pdparams").as_uri()


def test_weights_from_a_url(published, tmp_path):
    fetch = paddle.hub.load_state_dict_from_url
    for where in ("cpu", "numpy"):
        found = fetch(published, str(tmp_path / "models"), check_hash=True, file_name="mine", map_location=where)
        assert found["w"].tolist() == [1.0, 1.0] and isinstance(found["w"], np.ndarray) == (where == "numpy")
    assert [p.name for p in (tmp_path / "models").iterdir()] == ["mine"]


def test_weights_of_another_hash(published, tmp_path):
    wrong = tmp_path / "net-00000000.pdparams"
    wrong.write_bytes(b"another one")
    with pytest.raises(RuntimeError, match="the checksum is not the expected one"):
        paddle.hub.load_state_dict_from_url(wrong.as_uri(), str(tmp_path / "models"), check_hash=True)
    (tmp_path / "net.pdparams").write_bytes(b"")
    with pytest.raises(ValueError, match="'net.pdparams' has no hash"):
        paddle.hub.load_state_dict_from_url((tmp_path / "net.pdparams").as_uri(), check_hash=True)


def test_a_data_set_under_another_name(tmp_path, monkeypatch):
    from paddle_lite_py.dataset import common

    (tmp_path / "a.txt").write_text("text")
    monkeypatch.setattr(common, "DATA_HOME", str(tmp_path / "home"))
    path = common.download((tmp_path / "a.txt").as_uri(), "set", common.md5file(str(tmp_path / "a.txt")), "b.txt")
    assert path == str(tmp_path / "home" / "set" / "b.txt")


# -- data and devices ----------------------------------------------------------------------------------------------
class Squares(paddle.io.Dataset):
    """0, 1, 4, and so on; in `threads` which thread loaded."""

    def __init__(self):
        self.threads = set()

    def __len__(self):
        return 6

    def __getitem__(self, i):
        self.threads.add(threading.get_ident())
        return np.float32(i * i)


@pytest.mark.parametrize("persistent", [False, True])
def test_workers_that_stay(persistent, monkeypatch):
    monkeypatch.setenv("PADDLE_LITE_WORKERS", "threads")  # which share the list
    started = []
    loader = paddle.io.DataLoader(
        Squares(), batch_size=2, num_workers=2, worker_init_fn=started.append, persistent_workers=persistent
    )
    passes = [[x.tolist() for x in loader] for _ in range(3)]
    assert passes == [[[0.0, 1.0], [4.0, 9.0], [16.0, 25.0]]] * 3
    next(iter(loader))  # a pass that is not finished leaves nothing behind
    assert [x.tolist() for x in loader] == passes[0]
    assert len(started) == (2 if persistent else 10)


def test_batches_on_a_device():
    for places in ("cpu", paddle.CPUPlace(), [paddle.CPUPlace()], static.cpu_places(2)):
        (first, *_) = paddle.io.DataLoader(Squares(), places=places)
        assert first.place == paddle.CPUPlace()
    with pytest.raises(ValueError, match="device 9 is not there|has no|gpu"):
        list(paddle.io.DataLoader(Squares(), places="gpu:9"))


def test_modes_with_a_place():
    with paddle.base.dygraph.guard(paddle.CPUPlace()):
        assert paddle.ones([1]).place == paddle.CPUPlace()
    paddle.enable_static()
    paddle.disable_static(paddle.CPUPlace())
    assert paddle.in_dynamic_mode() and paddle.get_device() == "cpu"


def test_bfloat16_in_the_processor(monkeypatch):
    device = paddle.device
    assert device.is_bf16_supported()
    for features, expected in (("flags: avx512f avx512_bf16", True), ("flags: avx2", False)):
        monkeypatch.setattr(device, "cpu_features", lambda features=features: features)
        assert device.is_bf16_supported(including_emulation=False) == expected


def test_a_profile_of_one_kind_of_device():
    events = [
        {"name": "process_name", "pid": 1, "args": {"name": "/host:CPU"}},
        {"name": "process_name", "pid": 2, "args": {"name": "/device:GPU:0"}},
        *({"name": f"on {pid}", "ph": "X", "pid": pid, "dur": 1.0} for pid in (1, 2)),
    ]
    result = paddle.profiler.ProfilerResult(events)
    assert {k: [r.name for r in result.of({k}).rows()] for k in ("CPU", "GPU")} == {"CPU": ["on 1"], "GPU": ["on 2"]}
    with paddle.profiler.Profiler(targets=[paddle.profiler.ProfilerTarget.GPU]) as p:
        paddle.ones([2]).add(paddle.ones([2]))
    assert p.profiler_result.of({"CPU"}).rows() == []


# -- static mode ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("around", [lambda o: o, static.GradientMergeOptimizer, static.amp.decorate])
def test_minimize_with_a_startup_program(static_mode, around):
    other = static.Program()
    loss = nn.Linear(2, 1)(static.data("x", [None, 2])).mean()
    before = len(static.default_startup_program().initials)
    around(paddle.optimizer.Adam(0.1)).minimize(loss, other)
    assert len(static.default_startup_program().initials) == before and other.initials
    exe = static.Executor()
    exe.run(static.default_startup_program()), exe.run(other)
    assert np.isfinite(exe.run(feed={"x": np.ones([1, 2], "float32")}, fetch_list=[loss])[0]).all()


def test_what_looks_ahead_minimizes_as_the_inner_optimizer_does():
    def trained(minimize):
        w = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
        opt = paddle.incubate.LookAhead(paddle.optimizer.SGD(0.1, [w]), alpha=0.5, k=2)
        for _ in range(3):
            loss = w.sum()
            loss.backward()
            opt.minimize(loss, no_grad_set=set()) if minimize else opt.step()
            opt.clear_grad()
        return w.item()

    assert trained(True) == trained(False) == pytest.approx(0.75)


@pytest.mark.parametrize(("mode", "kind"), [("Half", "float16"), ("Bfloat16", "bfloat16"), ("Float32", "")])
def test_a_predictor_computes_in_a_precision(tmp_path, mode, kind):
    inference = paddle.inference
    net, x = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), np.ones([2, 3], "float32")
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[static.InputSpec([None, 3], name="x")])
    config = inference.Config(str(tmp_path / "net.json"), str(tmp_path / "net.pdiparams"))
    config.enable_custom_device("cpu", 0, inference.PrecisionType[mode])
    predictor = inference.create_predictor(config)
    (out,) = predictor.run([x])
    assert out.dtype == "float32" and f"precision: {mode}" in config.summary()
    np.testing.assert_allclose(out.numpy(), net(T(x)).numpy(), atol=0.05)
    assert kind in str(predictor._layer.program())
    assert ("cast" in str(predictor._layer.program())) == bool(kind)


def test_weights_of_another_program_are_refused(tmp_path):
    config = paddle.inference.Config(str(tmp_path / "net.json"), str(tmp_path / "other.pdiparams"))
    with pytest.raises(ValueError, match="params_file is .*other.pdiparams, but the weights of"):
        paddle.inference.create_predictor(config)


def test_settings_of_setuptools_are_those_of_load():
    from paddle_lite_py.utils.cpp_extension import CppExtension

    made = CppExtension(["a.cc"], include_dirs=["here"], extra_compile_args={"cxx": ["-O3"]}, language="c++")
    assert made == {"sources": ["a.cc"], "extra_include_paths": ["here"], "extra_cxx_cflags": ["-O3"]}
