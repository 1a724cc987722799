"""Small programs with numbers of Python made of tensors: as keys, repeating, in arithmetic, raising, by type."""

from __future__ import annotations

import collections
import functools
import math

import paddle_lite_py as paddle


def tensor(*data, **kwargs):
    return paddle.to_tensor(list(data), **kwargs)


INTS, FLOATS, MANY = tensor(2, 0, 2, 3), tensor(0.1, -2.5, 2.0), tensor(7, -7, 3, 62)
BAD = tensor(math.nan, math.inf, 0.0, -1.0)


def counter_updated(t):
    c = collections.Counter()
    c.update(int(i) for i in t)
    return c


def counter_added(t):
    c = collections.Counter()
    for i in range(4):
        c[int(t[i])] += 1
    return c


def default_added(t):
    d = collections.defaultdict(int)
    for i in range(4):
        d[int(t[i])] += 1
    return dict(d)


def removed(t):
    found = [int(t[i]) for i in range(4)]
    found.remove(int(t[3]))
    found.remove(2)
    return found


def added_to_set(t):
    seen = set()
    for i in range(4):
        seen.add(int(t[i]))
    return seen


def discarded(t):
    seen = {0, 1, 2, 3}
    seen.discard(int(t[0]))
    seen -= {int(t[1])}
    return seen


def looked_up(t):
    names = {0: "zero", 2: "two", 3: "three"}
    return [names[int(t[i])] for i in range(4)]


def dict_made(t):
    return {int(t[0]): int(t[3]), int(t[1]): 5}


def in_a_set(t):
    return int(t[0]) in {1, 2}, int(t[1]) in {1, 2}, 3 in {int(t[3])}, 4 in [int(t[3])]


KEYS = {
    "counter": lambda t: collections.Counter(int(i) for i in t),
    "counter of a list": lambda t: collections.Counter([int(i) for i in t]),
    "set": lambda t: set(int(i) for i in t),  # noqa: C401
    "set comprehension": lambda t: {int(i) for i in t},
    "set display": lambda t: {int(t[0]), int(t[2]), 3},
    "frozenset": lambda t: frozenset([int(i) for i in t]),
    "length of a set": lambda t: len({int(i) for i in t}),
    "dict of pairs": lambda t: dict((int(i), 1) for i in t),  # noqa: C402
    "dict of pairs with values": lambda t: dict([(int(t[0]), int(t[3])), (int(t[2]), 5)]),  # noqa: C406
    "dict comprehension": lambda t: {int(i): k for k, i in enumerate(t)},
    "dict display": dict_made,
    "fromkeys": lambda t: dict.fromkeys([int(i) for i in t], 0),
    "update": counter_updated,
    "counter[k] += 1": counter_added,
    "defaultdict[k] += 1": default_added,
    "most common": lambda t: collections.Counter([int(i) for i in t]).most_common(1),
    "index": lambda t: [int(i) for i in t].index(3),
    "index of it": lambda t: [5, 4, 3].index(int(t[3])),
    "count": lambda t: [int(i) for i in t].count(2),
    "count in a tuple": lambda t: tuple([int(i) for i in t]).count(2),
    "remove": removed,
    "add": added_to_set,
    "discard": discarded,
    "look up": looked_up,
    "in": in_a_set,
    "of items": lambda t: {t[0].item(), t[2].item()},
    "of bools": lambda t: {bool(t[0]), bool(t[1]), bool(t[2])},
    "tuples": lambda t: {(int(t[0]), 1), (int(t[2]), 1)},
    "union": lambda t: {int(t[0])} | {int(t[2])},
}

REPEATED = {
    "list": lambda t: [0] * int(t[0]),
    "list on the right": lambda t: int(t[3]) * [1, 2],
    "tuple": lambda t: (1, 2) * int(t[0]),
    "text": lambda t: "a" * int(t[3]),
    "text on the right": lambda t: int(t[0]) * "ab",
    "bytes": lambda t: b"a" * int(t[0]),
    "none": lambda t: [1] * int(t[1]),
    "of tensors": lambda t: [t[0]] * int(t[0]),
}


def grown(t):
    found = [0]
    found *= int(t)
    return found


def factorial(t):
    out = int(t[0])
    for _ in range(5):
        out *= 1_000_003
    return out


def fibonacci(t):
    a, b = 0, int(t[0]) // 7
    for _ in range(100):
        a, b = b, a + b
    return a


ARITHMETIC = {
    "float64": lambda x, n: float(x[0]) + 0.1,
    "float64 compared": lambda x, n: float(x[0]) + 0.2 == 0.30000000000000004,
    "float / int": lambda x, n: float(x[0]) / int(n[2]),
    "int / int": lambda x, n: int(n[0]) / int(n[2]),
    "mean": lambda x, n: sum(float(v) for v in x) / 3,
    "int + float": lambda x, n: int(n[2]) + 0.1,
    "bool + bool": lambda x, n: bool(n[0]) + bool(n[1]),
    "bool * 2.5": lambda x, n: bool(n[0]) * 2.5,
    "-bool": lambda x, n: -bool(n[0]),
    "power": lambda x, n: int(n[0]) ** 2,
    "large power": lambda x, n: int(n[0]) ** 40,
    "negative power": lambda x, n: int(n[0]) ** -1,
    "power by it": lambda x, n: 2 ** int(n[2]),
    "power by a negative": lambda x, n: 2 ** int(n[1]),
    "power by 62": lambda x, n: 2 ** int(n[3]),
    "large power by it": lambda x, n: 3 ** int(n[3]),
    "root": lambda x, n: float(x[2]) ** 0.5,
    "root of a negative": lambda x, n: float(x[1]) ** 2,
    "shift": lambda x, n: 1 << int(n[0]),
    "large shift": lambda x, n: 5 << int(n[3]),
    "shift by 62": lambda x, n: 1 << int(n[3]),
    "shift right": lambda x, n: int(n[1]) >> 1,
    "product": lambda x, n: int(n[0]) * 10**10,
    "large product": lambda x, n: int(n[0]) * 10**18 * int(n[3]),
    "larger constant": lambda x, n: int(n[0]) + 10**20,
    "larger factor": lambda x, n: int(n[0]) * 10**20,
    "products in a loop": lambda x, n: factorial(n),
    "sums in a loop": lambda x, n: fibonacci(n),
    "//": lambda x, n: int(n[0]) // int(n[2]),
    "negative //": lambda x, n: int(n[1]) // int(n[2]),
    "// of a negative": lambda x, n: int(n[0]) // -2,
    "negative %": lambda x, n: int(n[1]) % int(n[2]),
    "% of a negative": lambda x, n: int(n[0]) % -4,
    "10 //": lambda x, n: 10 // int(n[1]),
    "10 %": lambda x, n: 10 % int(n[1]),
    "float //": lambda x, n: float(x[1]) // 2,
    "float %": lambda x, n: float(x[1]) % 2,
    "divmod": lambda x, n: divmod(int(n[1]), 3),
    "&": lambda x, n: int(n[0]) & 5,
    "^ |": lambda x, n: int(n[0]) ^ 5 | 16,
    "~": lambda x, n: ~int(n[0]),
    "-": lambda x, n: -float(x[0]),
    "abs": lambda x, n: abs(float(x[1])),
    "compared": lambda x, n: float(x[1]) < int(n[0]),
    "round": lambda x, n: round(float(x[1])),
    "round to digits": lambda x, n: round(float(x[1]), 1),
    "sqrt": lambda x, n: math.sqrt(x[2]),
    "sqrt of float": lambda x, n: math.sqrt(float(x[2])),
    "floor": lambda x, n: math.floor(float(x[1])),
    "log": lambda x, n: math.log(int(n[0])),
    "exp": lambda x, n: math.exp(x[2]),
    "isnan": lambda x, n: math.isnan(float(x[1])),
    "max": lambda x, n: max(int(n[0]), int(n[2])),
    "min of mixed": lambda x, n: min(int(n[0]), float(x[2])),
    "max with a number": lambda x, n: max(float(x[0]), 0.1),
    "sum": lambda x, n: sum(int(v) for v in n),
    "reduce": lambda x, n: functools.reduce(lambda a, b: a + b, map(lambda v: int(v) + 1, n)),  # noqa: C417
    "any": lambda x, n: any(int(v) > 8 for v in n),
    "all": lambda x, n: all(int(v) > 8 for v in n),
    "sorted": lambda x, n: sorted(int(v) for v in n),
    "with a tensor": lambda x, n: x * float(x[0]),
    "with an integer tensor": lambda x, n: n * float(x[0]),
    "int with a tensor": lambda x, n: x + int(n[0]),
    "with a half": lambda x, n: x.astype("float16") * float(x[0]),
    "argument of an op": lambda x, n: paddle.add(x, paddle.to_tensor(float(x[0]))),
    "full": lambda x, n: paddle.full([2], float(x[0])),
    "to_tensor": lambda x, n: paddle.to_tensor(float(x[0])),
    "clip": lambda x, n: x.clip(max=float(x[0])),
    "where": lambda x, n: paddle.where(x > 0, x, float(x[0])),
    "int": lambda x, n: int(x[1]),
    "int of it": lambda x, n: int(float(x[1]) * 2),
    "float of int": lambda x, n: float(int(n[0])),
    "pair": lambda x, n: (int(n[0]), [float(x[0]), {"a": bool(n[0])}]),
}

RAISING = {
    "10 // 0": lambda x, n: 10 // int(n),
    "10 % 0": lambda x, n: 10 % int(n),
    "10 / 0": lambda x, n: 10 / int(n),
    "1 / 0.0": lambda x, n: 1 / float(x[2]),
    "1.0 // 0.0": lambda x, n: 1.0 // float(x[2]),
    "1.0 % 0.0": lambda x, n: 1.0 % float(x[2]),
    "0 ** -1": lambda x, n: int(n) ** -1,
    "divmod": lambda x, n: divmod(5, int(n)),
    "sqrt(-1)": lambda x, n: math.sqrt(x[3]),
    "sqrt(float)": lambda x, n: math.sqrt(float(x[3])),
    "log(0)": lambda x, n: math.log(x[2]),
    "log of int": lambda x, n: math.log(int(n)),
    "asin(inf)": lambda x, n: math.asin(float(x[1])),
    "floor(nan)": lambda x, n: math.floor(float(x[0])),
    "int(nan)": lambda x, n: int(x[0]),
    "int(inf)": lambda x, n: int(x[1]),
    "int(float(nan))": lambda x, n: int(float(x[0])),
    "round(nan)": lambda x, n: round(float(x[0])),
    "exp(1000)": lambda x, n: math.exp(1000 + int(n)),
    "1 << -1": lambda x, n: 1 << (int(n) - 1),
}


def branch(x, n):
    if x.sum() > -100:
        y = 0.1
    else:
        y = 0.2
    return y + 0.2, isinstance(y, float), type(y) is float, isinstance(y, int)


def branch_int(x, n):
    k = 1
    if n.sum() > 0:
        k = int(n[0]) * 2
    return k, isinstance(k, int), isinstance(k, float)


def loop(x, n):
    total, k = 0.0, 0
    while k < int(n[2]):
        total += float(x[0])
        k += 1
    return total, k, isinstance(k, int), isinstance(total, float)


def stepped(x, n):
    total = 0
    for i in range(0, int(n[3]), n[0]):
        total += i * isinstance(i, int)
    return total


def numbers(x, n):
    total = 0
    for i in range(int(n[2])):
        total += i
    return total, i, type(i) is int


TYPES = {
    "branch": branch,
    "branch of ints": branch_int,
    "loop": loop,
    "step": stepped,
    "range": numbers,
    "sum": lambda x, n: (isinstance(sum(int(v) for v in n), int), type(max(float(x[0]), 0.0)) is float),
    "comparison": lambda x, n: (isinstance(int(n[0]) > 3, bool), type(float(x[0]) == 1) is bool),
    "quotient": lambda x, n: (isinstance(int(n[0]) / 2, float), isinstance(int(n[0]) // 2, int)),
    "tensors": lambda x, n: (isinstance(x[0], float), isinstance(x[0], paddle.Tensor)),
}


def used_as_condition(x, n):
    return (not int(n[0])), (not float(x[0])), (int(n[0]) and 3), (int(n[0]) > 3 and float(x[0]) > 1), 1 < int(n[0]) < 9


def greatest_common_divisor(x, n):
    a, b = int(n[3]), int(n[0])
    while b:
        a, b = b, a % b
    return a


def collatz(x, n):
    k, count = int(n[0]), 0
    while k != 1:
        if k % 2 == 0:
            k //= 2
        else:
            k = 3 * k + 1
        count += 1
    return count


def left_early(x, n):
    if x.sum() > 0:
        return 1.5
    return float(x[0]) * 2


def ended_by_break(x, n):
    total = 0
    for v in n:
        if int(v) > 10:
            break
        total += int(v)
    return total


def in_place(x, n):
    out = paddle.zeros([3])
    out[0], out[int(n[2]) - 1] = float(x[0]), int(n[0])
    return out


def gradient(x, n):
    y = x.detach().clone()
    y.stop_gradient = False
    (y * float(y[0]) * int(n[0])).sum().backward()
    return y.grad


def keys_in_a_branch(x, n):
    if x.sum() > -100:
        d = {int(n[0]): 1.0}
    else:
        d = {int(n[1]): 1.0}
    return d


@functools.lru_cache
def remembered(k):
    return k * 2 if k > 3 else k


PROGRAMS = {
    "conditions": used_as_condition,
    "gcd": greatest_common_divisor,
    "collatz": collatz,
    "early return": left_early,
    "break": ended_by_break,
    "in place": in_place,
    "gradient": gradient,
    "keys in a branch": keys_in_a_branch,
    "ternary": lambda x, n: int(n[0]) if x.sum() > 0 else int(n[2]),
    "f-string": lambda x, n: f"{float(x[0]):.3f} {int(n[0])} {float(x[0])}",
    "lru_cache": lambda x, n: (remembered(int(n[0])), remembered(int(n[2]))),
    "list to tensor": lambda x, n: paddle.to_tensor([float(x[0]), 1.0]),
    "arange": lambda x, n: paddle.arange(int(n[2])),
    "index": lambda x, n: x[int(n[2]) - 1],
    "slice": lambda x, n: x[: int(n[2]) - 1],
    "gather": lambda x, n: x.gather(paddle.to_tensor([int(n[2]) - 1])),
    "reshape": lambda x, n: x.reshape([int(n[2]), -1]),
    "axis": lambda x, n: x.sum(axis=int(n[2]) - 3),
    "tensor to a power": lambda x, n: x.abs() ** float(x[0]),
    "pow": lambda x, n: paddle.pow(x.abs(), float(x[0])),
    "scale": lambda x, n: paddle.scale(x, float(x[0])),
    "where of numbers": lambda x, n: paddle.where(x > 0, float(x[0]), float(x[1])),
    "lerp": lambda x, n: paddle.lerp(x, x * 2, float(x[0])),
    "compared with a tensor": lambda x, n: x >= float(x[0]),
    "with float64": lambda x, n: x.astype("float64") * float(x[0]),
    "of float16": lambda x, n: float(x.astype("float16")[0]),
    "item": lambda x, n: (x[0].item() + 0.1, n[0].item() ** 30),
    "bit_length": lambda x, n: int(n[0]).bit_length(),
    "is_integer": lambda x, n: (float(x[2]).is_integer(), float(x[0]).is_integer()),
    "log with a base": lambda x, n: math.log(x[2], 2),
    "math.gcd": lambda x, n: math.gcd(int(n[0]), 14),
    "factorial": lambda x, n: math.factorial(int(n[2])),
    "pow() with three": lambda x, n: pow(int(n[0]), 2, 5),
    "count": lambda x, n: sum(1 for v in n if int(v) > 3),
    "sorted set": lambda x, n: sorted({int(v) for v in n}),
    "sorted by key": lambda x, n: sorted([int(v) for v in n], key=lambda v: -v),
    "zip": lambda x, n: dict(zip([int(v) for v in n], "abcd", strict=True)),
    "length of a range": lambda x, n: len(range(int(n[0]))),
    "no equal": lambda x, n: (int(n[0]) == "a", int(n[0]) is None, int(n[2]) in [1, 3]),
    "slices of a list": lambda x, n: ([1, 2, 3, 4][: int(n[2])], [1, 2, 3, 4][int(n[2])]),
    "double star": lambda x, n: {**{int(n[0]): 1}, int(n[2]): 2},
    "under mixed precision": lambda x, n: mixed(x),
}


def mixed(x):
    with paddle.amp.auto_cast():
        return float(x[0]) ** 2 + 0.1, x * float(x[0])
