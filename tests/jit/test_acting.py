"""What acts on the world acts once a run, where eager code would, or is refused by name."""

from __future__ import annotations

import argparse
import collections
import copy
import datetime
import functools
import hashlib
import importlib.util
import inspect
import io
import json
import logging
import os
import pathlib
import pprint
import socket
import sqlite3
import sys
import textwrap
import threading
import time
import traceback
import warnings

import numpy as np
import pytest
from paddle_lite_py.jit.errors import StagingError

import paddle_lite_py as paddle
from tables.acting_cases import EXACT, OTHERS, REFUSED, text_of

CALLS = ([-1.0], [2.0], [2.0], [-1.0])


@pytest.fixture(autouse=True)
def world(tmp_path, monkeypatch):
    """Put back what cases change; `others` is a package that somebody has installed."""
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "others.py").write_text(OTHERS)
    monkeypatch.syspath_prepend(str(tmp_path / "site-packages"))
    monkeypatch.delitem(sys.modules, "others", raising=False)
    monkeypatch.setenv("ACTING_READ", "1")
    streams = sys.stdout, sys.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", "`.*` cannot be staged|.*no single static program|unclosed")
        yield
    sys.stdout, sys.stderr = streams
    os.environ.pop("ACTING", None)
    monkeypatch.delitem(sys.modules, "others", raising=False)


def module_of(case, folder):
    """A module of a case, whose files are in that folder; of one name, since logs and warnings have it."""
    folder.mkdir()
    (folder / "files").mkdir()
    os.environ.pop("ACTING", None)
    file = folder / "acting_case.py"
    file.write_text(text_of(case, str(folder / "file"), str(folder / "files")))
    spec = importlib.util.spec_from_file_location("acting_case", file)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def done(case, folder, wrap):
    """What calls give, and what they have done after each of them."""
    module, found = module_of(case, folder), []
    f = wrap(module.f)
    for numbers in CALLS:
        found.append((np.asarray(f(paddle.to_tensor(numbers))).tolist(), str(module.show())))
    close(module)
    return found


def close(module):
    """Close what a case has opened."""
    for held in list(vars(module).values()):
        if isinstance(held, io.IOBase | socket.socket | sqlite3.Connection):
            held.close()


def static(f):
    return paddle.jit.to_static(f, full_graph=True)


@pytest.mark.parametrize("name", EXACT)
def test_each_run_acts_where_eager_code_does(name, tmp_path):
    expected = done(EXACT[name], tmp_path / "eager", lambda f: f)
    assert done(EXACT[name], tmp_path / "static", static) == expected


@pytest.mark.parametrize("name", REFUSED)
def test_what_python_needs_at_once_is_refused_or_left_to_python(name, tmp_path):
    case = REFUSED[name]
    expected = done(case, tmp_path / "eager", lambda f: f)
    assert done(case, tmp_path / "static", paddle.jit.to_static) == expected
    module = module_of(case, tmp_path / "whole")
    with pytest.raises(StagingError, match=rf"call of `[\w.]*{case.name}.* at acting_case.py:\d+ cannot be part"):
        static(module.f)(paddle.to_tensor([2.0]))
    close(module)


def test_a_saved_program_does_not_act_and_says_so(tmp_path):
    module = module_of(EXACT["write"], tmp_path / "case")
    prefix = str(tmp_path / "saved")
    with pytest.warns(UserWarning, match=r"it calls `_io.TextIOWrapper.write` at acting_case.py:\d+, .* does not do"):
        paddle.jit.save(module.f, prefix, [paddle.static.InputSpec([None])])
    assert paddle.jit.load(prefix)(paddle.to_tensor([2.0])).tolist() == [3.0] and module.show() == ""
    close(module)
    text = io.StringIO()
    with pytest.raises(ValueError, match="calls the Python function `_io.StringIO.write`, which no file can hold"):
        paddle.jit.save(lambda x: x + text.write(f"{x.sum().item()}"), prefix, [paddle.static.InputSpec([None])])
    module = module_of(REFUSED["time"], tmp_path / "time")
    with pytest.raises(StagingError, match="the time at once"):
        paddle.jit.save(module.f, prefix, [paddle.static.InputSpec([None])])


def test_what_the_world_tells_is_a_condition(tmp_path):
    f = static(lambda x, path: x + (10 if os.path.exists(path) else 0))
    assert [f(paddle.ones([1]), str(tmp_path / "a")).item() for _ in range(2)] == [1.0, 1.0]
    assert f.get_traced_count() == 1
    (tmp_path / "a").touch()
    assert f(paddle.ones([1]), str(tmp_path / "a")).item() == 11.0
    assert f.retraces[-1].endswith("what `genericpath.exists` gave when it was traced, False, changed")


def test_what_python_raises_in_a_run_is_raised():
    log, f = open(os.devnull, "w"), static(lambda x, log: (log.write("a"), x + 1)[1])
    assert f(paddle.ones([1]), log).item() == 2.0
    log.close()
    logging.getLogger("jax._src.callback").disabled = True  # it tells of errors in callbacks
    for _ in range(2):
        with pytest.raises(ValueError, match="closed file"):
            f(paddle.ones([1]), log)


def test_a_gradient_does_not_act_again(capsys):
    @static
    def f(x):
        for _ in range(x.astype("int64").sum()):
            print("step", file=sys.stdout)
            x = x * 1.0
        return x.sum()

    x = paddle.to_tensor([3.0], stop_gradient=False)
    f(x).backward()
    assert x.grad.tolist() == [1.0] and capsys.readouterr().out == "step\n" * 3


def test_what_a_call_gives_is_a_number_or_refused():
    text = io.StringIO()

    def write(x):
        return x + text.write(f"{x.sum().item()}")

    def write_in_a_loop(x):
        i = paddle.zeros([])
        while i < x.sum():
            i += text.write(f"{x.sum().item()}")
        return x

    assert static(write)(paddle.to_tensor([10.0])).item() == 14.0 and text.getvalue() == "10.0"
    with pytest.raises(NameError, match="_io.StringIO.write"):
        static(write_in_a_loop)(paddle.to_tensor([10.0]))
    assert paddle.jit.to_static(write_in_a_loop)(paddle.to_tensor([4.0])).item() == 4.0
    assert text.getvalue() == "10.0" + "4.0" * 2


def decided(x, text):
    """What a loop computes decides the shape of the result."""
    i = paddle.zeros([])
    while i < x.sum():
        print("step", file=text)
        i += 1
    y = x
    if i > 1:
        y = x.reshape([1, 1])
    return [v for v in y]  # noqa: C416


def long(x, text):
    """A loop whose gradient needs more room than there is at first."""
    y, i = x * 1.0, paddle.zeros([])
    while i < 200:
        print("step", file=text)
        y, i = y * 1.001, i + 1
    return y


RATE = paddle.optimizer.lr.StepDecay(1.0, 2)


def stepped(x, text):
    """A schedule that steps more often than its table has room for at first."""
    i = paddle.zeros([])
    while i < x.sum() * 4:
        print(RATE.get_lr(), file=text)
        RATE.step()
        i += 1
    return x


@pytest.mark.parametrize("f", [decided, long, stepped])
def test_a_run_that_would_have_to_be_repeated_acts_once(f):
    static_form = paddle.jit.to_static(f, full_graph=True)
    for numbers in ([2.0], [2.0], [-1.0], [3.0]):
        shown = []
        for g in (f, static_form):
            text, x = io.StringIO(), paddle.to_tensor(numbers, stop_gradient=f is not long)
            before = RATE.state_dict()
            g(x, text)
            if g is f:
                RATE.set_state_dict(before)
            shown.append(text.getvalue())
        assert shown[0] == shown[1]


def test_what_acts_is_not_padded():
    text, shapes = io.StringIO(), []

    def f(x):
        print(x.shape[0], x.sum().item(), file=text)
        return x * 2

    spec = [paddle.static.InputSpec([None])]
    padded = paddle.jit.to_static(f, input_spec=spec, buckets=[4, 8], full_graph=True)
    for n in (3, 3, 5):
        shapes.append(padded(paddle.ones([n])).shape[0])
    assert shapes == [3, 3, 5] and text.getvalue() == "3 3.0\n3 3.0\n5 5.0\n"


def test_a_gradient_of_a_gradient_does_not_act_again():
    text = io.StringIO()

    def cube(x):
        text.write("a")
        return x * x * x

    f = static(cube)
    for _ in range(2):
        x = paddle.to_tensor([2.0], stop_gradient=False)
        first = paddle.grad(f(x), x, create_graph=True)[0]
        assert paddle.grad(first, x)[0].item() == 12.0
    assert text.getvalue() == "aa"


def test_what_only_computes_is_no_act():
    def f(x):
        found = [
            copy.deepcopy([1]), inspect.signature(close), inspect.getsource(close), traceback.format_stack(),
            logging.getLogger("a"), os.path.abspath("a"), os.getcwd(), os.environ.get("HOME"),
            pathlib.Path("a").resolve(),
            datetime.timedelta(days=1), hashlib.sha256(b"a").hexdigest(), json.dumps({"a": 1}), pprint.pformat([1]),
            importlib.import_module("json"), __import__("html"), argparse.ArgumentParser().parse_args([]),
            threading.Lock(),
            textwrap.dedent(" a"), collections.Counter("aab"), functools.partial(max, 1)(2), time.localtime(0),
        ]  # fmt: skip
        return x + len(found)

    g = static(f)
    assert g(paddle.ones([1])).item() == g(paddle.ones([1])).item() == 22.0 and g.get_traced_count() == 1
