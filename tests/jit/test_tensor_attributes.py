"""Attributes that programs give to tensors: read, written and kept by static functions as by eager ones."""

import numpy as np
import pytest

import paddle_lite_py as paddle
from paddle_lite_py import nn


def tensor(value, **attributes):
    x = paddle.to_tensor([float(value)])
    for name, held in attributes.items():
        setattr(x, name, held)
    return x


def asks(x):
    return x * 2 if getattr(x, "tag", None) == 3 else x


def names_it(x):
    return x * 2 if x.name == "a" else x


def uses_setting(x):
    return x * 2 if x.persistable else x


def uses_rate(x):
    return x * x.optimize_attr["learning_rate"]


def multiplies(x):
    return x * x.by


def of_dict(d):
    return d["a"][0] * d["a"][0].by


def sums(x):
    return x * sum(x.parts)


def counts(x):
    x.n = getattr(x, "n", 0) + 1
    return x + x.n


def notes(x):
    x.seen, x.doubled = 5, x * 2
    return x


def tags(x):
    y = x + 1
    y.tag, y.source, y.itself = "a", x, y
    y.parts = [x * 2]
    return {"k": [y, x * 3]}


def under_condition(x):
    y = x + 1
    y.by = 3
    if x.sum() > 0:
        y.by = 4
        x.by = 1.0
    else:
        x.by = 2.0
    return y * y.by + x.by


def one_of_two(x):
    y = x + 1
    y.tag = 3
    if x.sum() > 0:
        y = x
    return asks(y)


def loops(x):
    i = paddle.to_tensor(0)
    while i < 3:
        x = x * x.by if hasattr(x, "by") else x + 1
        i += 1
    return x


def takes_away(x):
    by = x.by
    del x.by
    return x * by + hasattr(x, "by")


def by_vars(x):
    return x * vars(x).get("by", 1)


def by_dict(x):
    return x * x.__dict__["by"] if "by" in x.__dict__ else x


def all_of_them(x):
    return x * sum(v for k, v in vars(x).items() if k[:2] == "of")


def notes_by_vars(x):
    vars(x)["doubled"] = x * 2
    x.__dict__["seen"] = 5
    return x + 1


def updates(x):
    vars(x).update(doubled=x * 2)
    return x + 1


def hides(x):
    x.scale = 3.0  # a method of tensors
    return x * x.scale


def changing(f, *changes):
    x, found = tensor(1), []
    for change in (lambda x: None, *changes):
        change(x)
        found.append(f(x))
    return found


def on_new(f, *given):
    found = []
    for value, attributes in given:
        x = tensor(value, **attributes)
        found += [f(x), {k: v for k, v in vars(x).items() if k[0] != "_"}]
    return found


def tag(value):
    return lambda x: setattr(x, "tag", value)


def untag(x):
    del x.tag


CASES = {
    "changed and deleted": (asks, lambda f: changing(f, tag(3), tag(4), tag(3), untag, tag(3.0))),
    "a name": (names_it, lambda f: changing(f, lambda x: setattr(x, "name", "a"), lambda x: setattr(x, "name", "b"))),
    "a setting": (uses_setting, lambda f: changing(f, lambda x: setattr(x, "persistable", True))),
    "a dict of settings": (uses_rate, lambda f: changing(f, lambda x: x.optimize_attr.update(learning_rate=3.0))),
    "tensors": (multiplies, lambda f: on_new(f, *[(1, {"by": tensor(i)}) for i in range(3)])),
    "arrays": (multiplies, lambda f: on_new(f, *[(1, {"by": np.full(1, i, "float32")}) for i in range(3)])),
    "in a dict": (of_dict, lambda f: [f({"a": [tensor(1, by=i)]}) for i in (1, 1, 2)]),
    "lists": (sums, lambda f: (p := [1], x := tensor(1, parts=p), f(x), p.append(4), f(x))),
    "a counter": (counts, lambda f: (x := tensor(1), [f(x) for _ in range(3)], x.n)),
    "written": (notes, lambda f: on_new(f, (1, {}), (2, {}), (3, {"seen": 1}))),
    "of the argument, returned": (notes, lambda f: (x := tensor(1), f(x) is x)),
    "under a condition": (under_condition, lambda f: on_new(f, (1, {}), (-2, {}))),
    "one of two tensors": (one_of_two, lambda f: [f(tensor(v)) for v in (1, -2)] + [f(tensor(1, tag=3))]),
    "one of two tensors, the second": (one_of_two, lambda f: [f(tensor(v, tag=t)) for t in (1, 3) for v in (-2, 1)]),
    "in a loop": (loops, lambda f: on_new(f, (1, {}), (1, {"by": 2}), (1, {"by": 3}))),
    "taken away": (takes_away, lambda f: on_new(f, (1, {"by": 2}), (1, {"by": 3}))),
    "by vars()": (by_vars, lambda f: on_new(f, *[(1, {"by": i} if i else {}) for i in (0, 2, 3, 0)])),
    "by their dict": (by_dict, lambda f: on_new(f, *[(1, {"by": i} if i else {}) for i in (0, 2, 3, 0)])),
    "all of them": (all_of_them, lambda f: on_new(f, *[(1, {f"of{k}": k for k in range(n)}) for n in (2, 3, 1)])),
    "written by vars()": (notes_by_vars, lambda f: on_new(f, (1, {}), (2, {}), (3, {"seen": 1}))),
    "in the place of a method": (hides, lambda f: on_new(f, (1, {}), (2, {}))),
}


def plain(value):
    if isinstance(value, paddle.Tensor):
        return value.tolist()
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    return [*map(plain, value)] if isinstance(value, list | tuple) else value


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.unrolled.DataDependentWarning")
@pytest.mark.parametrize("name", CASES)
def test_as_eager(name):
    f, run = CASES[name]
    static = paddle.jit.to_static(f)
    assert plain(run(static)) == plain(run(f))
    assert len(static.cache)


@pytest.mark.filterwarnings("ignore:.*cannot be staged as a whole")
def test_a_dict_of_attributes_is_changed():
    f = paddle.jit.to_static(updates)
    assert plain(on_new(f, (1, {}), (2, {}))) == plain(on_new(updates, (1, {}), (2, {})))


@pytest.mark.parametrize("read", [lambda t: vars(t).get("by", 1), lambda t: getattr(t, "_y".replace("_", "b"), 1)])
def test_attributes_that_the_code_does_not_name(read):
    held = tensor(1)
    f = paddle.jit.to_static(lambda x: x * read(held))
    assert [f(tensor(2)).item(), setattr(held, "by", 3), f(tensor(2)).item()] == [2, None, 6]
    held.by = 4
    assert f(tensor(2)).item() == 8


def test_results_have_what_they_were_given():
    f = paddle.jit.to_static(tags)
    for value in (1.0, 2.0):
        x = tensor(value)
        first, second = f(x)["k"]
        assert first.tag == "a" and first.source is x and first.itself is first
        assert first.parts[0].item() == value * 2 and not hasattr(second, "tag")


def test_gradients_of_what_an_argument_holds():
    f = paddle.jit.to_static(lambda x: (x * x.by).sum())
    x, by = tensor(2), tensor(3)
    x.stop_gradient = by.stop_gradient = False
    x.by = by
    f(x).backward()
    assert (x.grad.item(), by.grad.item()) == (3, 2)


def test_attributes_of_tensors_from_outside():
    weight, net = tensor(1), nn.Linear(1, 1, bias_attr=False)

    @paddle.jit.to_static
    def f(x):
        weight.uses = getattr(weight, "uses", 0) + 1
        weight.last = x * 2
        return net(x) * getattr(net.weight, "by", 1)

    first = [f(tensor(1)).item() for _ in range(3)][0]
    assert (weight.uses, weight.last.item()) == (3, 2)
    net.weight.by = 3
    assert f(tensor(2)).item() == pytest.approx(first * 6) and weight.last.item() == 4


def test_what_is_not_asked_for_is_no_reason_for_more_traces():
    f = paddle.jit.to_static(lambda x: x + 1)
    for i in range(3):
        f(tensor(i, number=i))
    assert f.cache.count == 1
    g = paddle.jit.to_static(multiplies)
    for i in (1, 2, 1, 2):
        g(tensor(1, by=i))
    assert g.cache.count == 2 and "x.by changed from 1 to 2" in g.explain()


def test_a_file_holds_results_without_them(tmp_path):
    class Net(nn.Layer):
        def forward(self, x):
            y = x + 1
            y.tag = "a"
            return y

    paddle.jit.save(Net(), str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([None, 1])])
    assert paddle.jit.load(str(tmp_path / "m"))(paddle.ones([1, 1])).item() == 2


def test_a_missing_attribute_is_named():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'missing'"):
        paddle.jit.to_static(lambda x: x.missing)(tensor(1))
