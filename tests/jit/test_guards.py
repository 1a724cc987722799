"""What a static function read is a guard: a program is never stale, and what it did not read changes freely."""

from __future__ import annotations

import collections
import contextvars
import dataclasses
import types

import numpy as np
import pytest
from paddle_lite_py.jit import reads, to_static
from paddle_lite_py.jit.code_facts import Codebase
from paddle_lite_py.jit.guards import Lacking

import paddle_lite_py as paddle
from paddle_lite_py import nn


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


def by_keyword(x, *, factor=2.0):
    return x * factor


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
    "keyword's default": (by_keyword, lambda: setattr(by_keyword, "__kwdefaults__", {"factor": 5.0})),
    "that of a function that is called": (
        lambda x: by_keyword(x + 1),
        lambda: setattr(by_keyword, "__kwdefaults__", {"factor": 7.0}),
    ),
    "monkeypatched method": (lambda x: x * config.get(), lambda: setattr(Config, "get", lambda self: 11.0)),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_seen(name, monkeypatch):
    monkeypatch.setattr(Config, "get", Config.get)  # it is that again afterwards
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


def test_near_objects_are_looked_at_before_those_behind_others(monkeypatch):
    """There may be more than are looked at."""
    monkeypatch.setattr(reads, "MAX_OBJECTS", 60)
    deep = chain = Config()
    for _ in range(200):
        deep.k = deep.inner = deep = Config()
    held = Config()

    def f(x):
        return x * held.k + (0 if chain.k.inner is None else 1)

    static = to_static(f)
    assert static(ONE).item() == 4.0
    held.k = 5.0
    assert static(ONE).item() == 6.0


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

    walk, *_ = reads.guards_of(f, [], [], [], Codebase())
    objects = [g for g in walk if isinstance(g, Lacking) and g.name[0] != "`"]  # the others are functions
    assert len(objects) == 51 and len(walk) < 300
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


def test_a_log_is_written_by_each_call_and_no_reason_for_another_trace():
    seen = []

    @to_static
    def f(x):
        seen.append(x.shape)
        return x + 1.0

    for n in (1, 2, 1, 2):
        f(paddle.ones([n]))
    assert seen == [[1], [2], [1], [2]]
    assert len(f.program_cache) == 2


class Log:
    def __init__(self):
        self.entries = []

    def __enter__(self):
        self.entries.append("in")

    def __exit__(self, kind, *_):
        self.entries.append(kind and kind.__name__)


def test_a_log_is_written_once_by_a_call_that_raises():
    @to_static
    def f(x, log, k):
        with log:
            if k:
                raise ValueError("no")
            return x + 1.0

    log = Log()
    for k in (0, 1, 0, 1):
        if k:
            with pytest.raises(ValueError, match="no"):
                f(paddle.ones([1]), log, k)
        else:
            f(paddle.ones([1]), log, k)
    assert log.entries == ["in", None, "in", "ValueError"] * 2


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
    for default in ("float32", "float64", "float32"):
        paddle.set_default_dtype(default)
        assert {f(ONE).dtype.name for _ in range(3)} == {default}
    assert f.get_traced_count() == 2


number = None


@pytest.mark.parametrize("where", ["global", "attribute", "item", "in a tuple", "closure"])
def test_numbers_are_told_by_kind(where):
    global number
    held, box, cell = types.SimpleNamespace(number=None), {}, None
    reads_of = {
        "global": lambda x: (x * 0 + 1) / number,
        "attribute": lambda x: (x * 0 + 1) / held.number,
        "item": lambda x: (x * 0 + 1) / box["number"],
        "in a tuple": lambda x: (x * 0 + 1) / box["all"][0],
        "closure": lambda x: (x * 0 + 1) / cell,
    }
    f, ints = to_static(reads_of[where]), paddle.to_tensor([2])
    for value in (0.0, -0.0, 0, 1, 1.0, True, -0.0, 0.0):
        number = held.number = box["number"] = cell = value
        box["all"] = (value,)
        for _ in range(2):
            found, right = f(ints), reads_of[where](ints)
            assert (found.dtype, str(found.item())) == (right.dtype, str(right.item()))


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


def fill(layer, seed=0):
    rng = np.random.RandomState(seed)
    for p in layer.parameters():
        p.set_value((rng.rand(*p.shape) - 0.4).astype("float32"))
    return layer


def test_parameters_may_be_replaced_between_calls():
    net = to_static(fill(nn.Linear(2, 1)))
    x = paddle.ones([1, 2])
    net(x)
    net.weight.set_value(np.zeros((2, 1), "float32"))
    net.bias.set_value(np.ones(1, "float32"))
    assert net(x).tolist() == [[1.0]]
    net.weight = paddle.create_parameter([2, 1], "float32", default_initializer=nn.initializer.Constant(2.0))
    assert net(x).tolist() == [[5.0]]


GLOBAL = 2.0


def uses_global(x):
    return x * GLOBAL


def test_a_variable_without_a_value_stays_so():
    def made():
        def f(x):
            if x.shape[0] > 2:
                return x * late
            return x * 2

        def bind(value):
            nonlocal late
            late = value

        if False:
            late = 0
        return to_static(f), bind

    f, bind = made()
    assert f(tensor(1.0)).tolist() == [2.0] and f.get_traced_count() == 1
    with pytest.raises(NameError, match="late"):
        f(paddle.ones([3]))
    bind(3.0)
    assert f(paddle.ones([3])).tolist() == [3.0] * 3 and f(tensor(1.0)).tolist() == [2.0]

    unset = contextvars.ContextVar("unset")
    g = to_static(lambda x: x if x.shape[0] < 2 else x * unset.get())
    assert g(tensor(1.0)).tolist() == [1.0] and unset.get("nothing") == "nothing"
    unset.set(2.0)
    assert g(paddle.ones([2])).tolist() == [2.0, 2.0]


@pytest.mark.parametrize("form", ["list", "keyword", "beside the layer"])
def test_an_argument_that_an_optimizer_trains_is_its_parameter(form):
    def step(x, opt, weights=(), w=None, net=None):
        w = weights[0] if w is None else w
        loss = ((x @ w) ** 2).sum() if net is None else ((x @ w + net(x)) ** 2).sum()
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    def losses(static):
        net = nn.Linear(2, 1, bias_attr=False)
        net.weight.set_value(paddle.ones([2, 1]))
        opt = paddle.optimizer.SGD(0.01, parameters=net.parameters())
        given = {"list": {"weights": [net.weight]}, "keyword": {"w": net.weight}}
        given = given.get(form, {"w": net.weight, "net": net})
        f = to_static(step) if static else step
        return [f(paddle.ones([3, 2]), opt, **given).item() for _ in range(3)]

    np.testing.assert_allclose(losses(True), losses(False), rtol=1e-6)


def test_changed_globals_closures_and_attributes_are_seen(monkeypatch):
    f = to_static(uses_global)
    assert f(tensor(1.0)).tolist() == [2.0]
    monkeypatch.setitem(globals(), "GLOBAL", 5.0)
    assert f(tensor(1.0)).tolist() == [5.0]
    k = 1.0
    g = to_static(lambda x: x * k)
    assert g(tensor(1.0)).tolist() == [1.0]
    k = 4.0
    assert g(tensor(1.0)).tolist() == [4.0]
    assert "closure variable `k` changed from 1.0 to 4.0" in g.retraces[-1]

    class Scale(nn.Layer):
        def __init__(self):
            super().__init__()
            self.k = 2.0

        def forward(self, x):
            return x * self.k

    layer = to_static(Scale())
    assert layer(tensor(1.0)).tolist() == [2.0]
    layer.k = 7.0
    assert layer(tensor(1.0)).tolist() == [7.0]


@pytest.mark.parametrize("decorate", [paddle.no_grad(), paddle.enable_grad()])
def test_what_a_function_behind_a_decorator_of_the_framework_reads_is_seen(decorate):
    box = types.SimpleNamespace(calls=0, positive=0)

    @decorate
    def count(x):
        box.calls += 1
        if x > 0:
            box.positive += 1
        return x * box.calls

    f = to_static(count)
    assert [f(tensor(v)).item() for v in (1.0, -1.0, 2.0)] == [1.0, -2.0, 6.0]
    assert (box.calls, box.positive) == (3, 2)
    box.calls = 9
    assert f(tensor(1.0)).item() == 10.0


def test_code_that_is_replaced_is_another_function():
    class Model:
        def add(self, x):
            return x + 1

    def called(x):
        return x * 2

    model, x = Model(), paddle.ones([1])
    f = paddle.jit.to_static(lambda x: model.add(called(x)), full_graph=True)
    own = paddle.jit.to_static(lambda x: x + 1)
    assert [f(x).item(), f(x).item(), own(x).item(), own(x).item()] == [3.0, 3.0, 2.0, 2.0]
    called.__code__ = (lambda x: x * 10).__code__
    assert f(x).item() == 11.0 and f.retraces[-1].endswith("the code of `called` changed")
    Model.add.__code__ = (lambda self, x: x + 5).__code__
    assert f(x).item() == 15.0 and f.get_traced_count() == 3
    own.dygraph_function.__code__ = (lambda x: x + 7).__code__
    assert own(x).item() == 8.0


def test_the_last_program_serves_as_gradients_are_recorded():
    f = to_static(lambda x: (x * x).sum())
    x = tensor(1.0, 2.0, stop_gradient=False)
    for enabled in (False, True, False):
        with paddle.set_grad_enabled(enabled):
            for _ in range(3):
                out = f(x)
                assert out.stop_gradient is not enabled and out.item() == 5


def test_a_hook_that_is_added_is_called():
    w = paddle.create_parameter([2], "float32")

    def step():
        (w * 2).sum().backward()
        found = w.grad * 1
        w.clear_gradient(set_to_zero=False)
        return found

    f = to_static(step)
    assert [f().tolist() for _ in range(3)] == [[2, 2]] * 3
    hook = w.register_hook(lambda grad: grad * 5)
    assert [f().tolist() for _ in range(2)] == [[10, 10]] * 2
    hook.remove()
    assert f().tolist() == [2, 2]


def test_a_parameter_in_another_dtype_is_seen():
    layer = nn.Linear(2, 2)
    f = to_static(lambda x: x.astype(layer.weight.dtype))
    x = paddle.ones([1, 2])
    for dtype in ("float32", "float64", "float16"):
        layer.to(dtype=dtype)
        assert {f(x).dtype.name for _ in range(3)} == {dtype}
