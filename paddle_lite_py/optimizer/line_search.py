"""A line search for the strong Wolfe conditions: a step that lowers the loss enough and leaves little slope."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

# Of the conditions: sufficient decrease, and curvature.
DECREASE, CURVATURE = 1e-4, 0.9
MAX_STEPS = 25
# The least distance of a new point from an end of the bracket, relative to its length, and the farthest extrapolation.
MARGIN, LEAST, MOST = 0.1, 0.01, 10


class Point(NamedTuple):
    """A point on a line: its distance, the loss there, its slope along the line, and its gradient."""

    at: float
    loss: float
    steep: float
    slope: Any


def strong_wolfe(
    look: Callable[[float], Point], start: Point, length: float, reach: float, tolerance: float
) -> tuple[Point, int]:
    """Return a point along a line where the strong Wolfe conditions hold, and how many points were looked at.

    Arguments:
        look: what is found at a distance.
        start: the point at distance 0.
        length: the first distance to try.
        reach: the largest element of the direction.
        tolerance: a bracket that moves nothing by more is not divided.

    Source: Nocedal and Wright, Numerical Optimization, 2006, algorithms 3.5 and 3.6.
    """
    ends, steps = _bracket(look, start, length)
    if len(ends) == 1:
        return ends[0], steps + 1
    low, high = sorted(ends, key=lambda p: p.loss)
    near = False
    while steps < MAX_STEPS and abs(high.at - low.at) * reach >= tolerance:
        at, near = _between(low, high, near)
        now, steps = look(at), steps + 1
        if _high(start, now) or now.loss >= low.loss:
            low, high = (low, now) if now.loss >= low.loss else (now, low)
            continue
        if _flat(start, now):
            return now, steps + 1
        low, high = now, low if now.steep * (high.at - low.at) >= 0 else high
    return low, steps + 1


def _high(start: Point, now: Point) -> bool:
    return not now.loss <= start.loss + DECREASE * now.at * start.steep


def _flat(start: Point, now: Point) -> bool:
    return abs(now.steep) <= -CURVATURE * start.steep


def _bracket(look: Callable[[float], Point], start: Point, length: float) -> tuple[list[Point], int]:
    """Two points with a good one between them, or the good one; and the steps that it took to find them."""
    before, now = start, look(length)
    for step in range(MAX_STEPS):
        if _high(start, now) or (step > 1 and now.loss >= before.loss):
            return [before, now], step
        if _flat(start, now):
            return [now], step
        if now.steep >= 0:
            return [before, now], step
        at = _lowest(before, now, now.at + LEAST * (now.at - before.at), now.at * MOST)
        before, now = now, look(at)
    return [start, now], MAX_STEPS


def _lowest(a: Point, b: Point, least: float, most: float) -> float:
    """Where the cubic through two points, with their slopes, is lowest between two bounds."""
    if a.at == b.at:  # steps so short that they round to none
        return (least + most) / 2
    a, b = (a, b) if a.at <= b.at else (b, a)
    one = a.steep + b.steep - 3 * (a.loss - b.loss) / (a.at - b.at)
    square = one * one - a.steep * b.steep
    bottom = b.steep - a.steep + 2 * math.sqrt(max(square, 0))
    if not square >= 0 or bottom == 0:
        return (least + most) / 2
    return min(max(b.at - (b.at - a.at) * (b.steep + math.sqrt(square) - one) / bottom, least), most)


def _between(a: Point, b: Point, near: bool) -> tuple[float, bool]:
    """The next place inside a bracket, and whether it lies near an end. Twice in a row it may not."""
    least, most = min(a.at, b.at), max(a.at, b.at)
    at, margin = _lowest(a, b, least, most), MARGIN * (most - least)
    if min(most - at, at - least) >= margin:
        return at, False
    if not near and least < at < most:
        return at, True
    return (most - margin if most - at < at - least else least + margin), False
