"""Running transformed programs: as functions, and in the place of the program that was traced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.arrays import as_array
from ..core.interpreter import state
from ..eager.tensor import Tensor, wrap
from ..ir.block import Block
from ..ir.program import Program
from ..tracing.as_traced import as_traced, effect_of
from ..tracing.executor import Executable
from ..tracing.trace import Traced
from .manager import Pass


def transformed(traced: Traced, change: Pass) -> Traced:
    """Return a trace whose program a pass has changed: with the same arguments, results and state, and perhaps more.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> callable(paddle.passes.transformed)
        True
    """
    old, new = traced.program, change(traced.program)
    if new is old:
        return traced
    new = _in_order(
        new, traced.n_args, len(old.block.outputs), traced.n_results + sum(e.n_leaves for e in traced.effects)
    )
    captures = [new.captured[v] for v in new.block.inputs if v in new.captured]
    added = [effect_of(new, i) for i in range(len(new.block.outputs)) if i in new.updates and i not in old.updates]
    flows = [v.requires_grad for v in new.block.outputs[: traced.n_results]]
    grads = tuple([a and b for a, b in zip(traced.requires_grad, flows, strict=True)])
    return traced._replace(program=new, captures=captures, effects=[*traced.effects, *added], requires_grad=grads)


def _in_order(program: Program, n_args: int, n_outputs: int, at: int) -> Program:
    """Captured inputs right behind the arguments; new outputs, which are state, behind the old state."""
    block = program.block
    rest = range(n_args, len(block.inputs))
    order = [*range(n_args), *sorted(rest, key=lambda i: block.inputs[i] not in program.captured)]
    outs = [*range(at), *range(n_outputs, len(block.outputs)), *range(at, n_outputs)]
    made = Block([block.inputs[i] for i in order], block.ops, [block.outputs[i] for i in outs])
    updates = {k: program.updates[i] for k, i in enumerate(outs) if i in program.updates}
    names = [program.input_names[i] for i in order]
    outputs = [program.output_names[i] for i in outs]
    return Program(made, names, outputs, program.captured, updates, program.measured)


def function(program: Program, name: str = "program") -> Callable[..., Any]:
    """A program as a function of tensors: it gives its result, or a tuple of them, and keeps its state up to date.

    Gradients flow through it to its weights and arguments.

    Arguments:
        program: with the tensors that it captured; its other inputs are the arguments, in their order.
        name: of the function, for messages and profiles.

    Raises:
        TypeError: when called with another number of arguments.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> f = paddle.jit.to_static(lambda x: x.log().exp(), input_spec=[paddle.static.InputSpec([2])])
        >>> paddle.passes.function(f.main_program)(paddle.to_tensor([1.0, 2.0])).tolist()
        [1.0, 2.0]
    """
    traced = as_traced(program)
    executable = Executable(traced, name)
    given = traced.program.input_names[: traced.n_args]

    def run(*args: Any) -> Any:
        if len(args) != len(given):
            raise TypeError(f"{name} takes {len(given)} arguments ({', '.join(given)}), got {len(args)}")
        tensors = [a if isinstance(a, Tensor) else wrap(as_array(a)) for a in args]
        flows = state.grad_enabled and (any(traced.requires_grad) or not all(t.stop_gradient for t in tensors))
        return executable.run_with_grad(tensors) if flows else executable.run(tensors)

    run.__name__ = run.__qualname__ = name
    return run
