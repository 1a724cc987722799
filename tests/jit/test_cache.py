"""The programs of a static function: never stale, bounded, explained; numbers as inputs; threads."""

from __future__ import annotations

import collections
import dataclasses
import gc
import threading
import types
import weakref

import numpy as np
import pytest
from paddle_lite_py.jit import InputSpec, reads, to_static
from paddle_lite_py.jit.guards import Lacking

import paddle_lite_py as paddle
from paddle_lite_py import nn


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


ONE = tensor(1.0)


# -- never stale ---------------------------------------------------------------------------------------------------
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


@dataclasses.dataclass(slots=True)
class Slots:
    k: float = 3.0


def changed(body, change, *args):
    """The results of a static function before and after a change, and those of the function as it is."""
    static = to_static(body)
    got = [static(*args).tolist()]
    plain = [body(*args).tolist()]
    change()
    got.append(static(*args).tolist())
    plain.append(body(*args).tolist())
    assert plain[0] != plain[1], "the change must matter"
    return got, plain


config = Config()
slots = Slots()
settings = types.ModuleType("settings_of_a_user")
settings.K = 2.0
table = np.array([1.0, 2.0], "float32")
weights = [tensor(1.0), tensor(2.0)]
many = list(range(100))


def helper(x):
    return x * config.k


def by_default(x, factor=[2.0]):  # noqa: B006
    return x * factor[0]


def set_class_attribute():
    Config.scale = 9.0


class Plain:
    """No layer: its state is its own."""

    factor = 1.0

    def scaled(self, x):
        return x * self.factor


plain_object = Plain()

CHANGES = {
    "attribute of self": (plain_object.scaled, lambda: setattr(plain_object, "factor", 3.0)),
    "attribute of a global object": (lambda x: x * config.k, lambda: setattr(config, "k", 5.0)),
    "read by a helper": (lambda x: helper(x) + 1.0, lambda: setattr(config, "k", 6.0)),
    "read by a property": (lambda x: x * config.twice, lambda: setattr(config, "k", 7.0)),
    "read by a method": (lambda x: x * config.get(), lambda: setattr(config, "k", 8.0)),
    "by getattr": (lambda x: x * getattr(config, "".join(["k"])), lambda: setattr(config, "k", 9.0)),
    "class attribute": (lambda x: x * config.scale, set_class_attribute),
    "nested containers": (lambda x: x + config.inner["bias"][1], lambda: config.inner["bias"].__setitem__(1, 7.0)),
    "length of a list": (lambda x: x + len(config.inner["bias"]), lambda: config.inner["bias"].append(0.0)),
    "slots": (lambda x: x * slots.k, lambda: setattr(slots, "k", 5.0)),
    "module": (lambda x: x * settings.K, lambda: setattr(settings, "K", 4.0)),
    "numpy array": (lambda x: x + table, lambda: table.__setitem__(0, 5.0)),
    "tensor in a list": (lambda x: x + weights[0], lambda: weights.__setitem__(0, tensor(9.0))),
    "a long list": (lambda x: x + many[70], lambda: many.__setitem__(70, -1)),
    "default argument": (by_default, lambda: by_default.__defaults__[0].__setitem__(0, 4.0)),
    "monkeypatched method": (lambda x: x * config.get(), lambda: setattr(Config, "get", lambda self: 11.0)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name):
    body, change = CHANGES[name]
    got, plain = changed(body, change, ONE)
    assert got == plain


def test_a_change_of_an_object_argument_is_seen():
    given = Config()
    got, plain = changed(lambda x, c: x * c.k, lambda: setattr(given, "k", 4.0), ONE, given)
    assert got == plain


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.sizes = [1.0, 2.0]
        self.cfg = Config()
        self.register_buffer("b", tensor(1.0))

    def forward(self, x):
        return x * self.sizes[0] + self.cfg.k + self.b


@pytest.mark.parametrize(
    "change",
    [
        lambda net: net.sizes.__setitem__(0, 5.0),
        lambda net: setattr(net, "sizes", [7.0]),
        lambda net: setattr(net.cfg, "k", 8.0),
        lambda net: setattr(net, "b", tensor(9.0)),
        lambda net: setattr(net, "cfg", types.SimpleNamespace(k=1.5)),
        lambda net: net.register_forward_post_hook(lambda layer, args, out: out * 2.0),
    ],
    ids=["item", "list", "nested object", "buffer", "object", "hook"],
)
def test_a_change_of_a_layer_is_seen(change):
    net, twin = to_static(Net()), Net()
    assert net(ONE).tolist() == twin(ONE).tolist()
    change(net)
    change(twin)
    assert net(ONE).tolist() == twin(ONE).tolist()


def test_installed_packages_are_not_searched_for_settings():
    from paddle_lite_py.jit.reads import is_foreign

    assert all(map(is_foreign, ("pytest", "numpy.linalg", "json", "paddle_lite_py.nn.layer")))
    assert not is_foreign("__main__") and not is_foreign(__name__)


class Node:
    def __init__(self, children):
        self.children = children

    def __getattr__(self, name):
        raise AttributeError(name)


def test_what_many_objects_lack_is_one_guard_for_each():
    tree = Node([Node([]) for _ in range(50)])

    def f(x):
        try:
            return x * tree.children[0].weight
        except AttributeError:
            return x

    walk = reads.guards_of(f, [], [], [])
    assert sum(isinstance(g, Lacking) for g in walk) == 51 and len(walk) < 300
    static = to_static(f)
    assert static(ONE).item() == 1.0
    tree.children[0].weight = 3.0
    assert static(ONE).item() == 3.0
    assert any("weight" in g.change() for g in walk if not g.holds())


class Fixed(collections.OrderedDict):
    """A result that refuses to lose a key, as those of published models do."""

    def __delitem__(self, key):
        raise TypeError("keys stay")


def test_dicts_that_refuse_to_lose_a_key_may_be_made_in_a_static_function():
    last = Fixed()

    def f(x):
        last["out"] = x * 2
        return Fixed(out=x + 1)["out"] + last["out"]

    static = to_static(f)
    assert [static(tensor(v)).item() for v in (1.0, 2.0)] == [4.0, 7.0] and last["out"].item() == 4.0


def test_what_the_code_does_not_name_may_change_freely():
    state = Config()
    f = to_static(lambda x: x * state.k)
    for i in range(5):
        state.unrelated = i
        f(ONE)
    assert f.get_traced_count() == 1


def test_a_log_of_traces_is_no_reason_for_another():
    traces = []

    @to_static
    def f(x):
        traces.append(x.shape)
        return x + 1.0

    for n in (1, 2, 1, 2):
        f(paddle.ones([n]))
    assert traces == [[1], [2]]


def test_tensors_that_a_run_replaces_are_followed():
    holder = types.SimpleNamespace(h=tensor(0.0), store={"h": tensor(0.0)})

    @to_static
    def f(x):
        holder.h = holder.h + x
        holder.store["h"] = holder.store["h"] + 2.0 * x
        return holder.h

    assert [f(ONE).item() for _ in range(3)] == [1.0, 2.0, 3.0]
    assert holder.store["h"].item() == 6.0 and f.get_traced_count() == 1


def test_switches_of_the_thread_are_part_of_the_key():
    f = to_static(lambda x: paddle.zeros([1]) + x.astype(paddle.get_default_dtype()))
    assert f(ONE).dtype == paddle.float32
    paddle.set_default_dtype("float64")
    try:
        assert f(ONE).dtype == paddle.float64
    finally:
        paddle.set_default_dtype("float32")
    assert f(ONE).dtype == paddle.float32 and f.get_traced_count() == 2


# -- numbers -------------------------------------------------------------------------------------------------------
def test_a_number_becomes_an_input_after_its_second_value():
    f = to_static(lambda x, n, rate=0.5: x * n + (n + 1) * rate)
    for n in range(2, 10):
        assert f(ONE, n).item() == n + (n + 1) * 0.5
        assert f(ONE, n, rate=0.25).item() == n + (n + 1) * 0.25
    assert f.get_traced_count() == 4


def test_numbers_keep_the_dtype_that_eager_gives():
    def body(x, n):
        return x * n

    for x in (tensor(2, dtype="int32"), tensor(2.0), tensor(2.0, dtype="float16")):
        f = to_static(body)
        for n in (1, 2, 3, 1.5, 2.5, 3.5):
            got, want = f(x, n), body(x, n)
            assert got.dtype == want.dtype and got.tolist() == want.tolist()


def test_a_number_that_decides_is_seen():
    def body(x, n):
        if n > 4:
            return x * n
        return x - n

    f = to_static(body)
    for n in range(10):
        assert f(ONE, n).item() == body(ONE, n).item()
    assert f.get_traced_count() == 3  # the first value, and n on either side of the test


def counted(x, n):
    for _ in range(n):
        x = x + 1.0
    return x


@pytest.mark.parametrize(
    "body",
    [
        counted,
        lambda x, n: x.reshape([1, 1]).tile([n, 1]).sum(),
        lambda x, n: x + {1: 1.0, 2: 2.0, 3: 3.0}[n],
        lambda x, n: x + float(f"{n}.5"),
        lambda x, n: x + (1.0 if isinstance(n, int) else 2.0),
        lambda x, n: x + np.full([1], n, "float32"),
        lambda x, n: x + 1.0 / n + n**2 - n // 2 + n % 2 - (2**n) + abs(-n),
        lambda x, n: x + [5.0, 6.0, 7.0, 8.0][n],
        lambda x, n: x + (n << 1) + (n & 1) + divmod(n, 2)[1] + round(n / 3),
        lambda x, n: x + min(n, 2) + max(n, 2) + sum([n, n]),
        lambda x, n: paddle.full([1], n) + x,
        lambda x, n: x * (n if n else 0.5) + (n != 2) + (n == 3) + (n in (1, 2)),
        lambda x, n: paddle.where(x > n, x, x * n),
    ],
)
def test_numbers_mean_what_they_mean_to_python(body):
    f = to_static(body)
    for n in (1, 2, 3, 1, 2, 3):
        np.testing.assert_allclose(f(ONE, n).numpy(), body(ONE, n).numpy(), rtol=1e-6)


def test_numbers_come_back_as_numbers():
    f = to_static(lambda x, n: (x * n, n, [n + 1]))
    for n in (1, 2, 3):
        assert f(ONE, n)[1:] == (n, [n + 1])
        assert type(f(ONE, n)[1]) is int


def test_python_errors_of_numbers_are_those_of_python():
    f = to_static(lambda x, n: x + 1.0 / n)
    f(ONE, 1), f(ONE, 2), f(ONE, 3)
    with pytest.raises(ZeroDivisionError):
        f(ONE, 0)
    assert f(ONE, 4).item() == 1.25


class Counting(nn.Layer):
    def __init__(self):
        super().__init__()
        self.steps, self.rate = 0, 1.0

    def forward(self, x):
        self.steps += 1
        self.rate = self.rate * 0.5
        if self.steps == 5:
            x = x + 100.0
        return x * self.steps + self.rate


class PlainCounting:
    steps, rate = 0, 1.0

    def __init__(self):
        self.steps, self.rate = 0, 1.0

    __call__ = Counting.forward


@pytest.mark.parametrize("kind", [Counting, PlainCounting])
def test_counters_on_objects_are_inputs(kind):
    static, eager = kind(), kind()
    run = to_static(static) if kind is Counting else to_static(static.__call__)
    for i in range(8):
        assert run(ONE).tolist() == eager(ONE).tolist()
        assert (static.steps, static.rate) == (eager.steps, eager.rate) and type(static.steps) is int
        if i == 6:
            static.steps = eager.steps = 40
    traced = static.forward if kind is Counting else run
    assert traced.get_traced_count() <= 4, traced.explain()  # first, as inputs, and the fifth step


def test_a_counter_that_is_no_number_any_more():
    box = Config()
    f = to_static(lambda x: x if box.k is None else x * box.k)
    for k in (1.0, 2.0, 3.0, None, 4.0, 5, 6):
        box.k = k
        assert f(ONE).item() == (1.0 if k is None else float(k))


# -- containers ----------------------------------------------------------------------------------------------------
def filling(outs, table, x):
    outs.append(x * 2.0)
    table["y"] = {"z": x + 1.0}
    outs[0] = outs[0] + x
    return outs, {"again": table["y"]}


def test_containers_among_the_arguments_get_what_is_put_into_them():
    static = to_static(filling)
    for v in (1.0, 2.0):
        results = []
        for run in (static, filling):
            outs, table = [tensor(0.0)], {}
            got, again = run(outs, table, tensor(v))
            assert got is outs
            results.append(str((outs, table, again)))
        assert results[0] == results[1]
    assert static.get_traced_count() == 1


# -- the cache -----------------------------------------------------------------------------------------------------
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


# -- ahead of time -------------------------------------------------------------------------------------------------
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


# -- threads -------------------------------------------------------------------------------------------------------
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


# -- memory --------------------------------------------------------------------------------------------------------
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
