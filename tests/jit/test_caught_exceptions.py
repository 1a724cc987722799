"""What a `try` catches under conditions on tensors: programs do in each mode what eager code does, or are refused."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
from paddle_lite_py.jit import to_static
from paddle_lite_py.jit.errors import StagingError

import paddle_lite_py as paddle


class Stop(Exception):
    pass


class Sooner(Stop):
    pass


class Oops(Exception):
    """An `__init__` of its own, with state."""

    def __init__(self, value):
        self.value = value

    def __str__(self):
        return f"oops {self.value}"


class Box:
    pass


def at_the_top(x, n):
    y = x * 2
    try:
        if x.sum() < 0:
            raise KeyError("negative")
        y = y + 1
    except KeyError:
        y = y + 10
    return y.sum()


def in_a_branch(x, n):
    y = x * 2
    if n > 0:
        try:
            if x.sum() < 0:
                raise KeyError("negative")
            y = y + 1
        except KeyError:
            y = y + 10
    return y.sum()


def in_a_while(x, n):
    y, i = x * 2, paddle.zeros([], "int64")
    while i < n:
        try:
            if y.sum() < 0:
                raise KeyError("negative")
            y = y + 1
        except KeyError:
            y = y + 10
        i = i + 1
    return y.sum()


def around_a_while(x, n):
    y, i = x * 1, paddle.zeros([], "int64")
    try:
        while i < n + 3:
            y = y - 1
            if y.sum() < -6:
                raise Stop(i)
            i = i + 1
    except Stop as e:
        y = y * 10 + e.args[0]
    return y.sum() + i


def around_two_loops(x, n):
    y = x * 1
    try:
        for _ in range(n):
            for j in range(2):
                if y.sum() < -3:
                    raise Stop(j)
                y = y - 0.5
    except Stop as e:
        y = y * 2 + e.args[0]
    else:
        y = y + 9
    return y.sum()


def continued_and_broken(x, n):
    y = x * 1
    for i in range(4):
        try:
            if y.sum() < i:
                raise Stop
            if y.sum() > 6:
                break
        except Stop:
            y = y + 1
            continue
        y = y + 2
    return y.sum()


def else_and_finally(x, n):
    y = x * 1
    try:
        if y.sum() < 0:
            raise Stop
        y = y + 1
    except Stop:
        y = y * 2
    else:
        y = y * 3
    finally:
        y = y + 0.5
    return y.sum()


def raised_in_else(x, n):
    y = x * 1
    try:
        try:
            y = y + 1
        except Stop:
            y = y * 0
        else:
            if x.sum() < 0:
                raise Stop
            y = y * 2
        finally:
            y = y + 0.25
    except Stop:
        y = y + 100
    return y.sum()


def returned(x, n):
    try:
        if x.sum() < 0:
            raise Stop
        return x.sum() * 2
    except Stop:
        return x.sum() * 3


def several_kinds(x, n):
    y = x * 1
    try:
        if x.sum() < -5:
            raise KeyError("a")
        if x.sum() < 0:
            raise ValueError("b")
        y = y + 1
    except KeyError:
        y = y - 10
    except (ValueError, TypeError):
        y = y - 20
    return y.sum()


def by_a_base_class(x, n):
    y = x * 1
    try:
        if x.sum() < 0:
            if x.sum() < -3:
                raise KeyError("deep")
            raise Sooner("q")
        y = y + 1
    except LookupError:
        y = y + 10
    except Stop as e:
        y = y + 20 * len(e.args)
    return y.sum()


def by_a_bare_except(x, n):
    y = x
    try:
        if x.sum() < 0:
            y = y + 5
            raise ValueError
        y = y + 1
    except:  # noqa: E722
        y = y - 1
    return y.sum()


def raised_again(x, n):
    y = x * 1
    try:
        try:
            if x.sum() < 0:
                raise Sooner("q")
            y = y + 1
        except Stop:
            y = y * 5
            raise
    except Sooner:
        y = y + 100
    return y.sum()


def another_from_it(x, n):
    y = x * 2
    if n > 0:
        try:
            try:
                if y.sum() < 0:
                    raise ValueError("a", 3.0)
                y = y - 1
            except ValueError as e:
                if y.sum() < -9:
                    y = y * 0
                raise KeyError("b") from e
        except LookupError as e:
            y = y + 100 + e.__cause__.args[1]
    return y.sum()


def raised_in_a_handler(x, n):
    y = x * 1
    try:
        try:
            if x.sum() < 0:
                raise Stop("a")
            y = y + 1
        except Stop:
            if x.sum() < -3:
                raise KeyError("b") from None
            y = y - 1
    except KeyError:
        y = y + 50
    return y.sum()


def with_state(x, n):
    box = Box()
    box.k, box.t = 0, x * 1
    try:
        box.k = 1
        if x.sum() < 0:
            box.k = 5
            raise Oops(x.sum() * 2)
        box.t = box.t + 1
    except Oops as e:
        box.t = box.t + e.value
    return box.t.sum() + box.k


def with_a_dict(x, n):
    d = {"k": x}
    try:
        if x.sum() < 0:
            raise Stop
        d["k"] = d["k"] + 1
        d["k"] = d["k"] * 2
    except Stop:
        d["k"] = d["k"] - 3
    return d["k"].sum()


def an_init_of_its_own(x, n):
    try:
        if x.sum() < 0:
            raise Oops(3)
        y = x.sum()
    except Oops as e:
        y = x.sum() * e.value
    return y


def an_assertion(x, n):
    y = x * 1
    try:
        assert x.sum() > 0, "negative"
        y = y + 1
    except AssertionError:
        y = y - 7
    return y.sum()


def suppressed(x, n):
    y = x * 2
    with contextlib.suppress(Stop):
        if x.sum() < 0:
            raise Stop
        y = y + 1
    return y.sum()


def suppressed_in_a_loop(x, n):
    y = x
    if n > 0:
        with contextlib.suppress(KeyError, Stop):
            for i in range(3):
                if y.sum() < -i * 3:
                    raise Stop
                y = y - 1
    return y.sum()


def in_an_inner_function(x, n):
    def shifted(v):
        try:
            if v.sum() < 0:
                raise Stop
            return v + 1
        except Stop:
            return v - 2

    return shifted(x).sum() + shifted(-x).sum() if n > 0 else x.sum()


def closed_by_an_inner_finally(x, n):
    try:
        try:
            if x.sum() < 0:
                raise Stop("a")
            y = x + 1
        finally:
            z = x * 2
    except Stop:
        y = x - 1
    return (y + z).sum()


def of_python(x, n):
    y = x.sum()
    try:
        v = int("no number")
    except ValueError:
        v = 3
    return y + v


ONE_PROGRAM = [
    *(at_the_top, in_a_branch, in_a_while, around_a_while, around_two_loops, continued_and_broken, else_and_finally),
    *(raised_in_else, returned, several_kinds, by_a_base_class, by_a_bare_except, raised_again, another_from_it),
    *(raised_in_a_handler, with_state, with_a_dict, an_init_of_its_own, an_assertion, suppressed, suppressed_in_a_loop),
    *(in_an_inner_function, closed_by_an_inner_finally, of_python),
]


def shifted_or_not(x):
    if x.sum() < 0:
        raise ValueError("negative")
    return x + 1


def raised_by_a_callee(x, n):
    try:
        y = shifted_or_not(x)
    except BaseException:
        y = x - 1
    return y.sum()


def raised_by_a_callee_in_a_branch(x, n):
    y = x
    if n > 0:
        try:
            y = shifted_or_not(x)
        except ValueError:
            y = x - 1
    return y.sum()


class Ended:
    """Sees how its block ends."""

    t = 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        self.t = 1 if kind is None else 2


@contextlib.contextmanager
def catching_stop():
    try:
        yield 5
    except Stop:
        pass


class CatchesStop:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return kind is not None and issubclass(kind, Stop)


def caught_by_a_generator(x, n):
    y = x * 1
    with catching_stop() as k:
        if x.sum() < 0:
            raise Stop
        y = y + k
    return y.sum()


def caught_by_a_manager(x, n):
    y = x * 1
    with CatchesStop():
        if x.sum() < 0:
            raise Stop
        y = y + 1
    return y.sum()


def seen_by_a_manager(x, n):
    ended = Ended()
    y = x * 1
    try:
        with ended:
            if x.sum() < 0:
                raise Stop
            y = y + 1
    except Stop:
        y = y - 1
    return y.sum() + ended.t * 10


def seen_by_a_generator(x, n):
    log = Box()
    log.t = x.sum() * 0

    @contextlib.contextmanager
    def noting():
        yield
        log.t = log.t + 100

    y = x * 1
    try:
        with noting():
            if x.sum() < 0:
                raise Stop
            y = y + 1
    except Stop:
        y = y - 1
    return y.sum() + log.t


def a_size_of_the_data(x, n):
    try:
        y = x[x > 0].sum()
    except Exception:
        y = paddle.to_tensor(-7.0)
    return y


def a_size_of_the_data_in_a_branch(x, n):
    y = x.sum()
    if n > 0:
        with contextlib.suppress(Exception):
            y = x[x > 0].sum()
    return y


# What no single program does: a program for each outcome, and none for a file.
DECIDED = {
    raised_by_a_callee: StagingError,
    raised_by_a_callee_in_a_branch: StagingError,
    caught_by_a_generator: StagingError,
    caught_by_a_manager: StagingError,
    seen_by_a_manager: StagingError,
    seen_by_a_generator: StagingError,
}
# What has a program for each size where it is called, and one that runs in parts in a file.
SIZED = [a_size_of_the_data, a_size_of_the_data_in_a_branch]
INPUTS = [[1.0, 2.0], [-1.0, -2.0], [-1.0, 3.0], [-10.0, 3.0]]
SPECS = [paddle.static.InputSpec([2], "float32"), paddle.static.InputSpec([], "int64")]


def values(f):
    return [float(f(paddle.to_tensor(x), paddle.to_tensor(2))) for x in INPUTS]


@pytest.mark.parametrize("f", ONE_PROGRAM, ids=lambda f: f.__name__)
def test_one_program_does_what_eager_code_does(f, tmp_path):
    static = to_static(f, full_graph=True)
    np.testing.assert_allclose(values(static), values(f), rtol=1e-6)
    assert len(static.cache) == 1
    paddle.jit.save(static, str(tmp_path / "f"), SPECS)
    np.testing.assert_allclose(values(paddle.jit.load(str(tmp_path / "f"))), values(f), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@pytest.mark.parametrize("f", SIZED, ids=lambda f: f.__name__)
def test_sizes_of_the_data_are_no_errors(f, tmp_path):
    np.testing.assert_allclose(values(to_static(f, full_graph=True)), values(f), rtol=1e-6)
    paddle.jit.save(to_static(f, full_graph=True), str(tmp_path / "f"), SPECS)
    np.testing.assert_allclose(values(paddle.jit.load(str(tmp_path / "f"))), values(f), rtol=1e-6)


@pytest.mark.filterwarnings("ignore::paddle_lite_py.jit.DataDependentWarning")
@pytest.mark.parametrize("full_graph", [True, False])
@pytest.mark.parametrize("f", DECIDED, ids=lambda f: f.__name__)
def test_data_decide_where_no_single_program_can(f, full_graph, tmp_path):
    static = to_static(f, full_graph=full_graph)
    np.testing.assert_allclose(values(static), values(f), rtol=1e-6)
    with pytest.raises(DECIDED[f], match="test_caught_exceptions.py"):
        paddle.jit.save(to_static(f, full_graph=True), str(tmp_path / "f"), SPECS)


def propagated(x, n):
    y = x * 1
    try:
        if x.sum() < 0:
            raise Oops(x.sum() * 1)
    except ValueError:
        return x.sum() * 0
    try:
        if x.sum() > 2.5:
            raise Sooner("large")
    except Stop:
        y = y * 5
        raise
    return y.sum()


def test_what_no_handler_keeps_is_raised_by_the_run(tmp_path):
    static = to_static(propagated, full_graph=True)
    paddle.jit.save(static, str(tmp_path / "f"), SPECS)
    loaded, two = paddle.jit.load(str(tmp_path / "f")), paddle.to_tensor(2)
    for f in (propagated, static):
        with pytest.raises(Oops, match="oops") as found:
            f(paddle.to_tensor([-1.0, -2.0]), two)
        assert float(found.value.value) == -3.0
        with pytest.raises(Sooner, match="large"):
            f(paddle.to_tensor([1.0, 2.0]), two)
        assert f(paddle.to_tensor([1.0, 0.0]), two) == 1.0
    with pytest.raises(RuntimeError, match="large"):
        loaded(paddle.to_tensor([1.0, 2.0]), two)
    assert loaded(paddle.to_tensor([1.0, 0.0]), two) == 1.0
    assert len(static.cache) == 1


def test_what_a_program_cannot_do_is_no_exception_of_the_users():
    def f(x):
        try:
            return x + x.numpy().sum()
        except Exception:
            return x * 0

    x = paddle.to_tensor([1.0, 2.0])
    with pytest.raises(TypeError, match=r"numpy\(\) at test_caught_exceptions.py"):
        to_static(f, full_graph=True)(x)
    with pytest.warns(UserWarning, match="cannot be staged as a whole"):
        assert to_static(f, full_graph=False)(x).tolist() == [4.0, 5.0]


def test_a_file_names_an_exception_that_has_no_text(tmp_path):
    def f(x, n):
        if x.sum() < 0:
            raise Stop
        return x.sum()

    paddle.jit.save(to_static(f, full_graph=True), str(tmp_path / "f"), SPECS)
    with pytest.raises(RuntimeError, match="Stop"):
        paddle.jit.load(str(tmp_path / "f"))(paddle.to_tensor([-1.0, -2.0]), paddle.to_tensor(1))
