"""Measures passes over programs of 2,500 and of 5,000 operators: twice the operators may take twice the time.

usage: passes.py [--rounds N]

A figure is the best of the rounds, the two sizes taking turns. What the passes run once on the weights (a compilation)
is not part of it: the programs hold none.
"""

from __future__ import annotations

import argparse
import time

from paddle_lite_py import passes
from paddle_lite_py.ir.block import Block, Operator, Value
from paddle_lite_py.ir.program import Program
from paddle_lite_py.ir.verify import verify
from paddle_lite_py.registry.op import REGISTRY

SIZES = (2500, 5000)
LIMIT_GROWTH = 2.5  # linear, and what noise and memory add
NAMES = ("exp", "tanh", "log", "sqrt")


@passes.rewrite(passes.call("tanh", passes.call("exp", "x")))
def pattern(m: passes.Match) -> object:
    """A rewrite that replaces a quarter of the operators."""
    return m.x * 2.0


def program(size: int) -> Program:
    """A chain of operators, in which each fifth is the same as the one before."""
    last, ops = Value((4, 4), "float32"), []
    first = before = last
    for i in range(size):
        out = Value((4, 4), "float32")
        again = i % 5 == 4
        name = ops[-1].name if again else "matmul" if i % 10 == 0 else NAMES[i % 4]
        given = (before,) if again else (last,)
        bound = REGISTRY[name].bind((False, False) if name == "matmul" else ())
        ops.append(Operator(bound, given * (2 if name == "matmul" else 1), (out,)))
        before, last = given[0], out
    return Program(Block([first], ops, [last]), ["x"])


def main() -> None:
    """Print a row for each pass, and how many targets are missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5, help="turns of each size (default 5)")
    rounds = parser.parse_args().rounds
    programs = [program(n) for n in SIZES]
    print(f"| pass                  | {SIZES[0]} operators | {SIZES[1]} operators | growth |")
    print("|-----------------------|----------------|----------------|--------|")
    missed = 0
    shipped = [n for n in passes.names() if n != "freeze_weights"]
    for name, run in [*((n, n) for n in shipped), ("a rewrite", pattern), ("verify", verify), ("print", str)]:
        small, large = best(run, programs, rounds)
        missed += large / small > LIMIT_GROWTH
        print(f"| {name:21} | {small * 1e3:11.1f} ms | {large * 1e3:11.1f} ms | {large / small:6.2f} |", flush=True)
    print(f"passes: {missed} of the rows grow by more than {LIMIT_GROWTH}")


def best(run: object, programs: list[Program], rounds: int) -> list[float]:
    """The best time in seconds for each program."""
    times = [float("inf")] * len(programs)
    for _ in range(rounds):
        for i, p in enumerate(programs):
            start = time.perf_counter()
            if isinstance(run, str):
                passes.apply(p, run, check=False)
            else:
                run(p)  # type: ignore[operator]
            times[i] = min(times[i], time.perf_counter() - start)
    return times


if __name__ == "__main__":
    main()
