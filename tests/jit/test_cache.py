"""The programs of a static function: never stale, bounded, explained; numbers as inputs; threads."""

from __future__ import annotations

import gc
import threading
import weakref

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, to_static

import paddle_lite_py as paddle
from paddle_lite_py import nn
from paddle_lite_py.eager import lazy_program


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


ONE = tensor(1.0)


class Config:
    scale = 2.0

    def __init__(self):
        self.k = 3.0
        self.inner = {"bias": [1.0, 2.0]}

    @property
    def twice(self):
        return self.k * 2.0

    def get(self):
        return self.k


def test_the_cache_is_bounded_and_keeps_what_is_used():
    f = to_static(lambda x: x + 1.0, cache_size=2)
    for n in (1, 2, 1, 3, 1):
        f(paddle.ones([n]))
    assert f.get_traced_count() == 3 and len(f.program_cache) == 2
    f(paddle.ones([2]))
    assert f.get_traced_count() == 4


def test_a_cache_of_no_size_is_refused():
    with pytest.raises(ValueError, match="cache_size is 0; it is the number of programs kept, at least 1"):
        to_static(lambda x: x, cache_size=0)


def test_clearing_gradients_first_traces_once():
    net, twin = nn.Linear(2, 1), nn.Linear(2, 1)
    twin.set_state_dict(net.state_dict())
    unused = paddle.create_parameter([1], "float32")

    def step_of(model, extra):
        opt = paddle.optimizer.AdamW(0.1, parameters=[*model.parameters(), extra])

        def step(x):
            opt.clear_grad()
            loss = (model(x) ** 2).mean()
            loss.backward()
            opt.step()
            return loss

        return step

    other = paddle.create_parameter([1], "float32")
    other.set_value(unused)
    static, eager = to_static(step_of(net, unused)), step_of(twin, other)
    for i in range(4):
        x = paddle.full([3, 2], float(i + 1))
        np.testing.assert_allclose(static(x).item(), eager(x).item(), rtol=1e-5)
    assert static.get_traced_count() == 1
    np.testing.assert_allclose(net.weight.grad.numpy(), twin.weight.grad.numpy(), rtol=1e-4)
    assert unused.grad is None and unused.item() == other.item()


def test_each_trace_is_explained():
    f = to_static(lambda x, flag=True: x + 1.0 if flag else x)
    f(ONE)
    f(tensor(1.0, 2.0))
    f(ONE, flag=False)
    with paddle.no_grad():
        f(ONE)
    lines = f.explain().splitlines()
    assert "4 traces, 4 programs kept (at most 64)" in lines[0]
    assert "1. float32[1]: first call" in lines[1]
    assert "argument `x` changed from float32[1] to float32[2]" in lines[2]
    assert "argument" in lines[3] and "False" in lines[3]
    assert "the mode changed from gradients on" in lines[4]


def test_a_storm_of_values_names_what_changes():
    box = Config()
    f = to_static(lambda x: x * len(box.k))
    with pytest.warns(UserWarning, match=r"Config.k changed from .*Pass what changes as a tensor"):
        for n in range(9):
            box.k = "k" * n
            f(ONE)


def test_lowering_compiles_without_a_run():
    seen = []

    def body(x):
        seen.append(1)
        return (x @ x).tanh()

    f = to_static(body)
    lowered = f.lower(InputSpec([4, 4], "float32"))
    assert "stablehlo.tanh" in lowered.stablehlo() and "matmul(" in str(lowered.program)
    compiled = lowered.compile()
    assert compiled.cost_analysis()["flops"] >= 64 and compiled.memory_analysis()["argument"] == 64
    assert "HloModule" in compiled.hlo()
    f(paddle.ones([4, 4]))
    assert len(seen) == 1


def test_lowering_with_gradients_and_numbers():
    net = nn.Linear(3, 2)
    f = to_static(lambda x, n: net(x) * n)
    x = paddle.ones([2, 3])
    for n in (1, 2):
        assert f.lower(x, n).compile().memory_analysis()["output"] > 0
    with pytest.raises(ValueError, match="give each dimension a number"):
        f.lower(InputSpec([None, 3], "float32"), 1)


def test_threads_call_one_static_function():
    net = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1D(3), nn.ReLU())
    twin = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1D(3), nn.ReLU())
    twin.set_state_dict(net.state_dict())
    to_static(net.eval())
    twin.eval()
    start, failures = threading.Barrier(4), []

    def work(seed):
        rng = np.random.RandomState(seed)
        start.wait()
        for i in range(12):
            x = paddle.to_tensor(rng.randn(2 + (i + seed) % 5, 3).astype("float32"))
            try:
                with paddle.no_grad():
                    np.testing.assert_allclose(net(x).numpy(), twin(x).numpy(), rtol=1e-4, atol=1e-5)
            except Exception as e:
                failures.append(e)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures and net.forward.get_traced_count() == 5


def test_threads_count_in_one_state():
    total = paddle.zeros([1])

    @to_static
    def add(x):
        total.add_(x)

    def work():
        for _ in range(50):
            add(ONE)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert total.item() == 200.0


def test_programs_that_are_dropped_are_freed():
    f = to_static(lambda x: x + 1.0, cache_size=1)
    f(paddle.ones([2]))
    gone = weakref.ref(f.program_cache[0].executable)
    f(paddle.ones([3]))
    gc.collect()
    assert gone() is None and len(f.cache.history) == 2


def test_the_history_of_traces_is_bounded():
    from paddle_lite_py.jit.cache import HISTORY, Cache, Record

    cache = Cache("f", 4)
    with pytest.warns(UserWarning):
        for i in range(HISTORY + 100):
            cache._note(Record(f"call {i}", "first call", 0.0))
    assert len(cache.history) == HISTORY and cache.count == HISTORY + 100
    assert cache.explain().splitlines()[1].startswith("101. call 100")


def test_the_backward_goes_with_its_function():
    def one():
        w = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
        f = to_static(lambda x: (x * w).sum())
        loss = f(paddle.ones([2]))
        pull = weakref.ref(loss._source.bound)
        del f
        gc.collect()
        assert pull() is not None  # the graph still needs it
        return pull

    gone = one()
    paddle.device.synchronize()  # else it waits for somebody to look
    gc.collect()
    assert gone() is None


def test_programs_of_eager_steps_go_with_the_static_layer_in_them():
    def trained():
        net = to_static(nn.Linear(300, 300))
        opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
        for _ in range(3):
            net(paddle.ones([4, 300])).mean().backward()
            opt.step()
            opt.clear_grad()
        return weakref.ref(net.weight)

    before = len(lazy_program._programs)
    gone = trained()
    for _ in range(2):  # the program of the layer, and what ends with it
        gc.collect()
    assert gone() is None
    assert len(lazy_program._programs) == before
