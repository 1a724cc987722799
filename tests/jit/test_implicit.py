"""What Python calls by itself (operators, iteration, cached properties, formatting) in static code."""

# Programs to convert are odd on purpose.
# ruff: noqa: SIM103, UP031, UP032, PLW0603

from __future__ import annotations

import functools
import itertools
import warnings

import pytest

import paddle_lite_py as paddle
from agreement import SIGNS, agree
from paddle_lite_py.core.errors import TracedValueError

GAIN = 2.0


class Vector:
    """A user's class whose methods all meet a tensor that decides."""

    def __init__(self, t):
        self.t = t

    def _signed(self):
        if self.t.sum() > 0:
            return self.t
        return -self.t * GAIN

    def __add__(self, other):
        t = other.t if self.t.sum() > 0 else -other.t
        return Vector(self.t + t)

    def __iadd__(self, t):
        if t.sum() > 0:
            self.t = self.t + t
        else:
            self.t = self.t - t
        return self

    def __neg__(self):
        return Vector(self._signed())

    def __lt__(self, other):
        if self.t.sum() < other.t.sum():
            return True
        return False

    def __bool__(self):
        return bool(self.t.sum() > 0)

    def __contains__(self, x):
        for i in range(3):
            if self.t[i] == x:
                return True
        return False

    def __iter__(self):
        for i in range(3):
            yield self.t[i] if self.t[i] > 0 else -self.t[i] * GAIN

    @functools.cached_property
    def signed(self):
        if self.t.sum() > 0:
            return self.t
        return -self.t * GAIN

    def __str__(self):
        if self.t.sum() > 0:
            return "up"
        return "down"


def add(x):
    return (Vector(x) + Vector(x * 2)).t


def add_in_place(x):
    v = Vector(x)
    v += x
    return v.t


def negate(x):
    return (-Vector(x)).t


def compare(x):
    return x if Vector(x) < Vector(x * 2) else -x


def truth(x):
    v = Vector(x)
    a = x if v else -x
    b = x + 1 if not v else x
    return a, b, (v and Vector(x * 2)).t, (v or Vector(x * 3)).t


def contain(x):
    return x if 3.0 in Vector(x) else -x, x if -2.0 not in Vector(x) else x * 2


def iterate(x):
    total = x.sum()
    for item in Vector(x):
        total = total + item
    return total


def cached(x):
    v = Vector(x)
    return v.signed + v.signed


def shown(x):
    return x if str(Vector(x)) == "up" else -x


@pytest.mark.parametrize("f", [add, add_in_place, negate, compare, truth, contain, iterate, cached, shown])
@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
def test_methods_that_python_calls(f):
    agree(f, *SIGNS)


def test_the_class_is_left_as_it_was():
    before = dict(vars(Vector))
    agree(negate, *SIGNS)
    assert dict(vars(Vector)) == before


def described(x):
    s = x.sum()
    return "%s|%.2f|%8.3f|%-8.1e|%+d|%05d|100%%" % (s, s, s, s, s, s), "%(s).1f" % {"s": s}, "%d" % s


def formatted(x):
    s = x.sum()
    text = f"up {s:.3f}" if s > 0 else f"down {s:.1f}"
    return {"a": text + "!", "b": [f"{s!r:>80}", str(s), "{:.2f} {}".format(s, "end")]}


@pytest.mark.parametrize("f", [described, formatted])
@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
def test_text_of_tensors_is_returned_as_text(f):
    agree(f, *SIGNS)


def test_text_kept_on_a_layer():
    class Noted(paddle.nn.Layer):
        def forward(self, x):
            self.note = "mean %.1f" % x.mean()
            return x

    layer = paddle.jit.to_static(Noted())
    for value in (1.0, 2.0):
        layer(paddle.full([2], value))
        assert layer.note == f"mean {value}"


def test_too_few_values_for_a_text():
    with pytest.raises(TypeError, match="not enough arguments for format string"):
        paddle.jit.to_static(lambda x: "%d %d" % x)(paddle.ones([]))


# -- what such code reads is looked at before each call ---------------------------------------------------------------


def scaled(x):
    return x * GAIN


@functools.singledispatch
def dispatched(x):
    return x


@dispatched.register
def _(x: paddle.Tensor):
    return x * GAIN


class Meta(type):
    def __mul__(cls, x):
        return x * GAIN


class Multiplier(metaclass=Meta):
    pass


class Descriptor:
    def __get__(self, obj, owner):
        return obj.x * GAIN


class Reader:
    described = Descriptor()

    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        return self.x * GAIN

    def __sub__(self, other):
        return self.x * GAIN - other

    @functools.cached_property
    def cached(self):
        return self.x * GAIN

    @functools.singledispatchmethod
    def chosen(self, x):
        return x * GAIN


partial, remembered = functools.partial(scaled), functools.lru_cache(scaled)
READERS = {
    "partial": lambda x: partial(x),
    "lru_cache": lambda x: remembered(x),
    "singledispatch": lambda x: dispatched(x),
    "metaclass": lambda x: Multiplier * x,
    "descriptor": lambda x: Reader(x).described,
    "getattr": lambda x: Reader(x).anything,
    "operator": lambda x: Reader(x) - 1,
    "cached_property": lambda x: Reader(x).cached,
    "singledispatchmethod": lambda x: Reader(x).chosen(x),
    "accumulate": lambda x: list(itertools.accumulate([x, x], lambda a, b: a + b * GAIN))[1],
    "iteration": lambda x: sum(Vector(-x)),
}


@pytest.mark.parametrize("name", READERS)
def test_a_global_read_behind_the_scenes_is_never_stale(name, monkeypatch):
    f = READERS[name]
    static = paddle.jit.to_static(f)
    x = paddle.to_tensor([1.0, 2.0, 3.0])
    for gain in (2.0, 3.0):
        monkeypatch.setitem(globals(), "GAIN", gain)
        remembered.cache_clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found, expected = static(x), f(x)
        assert found.tolist() == expected.tolist()


class Empty:
    pass


def with_default(obj, x):
    return x * getattr(obj, "gain", 1.0)


def if_there(obj, x):
    return x * (obj.gain if hasattr(obj, "gain") else 1.0)


def on_failure(obj, x):
    try:
        return x * obj.gain
    except AttributeError:
        return x * 1.0


@pytest.mark.parametrize("read", [with_default, if_there, on_failure])
def test_an_attribute_that_was_not_there(read):
    obj = Empty()
    static = paddle.jit.to_static(lambda x: read(obj, x))
    x = paddle.ones([2])
    assert static(x).tolist() == [1.0, 1.0]
    obj.gain = 5.0
    assert static(x).tolist() == [5.0, 5.0]


def test_state_in_slots_and_behind_a_getattr():
    class Slotted:
        __slots__ = ("total",)

    class Guarded:
        def __getattr__(self, name):
            raise AttributeError(f"no {name}")

    slotted, guarded = Slotted(), Guarded()
    slotted.total = paddle.zeros([2])

    @paddle.jit.to_static
    def step(x):
        if x.sum() > 0:
            slotted.total = slotted.total + x
        guarded.last = x * 2
        guarded.count = getattr(guarded, "count", 0) + 1
        return slotted.total

    for value, total, count in ((1.0, 1.0, 1), (2.0, 3.0, 2), (-1.0, 3.0, 3)):
        step(paddle.full([2], value))
        assert slotted.total.tolist() == [total] * 2
        assert guarded.last.tolist() == [2 * value] * 2
        assert guarded.count == count


# -- data that Python looks at ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("look", [lambda t: float(t.numpy()[1]), lambda t: t.tolist()[1], lambda t: t.item(1)])
def test_data_of_a_tensor_from_outside_are_never_stale(look):
    held = paddle.to_tensor([1.0, 2.0])
    static = paddle.jit.to_static(lambda x: x * look(held))
    for value in (2.0, 2.0, 5.0):
        held.set_value(paddle.to_tensor([1.0, value]))
        assert static(paddle.ones([])).item() == value


def test_an_item_of_a_tensor_stays_a_tensor():
    agree(lambda x: x[x.argmax().item()] + x[int(x.argmin())] * x.max().item() - x.item(1), *SIGNS)
    with pytest.raises(ValueError, match=r"item\(\) needs a tensor of one element"):
        paddle.jit.to_static(lambda x: x.item(), full_graph=True)(paddle.ones([2]))


POSITIVES, SUM = 0, 0.0


def counts_in_globals(x):
    global POSITIVES, SUM
    POSITIVES = POSITIVES * 0
    for v in x:
        if v > 0:
            POSITIVES = POSITIVES + 1
            SUM = SUM + v
    return x * POSITIVES


def test_globals_that_branches_of_loops_write():
    static = paddle.jit.to_static(counts_in_globals)
    for numbers, count, total in (([1.0, -2.0, 3.0], 2, 4.0), ([1.0, 1.0, 1.0], 3, 7.0), ([0.0, 0.0, 0.0], 0, 7.0)):
        assert static(paddle.to_tensor(numbers)).tolist() == [n * count for n in numbers]
        assert (int(POSITIVES), float(SUM)) == (count, total)


def test_variables_of_an_outer_function_that_loops_write():
    def make():
        n = 0

        def f(x):
            nonlocal n
            for v in x:
                if v > 0:
                    n = n + 1
                elif v < -1:
                    while n < 3:
                        n = n + 2
            return x * n

        return f

    static, eager = paddle.jit.to_static(make()), make()
    for numbers in SIGNS:
        x = paddle.to_tensor(numbers)
        assert static(x).tolist() == eager(x).tolist()


def local_class(x):
    class Local:
        def __init__(self, t):
            self.t = t

        def __add__(self, other):
            if self.t.sum() > other.t.sum():
                return Local(self.t + other.t)
            return Local(self.t - other.t)

    return (Local(x) + Local(x * 2)).t


class Config:
    """Settings with other names, as PretrainedConfig of PaddleNLP has them."""

    names = {"size": "hidden_size"}

    def __init__(self):
        self.hidden_size = 2

    def __setattr__(self, key, value):
        super().__setattr__(super().__getattribute__("names").get(key, key), value)

    def __getattribute__(self, key):
        if key != "names" and key in super().__getattribute__("names"):
            key = super().__getattribute__("names")[key]
        return super().__getattribute__(key)

    @property
    def sign(self):
        return lambda x: x if x.sum() > 0 else -x


def test_all_reads_of_a_class_are_its_own(tmp_path):
    class Net(paddle.nn.Layer):
        def __init__(self):
            super().__init__()
            self.config = Config()

        def forward(self, x):
            found = self.config.sign(x) * self.config.size
            return found + self.config.hidden_size if isinstance(self.config, Config) else found

    net, x = Net(), paddle.to_tensor([1.0, -3.0])
    assert paddle.jit.to_static(net, full_graph=True)(x).tolist() == [0.0, 8.0]
    paddle.jit.save(net, str(tmp_path / "net"), input_spec=[paddle.static.InputSpec([None], "float32")])
    assert paddle.jit.load(str(tmp_path / "net"))(-x).tolist() == [0.0, 8.0]


@pytest.mark.filterwarnings("ignore:.*has no single static program")
def test_a_class_that_each_trace_makes_anew():
    agree(local_class, *SIGNS)


def test_what_cannot_be_converted_in_it_is_explained():
    class Local:
        @paddle.jit.not_to_static
        def __add__(self, other):
            return other if other > 0 else -other

    with pytest.raises(TracedValueError, match=r"bool\(\) at .*needs the value"):
        paddle.jit.to_static(lambda x: Local() + x.sum(), full_graph=True)(paddle.ones([2]))
