"""Eager code gives the same on both tiers, and payloads of NumPy's behave as arrays that nobody changes."""

from __future__ import annotations

import copy
import gc
import warnings

import jax
import numpy as np
import pytest

import paddle_lite_py as paddle
import paddle_lite_py.nn.functional as F
from paddle_lite_py import nn
from paddle_lite_py.core import memo, small
from paddle_lite_py.host import tier


@pytest.fixture
def xla():
    """All on XLA, for the time of the test."""
    paddle.set_flags({"FLAGS_host_tier": False})


def floats(*shape: int, seed: int = 0) -> paddle.Tensor:
    return paddle.to_tensor(np.random.RandomState(seed).randn(*shape).astype("float32"), stop_gradient=False)


def is_host(x: paddle.Tensor) -> bool:
    return type(x._payload) is np.ndarray


# -- the same on both tiers ------------------------------------------------------------------------------------------
def elementwise():
    x, y = floats(4, 6), floats(6, seed=1)
    return x, (F.gelu(x) * y + x.exp() / (1 + y.abs()) - F.softmax(x * 2.0, -1)).sum()


def indexed():
    x = floats(5, 4)
    return x, (x[1:3] * x[paddle.to_tensor([0, -1])] + x[2, 3] + paddle.gather(x, paddle.to_tensor([4, 4]))).sum()


def written():
    x = floats(5, 4)
    y = x * 2
    row = y[1]
    row[:] = x[0] ** 2
    y[paddle.to_tensor([2, 3]), 0] = x[4, :2]
    y.add_(x)
    return x, (y * y).sum()


def hooked():
    x = floats(3, 4)
    y = x.tanh()
    y.register_hook(lambda g: g * 3)
    x.register_hook(lambda g: g + 1)
    return x, (y * x).sum()


def normalized():
    x = floats(6, 4)
    return x, (F.layer_norm(x, 4) * F.cross_entropy(x, paddle.to_tensor([0, 1, 2, 3, 1, 2]))).sum()


def twice():
    x = floats(3, 4)
    (g,) = paddle.grad((x.tanh() ** 3).sum(), [x], create_graph=True)
    return x, (g * g).sum()


def recurrent():
    layer = nn.LSTM(3, 4)
    for i, p in enumerate(layer.parameters()):
        p.set_value(floats(*p.shape, seed=i))
    x = floats(2, 5, 3)
    return x, (layer(x)[0] ** 2).sum()


def drawn():
    paddle.seed(3)
    x = floats(4, 8)
    noise = paddle.rand([4, 8]) + paddle.randn([8]) + paddle.randint(0, 5, [4, 1])
    return x, (F.dropout(x, 0.4) * noise).sum()


def found(program) -> list[np.ndarray]:
    x, loss = program()
    loss.backward()
    return [loss.numpy(), x.grad.numpy()]


@pytest.mark.counts
@pytest.mark.parametrize("program", [elementwise, indexed, written, hooked, normalized, twice, recurrent, drawn])
def test_both_tiers_give_the_same(program, request):
    memo.clear()  # else what has run before decides which structures are compiled at once, and so how they round
    hosted = [found(program) for _ in range(3)]
    for again in hosted:
        for a, b in zip(again, hosted[0], strict=True):
            np.testing.assert_array_equal(a, b)
    request.getfixturevalue("xla")
    for ours, theirs in zip(hosted[0], found(program), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_allclose(ours, theirs, 2e-5, 1e-6)


def trained(steps: int, net: nn.Layer, opt: paddle.optimizer.Optimizer) -> list[float]:
    x, y = floats(8, 6).detach(), paddle.to_tensor(np.arange(8) % 3)
    losses = []
    for _ in range(steps):
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        losses.append(loss.item())
    return losses


def built() -> tuple[nn.Layer, paddle.optimizer.Optimizer]:
    paddle.seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 3))
    clip = nn.ClipGradByGlobalNorm(1.0)
    return net, paddle.optimizer.AdamW(0.1, parameters=net.parameters(), grad_clip=clip)


def test_a_resumed_run_has_the_same_bits():
    whole = trained(6, *built())
    with paddle.utils.unique_name.guard():
        net, opt = built()
    first = trained(3, net, opt)
    saved, state, word = copy.deepcopy(net.state_dict()), copy.deepcopy(opt.state_dict()), paddle.get_rng_state()
    with paddle.utils.unique_name.guard():
        net, opt = built()
    net.set_state_dict(saved)
    opt.set_state_dict(state)
    paddle.set_rng_state(word)
    assert first + trained(3, net, opt) == whole


def tiers() -> list[memo.Memo]:
    return [known for known in memo._all if getattr(known, "name", "").startswith("tiers of ")]


def new_kinds(run) -> list[bool]:
    """For each kind of call that is new whether NumPy runs it."""
    before = {id(found): found for known in tiers() for found in known.values()}
    run()
    new = [found for known in tiers() for found in known.values() if id(found) not in before]
    return [found.__code__.co_filename.endswith("<host tier>") for found in new]


def test_small_nets_compile_nothing():
    net = nn.Sequential(nn.Linear(6, 11), nn.Sigmoid(), nn.LayerNorm(11), nn.Linear(11, 3))
    new = new_kinds(lambda: trained(3, net, paddle.optimizer.Adam(0.1, parameters=net.parameters())))
    assert new and all(new)
    assert all(map(is_host, net.parameters()))


def test_an_op_of_many_steps_is_compiled_and_its_results_come_back():
    x, grid = paddle.full([1, 1, 7, 4], 2.0), paddle.full([1, 3, 3, 2], 0.3)
    found = []
    assert False in new_kinds(lambda: found.append(F.grid_sample(x, grid)))
    assert is_host(found[0])
    assert all(new_kinds(lambda: F.cross_entropy(paddle.ones([7, 5]), paddle.zeros([7], "int64"))))


# -- where things are ------------------------------------------------------------------------------------------------
def test_what_is_made_with_an_array_of_xlas_is_xlas():
    large, few = paddle.ones([small.MOST + 1]), paddle.ones([3])
    assert is_host(few) and is_host(few * 2) and is_host(few.sum()) and is_host(few.expand([2, 3]))
    total = paddle.linalg.norm(large, 3.7)  # norms that no other test asks for: shapes do not vary
    assert not is_host(large) and not is_host(total) and not is_host(paddle.linalg.norm(total, 3.9))
    assert not is_host(few.expand([small.MOST, 3]))
    assert (few * 2).place == large.place == paddle.CPUPlace()


def test_what_numpy_cannot_do_is_xlas():
    x = paddle.to_tensor([[2.0, 1.0], [1.0, 3.0]])
    inverse = paddle.linalg.inv(x)
    assert not is_host(inverse) and np.allclose((inverse @ x).numpy(), np.eye(2), atol=1e-6)
    assert is_host(paddle.ones([small.MOST]).erf())  # it would only take longer
    assert not is_host(x.astype("bfloat16")) and is_host(paddle.complex(x, x).conj() * 2)
    assert (x.astype("bfloat16") * 2).astype("float32").tolist() == (x * 2).tolist()


def test_a_flag_and_nan_checks_switch_the_tier_off(xla):
    assert not is_host(paddle.ones([3])) and not is_host(paddle.to_tensor([1.0]) + 1)
    paddle.set_flags({"FLAGS_host_tier": True})
    assert is_host(paddle.ones([3]))
    paddle.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(ValueError, match="invalid value"):
        paddle.log(paddle.to_tensor([-1.0]))


# -- payloads --------------------------------------------------------------------------------------------------------
def test_nobody_changes_a_payload():
    given = np.arange(6, dtype="float32").reshape(2, 3)
    x = paddle.to_tensor(given)
    turned, copied, kept = x.t().clone(), x.detach(), x + 0
    given[:] = -1
    assert x.tolist() == [[0, 1, 2], [3, 4, 5]]
    for out in (x.numpy(), np.array(x), np.asarray(x), turned.numpy()):
        out[:] = -2
    assert x.tolist() == kept.tolist() == [[0, 1, 2], [3, 4, 5]]
    x[0] = 9
    assert copied.tolist()[0] == [9, 9, 9] and kept.tolist()[0] == [0, 1, 2] and turned.tolist()[0] == [0, 3]
    zeros = [paddle.zeros([2]), paddle.zeros([2])]
    zeros[0][0] = 1
    assert zeros[1].tolist() == [0, 0] and paddle.zeros([2]).tolist() == [0, 0]


def test_an_update_takes_no_memory_that_another_tensor_reads():
    nets = [nn.Linear(small.MOST // 2, 3)]
    nets.append(copy.deepcopy(nets[0]))
    bias, x = copy.deepcopy(nets[0].bias), paddle.ones([2, small.MOST // 2])
    opts = [paddle.optimizer.SGD(0.1, parameters=net.parameters()) for net in nets]
    for _ in range(3):
        for net, opt in zip(nets, opts, strict=True):
            net(x).sum().backward()
            opt.step()
            opt.clear_grad()
    assert is_host(bias) and nets[0].bias.tolist() == nets[1].bias.tolist() != bias.tolist()
    assert (nets[0](x) - bias).shape == [2, 3]


def test_arrays_go_in_and_out():
    x = paddle.to_tensor(np.arange(6, dtype=">f4").reshape(2, 3)[:, ::-1])
    assert x.dtype == paddle.float32 and x.tolist() == [[2, 1, 0], [5, 4, 3]]
    assert np.from_dlpack(x).tolist() == x.tolist() and np.asarray(jax.numpy.asarray(x)).tolist() == x.tolist()
    turned = x.t()
    assert copy.deepcopy(turned).tolist() == turned.tolist() and isinstance(turned.data_ptr(), int)
    scalar = x.sum()
    assert is_host(scalar) and scalar.shape == [] and f"{scalar:.1f}" == "15.0" and float(scalar) == 15


def test_saved_and_loaded(tmp_path):
    x = floats(2, 3).detach().t()
    paddle.save({"x": x}, str(tmp_path / "x.pdparams"))
    again = paddle.load(str(tmp_path / "x.pdparams"))["x"]
    assert is_host(again) and (again.numpy() == x.numpy()).all()


def test_static_functions_take_them():
    weight = paddle.create_parameter([3, 2], "float32")
    f = paddle.jit.to_static(lambda x: (x @ weight).tanh())
    x = floats(4, 3)
    for _ in range(4):
        loss = f(x).sum() + (x @ weight).sum()
        loss.backward()
    np.testing.assert_allclose(f(x).numpy(), np.tanh(x.numpy() @ weight.numpy()), 1e-5)
    assert f.get_traced_count() == 1 and weight.grad.shape == [3, 2]


def test_numbers_keep_their_kind():
    x = paddle.to_tensor([1, 2])
    assert [(x * n).dtype.name for n in (2, 2.0, True)] == ["int64", "float32", "int64"]
    assert (paddle.to_tensor([250], "uint8") + 10).tolist() == [4]
    assert (paddle.to_tensor([2**31 - 1], "int32") + 1).tolist() == [-(2**31)]
    assert (paddle.to_tensor(7) // 2).item() == 3 and (paddle.to_tensor([True]) & False).tolist() == [False]
    assert np.signbit((paddle.zeros([1]) * -0.0).numpy()).all()


def test_numpy_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = paddle.to_tensor([0.0, -1.0, 1e38])
        results = [x.log(), 1 / x, x.exp(), x * 1e38, x.sqrt(), (x / 0).astype("int32"), paddle.to_tensor(0.0) / 0]
    assert results[0].tolist()[0] == -np.inf and results[1].tolist()[0] == np.inf
    assert results[5].tolist() == [-(2**31)] * 3


def test_kinds_of_calls_are_bounded_and_forgotten():
    add = paddle.to_tensor([1.0])
    for n in range(1, 40):
        add = paddle.ones([n]) + 1
    kept = [known for known in tiers() if known.name == "tiers of add"]
    assert all(len(known) <= tier.MAX_KINDS for known in kept) and add.shape == [39]
    net, opt = built()
    trained(1, net, opt)
    before = len(tiers())
    del net, opt
    gc.collect()
    assert len(tiers()) <= before
