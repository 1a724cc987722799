"""Programs on Python values, each with an argument, as people write them."""

from __future__ import annotations

import math


class Point:
    """A class with methods."""

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y

    def distance(self, other: Point) -> float:
        """Distance to another point, infinite between the half planes."""
        if (self.x > 0) != (other.x > 0):
            return math.inf
        return math.sqrt((self.x - other.x) ** 2 + (self.y - other.y) ** 2)


def collatz(n):
    """A while loop with a branch."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def search(rows):
    """A for loop that continues, breaks and has an else."""
    total = 0
    for row in rows:
        if row < 0:
            continue
        if row > 900 and not total < 0:
            break
        total += row
    else:
        return -1
    return total


def _larger(x, y):
    if x > y:
        return x - y
    return y * 2


def calls(rows):
    """Calls of builtins, of a function, and of another module."""
    total = 0
    for row in rows:
        if len(row) > 2:
            total += _larger(sum(row), max(row)) + math.sqrt(row[0])
    return total


def chained(x):
    """Comparisons in a chain, not, ternary."""
    if x is None:
        return 0
    if 0 < x < 10 and not x == 5:
        y = 1 if x > 3 else 2
    else:
        y = 3
    return y


def binary_search(xs):
    """A loop over indices."""
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < 77:
            low = middle + 1
        else:
            high = middle
    return low


def product(n):
    """Nested loops that fill lists."""
    rows = []
    for i in range(n):
        row = []
        for j in range(n):
            value = 0
            for k in range(n):
                value += i * k - j
            row.append(value)
        rows.append(row)
    return rows


def comprehensions(xs):
    """List, dict and generator."""
    ys = [x * 2 for x in xs if x > 3]
    zs = dict(zip(xs, ys, strict=False))
    return sum(y for y in ys) + len({x: y for x, y in zs.items() if y % 3})


def nearest(points):
    """Methods of objects."""
    best = (math.inf, 0)
    for i, p in enumerate(points):
        for q in points:
            if p is not q:
                d = p.distance(q)
                if d < best[0]:
                    best = (d, i)
    return best


def closure(n):
    """An inner function that changes a variable of the outer one."""
    total = 0

    def add(value):
        nonlocal total
        if value > 2:
            total += value

    for i in range(n):
        add(i)
    return total


def words(text):
    """Methods of strings and dictionaries."""
    counts = {}
    for word in text.split():
        word = word.strip(".,").lower()
        if word not in counts:
            counts[word] = 0
        counts[word] += 1
    return sorted(counts.items(), key=lambda item: -item[1])[:3]


def attempts(xs):
    """try, except and finally."""
    n = 0
    for x in xs:
        try:
            n += 10 // x
        except ZeroDivisionError:
            n -= 1
        finally:
            n += 1
    return n


def generated(n):
    """A generator."""

    def down(k):
        while k > 0:
            yield k
            k -= 1

    total = 0
    for value in down(n):
        total += value
    return total


PROGRAMS = [
    (collatz, 27),
    (search, list(range(1, 1000, 7))),
    (calls, [[i, i + 1, i + 2, 7] for i in range(50)]),
    (chained, 4),
    (binary_search, list(range(0, 400, 3))),
    (product, 7),
    (comprehensions, list(range(20))),
    (nearest, [Point(math.sin(i), math.cos(i)) for i in range(8)]),
    (closure, 30),
    (words, "the quick, brown fox. jumps over the lazy dog and the cat. " * 4),
    (attempts, [1, 2, 0, 4] * 8),
    (generated, 40),
]
