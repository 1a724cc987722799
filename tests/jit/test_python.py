"""Python's constructs on tensors: static code gives what eager code gives."""

# Programs to convert are odd on purpose.
# ruff: noqa: F841, SIM102, SIM103, SIM108, SIM110, SIM114, SIM115, SIM201, B006, B007, C416, C417, C419, E731, UP028, UP032, PLW

from __future__ import annotations

import collections
import contextlib
import dataclasses
import enum
import functools

import pytest

import paddle_lite_py as paddle
from agreement import SIGNS, agree, compare, plain


class TestExpressions:
    def test_in_a_list_of_tensors(self):
        def f(x, y):
            found = y in [x + 1, x * 2, 7.0]
            if y in (x, x - 1):
                return y * 2, found
            return y, found

        agree(f, (1.0, 1.0), (1.0, 0.0), (1.0, 5.0), (1.0, 2.0), (3.0, 7.0))

    def test_not_in(self):
        def f(x):
            if x not in [1.0, 2.0]:
                return x + 10
            return x

        agree(f, 1.0, 2.0, 3.0)

    def test_in_a_tensor(self):
        def f(x, y):
            if y in x:
                return x * 2
            return x

        agree(f, ([1.0, 2.0], 2.0), ([1.0, 2.0], 3.0))

    def test_in_beside_other_tests(self):
        def f(x):
            if "a" not in "bcd" and x.sum() > 0 and len(x) not in (1, 2):
                return x
            return -x

        agree(f, *SIGNS)

    def test_min_max_of_several(self):
        def f(x, y):
            return max(x, y), min(x, y, 0.5), max([x, y, x * y]), min(x, 1)

        agree(f, (1.0, 2.0), (2.0, -1.0), (0.25, 0.25))

    def test_min_max_with_key_and_default(self):
        def f(x, y):
            return max([x, y], key=lambda v: -v), min(x, y, key=abs), max([], default=x)

        agree(f, (1.0, -2.0), (-3.0, 2.0))

    def test_sum_any_all(self):
        def f(x):
            rows = [x[0], x[1], x[2]]
            return (
                sum(rows),
                sum(rows, 2.0),
                any(r > 1 for r in rows),
                all(r > -5 for r in rows),
                any([x[0] > 0, False]),
            )

        agree(f, *SIGNS)

    def test_sum_of_a_generator_with_a_condition(self):
        def f(x):
            return sum(v for v in x if v > 0), sum(v * 2 for v in [x[0], x[1]] if v < 1)

        agree(f, *SIGNS)

    def test_sorted(self):
        def f(x):
            return (
                sorted([x[0], x[1], x[2]]),
                sorted([x[0], x[1]], reverse=True),
                sorted([x[2], x[0]], key=lambda v: v * v),
            )

        agree(f, *SIGNS)

    def test_sorted_tensor(self):
        def f(x):
            return sorted(x)[0], sorted(x, reverse=True)[0]

        agree(f, *SIGNS)

    def test_map_and_filter(self):
        def f(x):
            def relu(v):
                return v if v > 0 else v * 0

            return list(map(relu, [x[0], x[1]])), list(filter(None, [1, 0, 2])), sum(map(lambda v: v * 2, [x[0], x[2]]))

        agree(f, *SIGNS)

    def test_map_over_a_tensor(self):
        def f(x):
            return sum(map(lambda v: v * v, x))

        agree(f, *SIGNS)

    def test_abs_and_pow(self):
        def f(x):
            return abs(x), pow(x, 2), x.abs() ** 0.5, x // 2, x % 2

        agree(f, [1.5, -2.25, 3.0])

    def test_numbers_of_tensors(self):
        def f(x):
            return int(x[0]) + 1, float(x[1]) * 2, bool(x[2]), len(x), int(x[0]) // 2

        agree(f, *SIGNS)

    def test_chained_and_ternary_and_walrus(self):
        def f(x):
            if 0 < (s := x.sum()) < 3:
                return s * 2
            y = s if s < -1 else s + 10 if s < 0 else s + 20
            return y

        agree(f, *SIGNS, [5.0, 1.0, 1.0])

    def test_values_of_and_or(self):
        def f(x):
            s = x.sum()
            return s and (s * 2), s or x[0], not s, s and 1.0, None or s, (s > 0) and (s > 5), (s > 0) or len(x) > 2

        agree(f, *SIGNS)

    def test_comprehensions_with_conditions(self):
        def f(x):
            ys = [v * 2 if v > 0 else -v for v in x]
            d = {k: (v if v > 0 else v * 0) for k, v in enumerate([x[0], x[1]])}
            return sum(ys), d, [[a * b if a > b else a + b for a in (x[0], 1.0)] for b in (x[1], 2.0)]

        agree(f, *SIGNS)

    def test_starred_and_nested_unpacking(self):
        def f(x):
            a, (b, *c) = x[0], (x[1], x[2], 3.0)
            if a > b:
                a, b = b, a
            return a, b, c, [*c, a], {**{"k": b}}

        agree(f, *SIGNS)

    def test_augmented_assignment(self):
        def f(x):
            y, d, xs = x * 1, {"k": x[0]}, [x[0], x[1]]
            if x.sum() > 0:
                y[0] += 10
                y[1:] *= 2
                d["k"] -= 1
                xs[1] /= 2
            y[y > 5] = 0
            return y, d, xs

        agree(f, *SIGNS)

    def test_fstrings_and_print(self, capsys):
        def f(x):
            s = x.sum()
            print("sum", s, sep="=")
            print(f"value {s} of {len(x)}")
            if s > 0:
                print(f"positive: {s:.2f}")
            return s * 2

        static = paddle.jit.to_static(f)
        out = []
        for call in (f, static, static):
            for numbers in ([1.0, 2.0], [-1.0, -2.0]):
                call(paddle.to_tensor(numbers))
            out.append(capsys.readouterr().out)
        assert out[0] == out[1] == out[2]

    def test_a_print_in_a_branch_stays(self, capsys):
        @paddle.jit.to_static
        def f(x):
            if x > 0:
                print("positive")
                print("x is", x)
            return x

        f(paddle.to_tensor(-1.0))
        assert capsys.readouterr().out == ""
        f(paddle.to_tensor(1.0))
        out = capsys.readouterr().out
        assert out.startswith("positive\nx is ") and out.count("x is") == 1

    def test_string_methods_of_tensors(self, capsys):
        def f(x):
            print("got {} and {:.1f}".format(x[0], x[1]), str(x[2]), "a" + str(x[0]) + "b")
            return x

        out = []
        for call in (f, paddle.jit.to_static(f)):
            call(paddle.to_tensor([1.0, 2.0, 3.0]))
            out.append(capsys.readouterr().out)
        assert out[0] == out[1]


class Kind(enum.Enum):
    ADD = 1
    MUL = 2


@dataclasses.dataclass
class Pair:
    a: object
    b: object

    def total(self):
        if self.a.sum() > 0:
            return self.a + self.b
        return self.a - self.b


Named = collections.namedtuple("Named", "x y")


class Counter:
    scale = 2.0

    def __init__(self, start):
        self.n = start

    def __call__(self, x):
        if x.sum() > 0:
            self.n = self.n + 1
        return x * self.n

    @property
    def half(self):
        return self.n / 2 if self.n > 0 else self.n

    @classmethod
    def scaled(cls, x):
        if x.sum() > 0:
            return x * cls.scale
        return x

    @staticmethod
    def shifted(x, by=1.0):
        if x.sum() > 0:
            return x + by
        return x - by


class Child(Counter):
    def __call__(self, x):
        if x.sum() < 0:
            return -x
        return super().__call__(x)


def doubled(g):
    @functools.wraps(g)
    def inner(*args, **kwargs):
        out = g(*args, **kwargs)
        if out.sum() > 4:
            return out * 2
        return out

    return inner


@doubled
def decorated(x, *, k=1.0):
    if x.sum() > 0:
        return x + k
    return x - k


@contextlib.contextmanager
def doubling(log):
    log.append("in")
    try:
        yield 2.0
    finally:
        log.append("out")


SCALE = 3.0


class TestFunctionsAndObjects:
    def test_nested_functions_and_closures(self):
        def f(x):
            total = x * 0

            def add(v):
                nonlocal total
                if v > 0:
                    total = total + v
                return total

            for i in range(3):
                add(x[i])
            return total, add(x[0])

        agree(f, *SIGNS)

    def test_lambdas_of_one_line(self):
        def f(x):
            g, h = (lambda v: v * 2 if v.sum() > 0 else v), (lambda v: v - 1 if v.sum() > 0 else v + 1)
            return g(x), h(x)

        agree(f, *SIGNS)

    def test_kinds_of_parameters(self):
        def g(a, /, b=2.0, *rest, c, d=4.0, **more):
            if a.sum() > b:
                return a * c + d
            return a * len(rest) - sum(more.values())

        def f(x):
            return g(x, c=1.0), g(x, -9.0, 1, 2, c=x, e=1.0), g(x, 0.0, c=2.0, d=x)

        agree(f, *SIGNS)

    def test_partial_and_wraps(self):
        def f(x):
            p = functools.partial(decorated, k=2.0)
            return decorated(x), p(x), functools.reduce(lambda a, b: a if a > b else b, [x[0], x[1], x[2]])

        agree(f, *SIGNS)

    def test_methods(self):
        def f(x):
            c, d = Counter(1.0), Child(x.sum())
            return (
                c(x),
                d(x),
                c.half,
                d.half,
                Counter.scaled(x),
                Child.scaled(x),
                c.shifted(x),
                Counter.shifted(x, by=x),
            )

        agree(f, *SIGNS)

    def test_dataclass_namedtuple_enum(self):
        def f(x):
            p = Pair(x, x * 2)
            n = Named(x, y=1.0)
            if x.sum() > 0:
                p.a = p.a + 1
                n = n._replace(y=2.0)
            kind = Kind.MUL if len(x) > 2 else Kind.ADD
            y = x * 2 if kind is Kind.MUL else x + 2
            return p, n, y, p.total(), dataclasses.replace(p, b=x)

        agree(f, *SIGNS)

    def test_a_namedtuple_stays_one(self):
        def f(x):
            n = Named(x, x)
            if x.sum() > 0:
                n = Named(x * 2, x)
            return n

        found = paddle.jit.to_static(f)(paddle.to_tensor([1.0]))
        assert type(found) is Named and float(found.x) == 2

    def test_recursion_bounded_by_python(self):
        def power(x, n):
            if n == 0:
                return x * 0 + 1
            half = power(x, n // 2)
            if x.sum() > 0 and n % 2:
                return half * half * x
            return half * half

        def f(x):
            return power(x, 5)

        agree(f, *SIGNS)

    def test_generators_driven_by_python(self):
        def pieces(x, n):
            for i in range(n):
                yield x[i] if x[i] > 0 else x[i] * 0

        def f(x):
            total = x.sum()
            for p in pieces(x, 3):
                total = total + p
            return total, sum(pieces(x, 2)), list(pieces(x, 3))

        agree(f, *SIGNS)

    def test_context_managers(self):
        def f(x):
            log = []
            with doubling(log) as k, paddle.no_grad():
                if x.sum() > 0:
                    y = x * k
                else:
                    y = x
            with contextlib.suppress(KeyError):
                if x.sum() > 0:
                    y = y + 1
                {}["missing"]
            return y, len(log)

        agree(f, *SIGNS)

    def test_try_except_finally(self):
        def f(x):
            try:
                if x.sum() > 0:
                    y = x * 2
                else:
                    y = x
                {}["missing"]
            except KeyError:
                y = x + 5
                if x.sum() > 1:
                    y = x + 6
            else:
                y = x
            finally:
                z = x * 3
            return y, z

        agree(f, *SIGNS)

    def test_return_inside_try_and_with(self):
        def f(x):
            log = []
            with doubling(log):
                try:
                    if x.sum() > 0:
                        return x * 2
                finally:
                    log.append("finally")
            return x

        agree(f, *SIGNS)

    def test_globals_and_defaults(self):
        def f(x, k=SCALE):
            if x.sum() > 0:
                return x * SCALE
            return x + k

        agree(f, *SIGNS)

    def test_global_statement(self):
        text = "\n".join(
            ["def f(x):", "    global level", "    if x.sum() > 0:", "        level = x * 2", "    return level + 1"]
        )
        import linecache

        def made():
            linecache.cache["<level>"] = (len(text), None, text.splitlines(True), "<level>")
            space = {"level": paddle.to_tensor([0.0])}
            exec(compile(text, "<level>", "exec"), space)  # noqa: S102
            return space

        for numbers in ([1.0], [-1.0]):
            eager, static = made(), made()
            expected = eager["f"](paddle.to_tensor(numbers))
            found = paddle.jit.to_static(static["f"])(paddle.to_tensor(numbers))
            compare(plain([found, static["level"]]), plain([expected, eager["level"]]))

    def test_closures_and_globals_that_change_between_calls(self):
        def made():
            total, calls, last = paddle.to_tensor([0.0]), 0, None

            def step(x):
                nonlocal total, calls, last
                if x.sum() > 0:
                    total = total + x
                calls += 1
                last = x
                return total * calls

            return step, lambda: [total, calls, last]

        (eager, see_eager), (function, see_static) = made(), made()
        static = paddle.jit.to_static(function)
        for v in (1.0, -5.0, 2.0, 4.0):
            x = paddle.to_tensor([v])
            compare(plain(static(x)), plain(eager(x)))
            compare(plain(see_static()), plain(see_eager()))

    def test_a_failing_trace_leaves_closures_alone(self):
        kept = paddle.to_tensor([7.0])

        def f(x):
            nonlocal kept
            kept = x * 100
            return int(x)

        with pytest.raises(ValueError, match="one element"):
            paddle.jit.to_static(f, full_graph=True)(paddle.to_tensor([1.0, 2.0]))
        assert kept.tolist() == [7.0]

    def test_type_hints(self):
        def f(x: paddle.Tensor, n: int = 2) -> paddle.Tensor:
            y: paddle.Tensor = x * n
            z: float
            if x.sum() > 0:
                z: float = 1.0
            else:
                z = 2.0
            return y + z

        agree(f, *SIGNS)

    def test_match(self):
        def f(x):
            match (x.sum() > 0, len(x)):
                case (flag, 3) if flag:
                    return x * 2
                case (_, 3):
                    return x * 3
                case _:
                    return x

        agree(f, *SIGNS)

    def test_match_a_tensor_with_values(self):
        def f(x):
            match x:
                case 0:
                    return x + 1
                case 1 | 2:
                    return x + 10
                case _:
                    return x

        agree(f, 0.0, 1.0, 2.0, 5.0)

    def test_callable_objects_and_functions_in_containers(self):
        def f(x):
            table = {"double": lambda v: v * 2 if v.sum() > 0 else v, "count": Counter(1.0)}
            out = x
            for name in ("double", "count"):
                out = table[name](out)
            return out

        agree(f, *SIGNS)

    def test_class_made_inside(self):
        def f(x):
            class Local:
                def __init__(self, v):
                    self.v = v

                def positive(self):
                    return self.v.sum() > 0

            if Local(x).positive():
                return x * 2
            return x

        agree(f, *SIGNS)
