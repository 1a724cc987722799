"""Each row of the op tables, called eagerly, against the same computation under jax.jit; prints the slowest.

usage: ops.py [--only REGEX] [--worst 10] [--out FILE]

Both take turns, and a figure is the best round; a row above the goal gets up to four times the rounds. The arguments
are those of the tests, small ones: what is measured is the way to XLA and back. What is data to PaddlePaddle is a
tensor here and an array there, made before the clock runs. By hand nobody looks at a result; where we do, for the error
of a singular matrix, the look is part of our figure. A call whose result depends on the data has no such counterpart
and is left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp

TESTS = Path(__file__).resolve().parents[1] / "tests"
sys.path[:0] = [str(TESTS / "tables"), str(TESTS / "helpers")]

import gradient_cases  # noqa: E402
import paddle_lite_py as paddle  # noqa: E402
from op_calls import call, tensors  # noqa: E402
from paddle_lite_py.core.interpreter import state  # noqa: E402
from paddle_lite_py.eager.execute import Eager  # noqa: E402
from paddle_lite_py.eager.tensor import wrap  # noqa: E402

GOAL, ROUNDS, AGAIN, SECONDS = 1.5, 7, 4, 0.001
# Attributes in the table that are data.
DATA = {"index_put": ("indices", "value"), "index_add": ("value",)}


def main() -> None:
    """Measure the rows that match."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="REGEX", default=".")
    parser.add_argument("--worst", type=int, default=10, help="how many rows to print")
    parser.add_argument("--out", metavar="FILE", help="write all figures as JSON")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    figures = {key: found for key, *pair in calls(args.only) if (found := compare(*pair))}
    slowest = sorted(figures, key=lambda k: -figures[k][0] / figures[k][1])
    for key in slowest[: args.worst]:
        ours, by_hand = figures[key]
        print(f"{key[:60]:60} {ours:8.2f} us {by_hand:8.2f} us {ours / by_hand:6.2f}")
    ratios = sorted(ours / by_hand for ours, by_hand in figures.values())
    over = sum(r > GOAL for r in ratios)
    print(f"{len(ratios)} rows; median {ratios[len(ratios) // 2]:.2f}; {over} above {GOAL}")
    if args.out:
        Path(args.out).parent.mkdir(parents=True, exist_ok=True)
        Path(args.out).write_text(json.dumps(figures, indent=1))


def calls(only: str) -> Iterator[tuple[str, Callable[[], Any], Callable[[], Any]]]:
    """For each row its call, and the same compiled as one."""
    for key, row in gradient_cases.cases().items():
        if row.dynamic or not re.search(only, key):
            continue
        args, _ = tensors(row.sample())
        data = {k: tensors_of(row.attrs[k]) for k in DATA.get(row.name, ())}
        arrays, tree = jax.tree.flatten(
            jax.tree.map(lambda t: jnp.asarray(t._payload), (args, data), is_leaf=is_tensor)
        )
        wrapped = jax.jit(lambda *flat, row=row, tree=tree: payloads(row, *jax.tree.unflatten(tree, flat)))
        # Bound before the clock runs: the table looks its functions up by name.
        named = dict(zip(row.names, args, strict=True)) if row.names else {}
        ours = functools.partial(row.function, *([] if named else args), **named, **row.attrs | data)
        yield key, ours, functools.partial(wrapped, *arrays)


def is_tensor(x: Any) -> bool:
    """True for a tensor."""
    return isinstance(x, paddle.Tensor)


def tensors_of(value: Any) -> Any:
    """An attribute that is data as a tensor, or as a tuple of them."""
    return tuple(map(tensors_of, value)) if isinstance(value, tuple) else paddle.to_tensor(value)


class Inline(Eager):
    """Eager mode while JAX traces: the functions of the ops themselves."""

    def run(self, bound: Any, args: tuple[Any, ...]) -> Any:
        """Call the op's function."""
        out = bound.fn(*[a._payload if isinstance(a, paddle.Tensor) else a for a in args])
        return tuple(map(wrap, out)) if isinstance(out, tuple) else wrap(out)


def payloads(row: Any, args: list[Any], data: dict[str, Any]) -> list[Any]:
    """The results of a row's call as arrays, called while JAX traces."""
    args, data = jax.tree.map(wrap, (args, data))
    before, state.interpreter = state.interpreter, Inline()
    try:
        called = dataclasses.replace(row, attrs=row.attrs | data)
        return [t._payload if is_tensor(t) else t for t in call(called, args)]
    finally:
        state.interpreter = before


def compare(ours: Callable[[], Any], by_hand: Callable[[], Any]) -> tuple[float, float] | None:
    """Microseconds of each; None where the call cannot be compiled."""
    try:
        for _ in range(3):
            jax.block_until_ready(by_hand())
            ours()
    except Exception:
        return None
    best = float("inf"), float("inf")
    for _ in range(AGAIN):
        for _ in range(ROUNDS):
            best = min(best[0], turn(ours)), min(best[1], turn(by_hand))
        if best[0] <= GOAL * best[1]:
            break
    return best


def turn(run: Callable[[], Any]) -> float:
    """Microseconds of a call, over a short while."""
    start, n, spent = time.perf_counter(), 0, 0.0
    while spent < SECONDS:
        for _ in range(20):
            run()
        n, spent = n + 20, time.perf_counter() - start
    return spent / n * 1e6


if __name__ == "__main__":
    main()
