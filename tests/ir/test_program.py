"""The intermediate representation: tracing, printing, verification, JSON, passes, symbolic shapes, lowering."""

from __future__ import annotations

import copy
import json
import subprocess
import sys

import jax
import numpy as np
import pytest
from jax import export

import house
import paddle_lite_py as paddle
from paddle_lite_py.core.errors import EscapedTensorError, TracedValueError
from paddle_lite_py.ir import serialize, simplify
from paddle_lite_py.ir.lower import lower
from paddle_lite_py.ir.program import Block, Operator, Program
from paddle_lite_py.ir.verify import ProgramError, verify
from paddle_lite_py.tracing.executor import Executable
from paddle_lite_py.tracing.trace import trace

LATE = """
import importlib, json, sys
import paddle_lite_py
from paddle_lite_py import op
assert op.find("frame") is not None and op.find("no such op") is None
found = set(op.REGISTRY)
for name in json.loads(sys.argv[1]):
    importlib.import_module(name)
print(sorted(set(op.REGISTRY) - found))
"""


def test_a_file_may_name_ops_of_any_part_of_the_framework():
    modules = [m for m in house.modules() if m.startswith("paddle_lite_py") and not m.endswith("__main__")]
    command = [sys.executable, "-c", LATE, json.dumps(modules)]
    done = subprocess.run(command, cwd=house.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


def traced(fn, *args):
    found = trace(fn, [a._data for a in args], [not a.stop_gradient for a in args], [f"x{i}" for i in range(len(args))])
    verify(found.program)
    return found


def run(fn, *args):
    return Executable(traced(fn, *args), "f").run(args)


X = [1.0, 2.0]


def test_a_program_reads_like_the_function():
    w = paddle.to_tensor([3.0, 4.0])
    w.name = "w"
    text = str(traced(lambda x: (x * w).sum(), paddle.to_tensor(X)).program)
    head, product, total, end = text.splitlines()
    assert head == "program(%x0: float32[2], %w: float32[2]) -> (%3) {"
    assert product.startswith("  %2: float32[2] = multiply(%x0, %w)") and "test_program.py:" in product
    assert total.startswith("  %3: float32[] = sum(%2) {axis=None")
    assert end == "}"


def test_a_tensor_from_outside_is_captured_not_baked():
    w = paddle.to_tensor([3.0, 4.0])
    executable = Executable(traced(lambda x: x * w, paddle.to_tensor(X)), "f")
    assert executable.run([paddle.to_tensor(X)]).tolist() == [3.0, 8.0]
    w.set_value(np.array([1.0, 1.0], "float32"))
    assert executable.run([paddle.to_tensor(X)]).tolist() == [1.0, 2.0]


def test_state_is_written_back_and_only_by_a_run():
    count = paddle.zeros([])

    def f(x):
        count.add_(paddle.ones([]))
        return x * count

    found = traced(f, paddle.to_tensor(X))
    assert count.item() == 0.0
    executable = Executable(found, "f")
    results = [executable.run([paddle.to_tensor(X)]).tolist() for _ in range(3)]
    assert results == [[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]] and count.item() == 3.0


def test_state_is_given_back_when_a_trace_fails():
    count = paddle.zeros([])

    def f(x):
        count.add_(paddle.ones([]))
        raise KeyError("stop")

    with pytest.raises(KeyError):
        traced(f, paddle.to_tensor(X))
    assert count.item() == 0.0


def test_in_place_on_an_argument_reaches_the_caller():
    x = paddle.to_tensor(X)
    executable = Executable(traced(lambda v: v.add_(paddle.ones([2])), x), "f")
    out = executable.run([x])
    assert out is x and x.tolist() == [2.0, 3.0]


def test_donated_state_never_takes_away_what_the_user_holds():
    p = paddle.to_tensor(X)

    def f(x):
        p.set_value(p + x)
        return p.sum()

    executable = Executable(traced(f, paddle.to_tensor(X)), "f")
    detached, deep, array = p.detach(), copy.deepcopy(p), np.asarray(p)
    held, twin = p._data, paddle.to_tensor(X)
    twin._data = p._data
    view = np.from_dlpack(p)
    for _ in range(2):
        executable.run([paddle.to_tensor(X)])
    assert p.tolist() == [3.0, 6.0]
    for before in (detached.numpy(), deep.numpy(), array, np.asarray(held), twin.numpy(), view):
        np.testing.assert_array_equal(before, X)


def test_an_escaped_tensor_says_what_it_is():
    kept = []
    traced(lambda x: kept.append(x * 2.0), paddle.to_tensor(X))
    for use in (lambda: kept[0].numpy(), lambda: kept[0] + 1.0, lambda: float(kept[0].sum()), lambda: bool(kept[0])):
        with pytest.raises(EscapedTensorError, match="trace has ended"):
            use()
    assert "traced" in repr(kept[0])


def test_python_cannot_have_the_value_of_a_traced_tensor():
    for use in (bool, int, float, lambda v: v.numpy(), lambda v: v.tolist(), np.asarray):
        with pytest.raises(TracedValueError, match=r"float32\[\].*while a static program is traced"):
            traced(lambda x, use=use: use(x.sum()), paddle.to_tensor(X))


def test_a_traced_tensor_is_no_attribute():
    with pytest.raises(TracedValueError, match="must be known"):
        trace(lambda x: x.reshape([x.sum().astype("int32"), 1]), [jax.ShapeDtypeStruct((2,), "float32")], [False], "x")


def test_errors_of_an_op_name_it_and_its_arguments():
    with pytest.raises((ValueError, TypeError), match=r"matmul\(x=float32\[2\], y=float32\[3\]"):
        traced(lambda x: paddle.matmul(x, paddle.ones([3])), paddle.to_tensor(X))
    with pytest.raises((ValueError, TypeError), match=r"matmul\(x=float32\[2\], y=float32\[3\]"):
        paddle.matmul(paddle.to_tensor(X), paddle.ones([3]))


def big(x):
    w = paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]])
    y = paddle.tanh(paddle.matmul(x.reshape([1, 2]), w))
    return {"y": y, "parts": [y.sum(), y.max()]}


def test_json_round_trip_gives_the_same_program_and_results():
    x = paddle.to_tensor(X)
    program = traced(big, x).program
    data = json.loads(json.dumps(serialize.to_json(program)))
    again = verify(serialize.from_json(data))
    assert serialize.to_json(again) == serialize.to_json(program)
    args = [x._data, *[c._data for c in traced(big, x).captures]]
    for a, b in zip(lower(program)(*args), lower(again)(*args), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda d: d.update(version=99), "version is 99"),
        (lambda d: d.update(format="else"), "not a paddle_lite_py.program"),
        (lambda d: d["block"]["ops"][0].update(op="os.system"), "not known"),
        (lambda d: d["block"]["ops"][0].pop("in"), "damaged"),
        (lambda d: d["block"].update(outputs=[12345]), "damaged"),
    ],
)
def test_damaged_json_is_refused(damage, message):
    data = serialize.to_json(traced(big, paddle.to_tensor(X)).program)
    damage(data)
    with pytest.raises(serialize.FormatError, match=message):
        serialize.from_json(data)


def test_dead_code_goes():
    def f(x):
        paddle.exp(x)
        return x + 1.0

    assert [op.name for op in traced(f, paddle.to_tensor(X)).program.block.ops] == ["add"]


def test_constants_are_folded():
    def f(x):
        return x * (paddle.full([2], 3.0) + paddle.ones([2]))

    program = verify(simplify.fold_constants(traced(f, paddle.to_tensor(X)).program))
    assert [op.name for op in program.block.ops] == ["constant", "multiply"]
    np.testing.assert_array_equal(lower(program)(np.array(X, "float32"))[0], [4.0, 8.0])


def test_the_verifier_finds_what_is_wrong():
    program = traced(lambda x: paddle.tanh(x) + 1.0, paddle.to_tensor(X)).program
    block = program.block
    with pytest.raises(ProgramError, match="before it is defined"):
        verify(Program(Block(block.inputs, block.ops[::-1], block.outputs), program.input_names))
    with pytest.raises(ProgramError, match="defined twice"):
        verify(Program(Block(block.inputs, [*block.ops, block.ops[0]], block.outputs), program.input_names))
    with pytest.raises(ProgramError, match="not defined in its block"):
        verify(Program(Block(block.inputs, block.ops[:1], block.outputs), program.input_names))
    with pytest.raises(ProgramError, match="names"):
        verify(Program(block, []))
    first = block.ops[0]
    wrong = copy.copy(first.outputs[0])
    wrong.shape = (3,)
    with pytest.raises(ProgramError, match="its function gives"):
        verify(Program(Block(block.inputs, [Operator(first.bound, first.inputs, (wrong,))], [wrong]), ["x"]))


def test_symbolic_dimensions_flow_and_are_solved_at_run_time():
    (batch,) = export.symbolic_shape("b")
    spec = jax.ShapeDtypeStruct((batch, 4), "float32")

    def f(x):
        y = x.reshape([x.shape[0] * 2, 2])
        return y, paddle.full([x.shape[0]], 1.0) + x.sum(axis=1)

    found = trace(f, [spec], [False], ["x"])
    verify(found.program)
    assert "b*2" in str(found.program).replace("2*b", "b*2")
    executable = Executable(found, "f")
    for n in (1, 3):
        y, z = executable.run([paddle.ones([n, 4])])
        assert y.shape == [2 * n, 2] and z.tolist() == [5.0] * n
    again = serialize.from_json(json.loads(json.dumps(serialize.to_json(found.program))))
    assert lower(again)(np.ones((5, 4), "float32"))[0].shape == (10, 2)


def test_random_numbers_are_the_same_in_both_modes():
    def draw(x):
        return x + paddle.rand([2]), paddle.randn([2])

    paddle.seed(7)
    eager = [t.tolist() for _ in range(2) for t in draw(paddle.to_tensor(X))]
    executable = Executable(traced(draw, paddle.to_tensor(X)), "draw")
    paddle.seed(7)
    static = [t.tolist() for _ in range(2) for t in executable.run([paddle.to_tensor(X)])]
    np.testing.assert_allclose(static, eager, rtol=1e-6)
    assert eager[0] != eager[2]


def test_gradient_inside_a_program():
    w = paddle.to_tensor([3.0, 4.0], stop_gradient=False)

    def step(x):
        (x * w * w).sum().backward()
        grad = w.grad
        w.clear_gradient()
        return grad

    assert run(step, paddle.to_tensor(X)).tolist() == [6.0, 16.0]
    assert w.grad is None or w.grad.tolist() == [0.0, 0.0]


def test_gradients_accumulate_over_runs_of_a_program():
    w = paddle.to_tensor([1.0, 1.0], stop_gradient=False)

    def step(x):
        (x * w).sum().backward()

    x = paddle.to_tensor(X)
    Executable(traced(step, x), "step").run([x])
    assert w.grad.tolist() == [1.0, 2.0]
    again = Executable(traced(step, x), "step")
    again.run([x])
    again.run([x])
    assert w.grad.tolist() == [3.0, 6.0]


def test_grad_of_grad_inside_a_program():
    def f(x):
        x.stop_gradient = False
        (dx,) = paddle.grad((x * x * x).sum(), x, create_graph=True)
        return paddle.grad(dx.sum(), x)[0]

    np.testing.assert_allclose(run(f, paddle.to_tensor(X)).numpy(), [6.0, 12.0], rtol=1e-6)


def test_two_losses_share_a_trunk():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def step(x):
        trunk = w * w
        (trunk * x).sum().backward(retain_graph=True)
        (trunk * 10.0).sum().backward()
        return w.grad

    assert run(step, paddle.to_tensor([1.0])).tolist() == [4.0 + 40.0]


def test_a_second_backward_inside_a_program_needs_retain_graph():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def step(x):
        y = (w * x).sum()
        y.backward()
        y.backward()

    with pytest.raises(RuntimeError, match="retain_graph=True"):
        traced(step, paddle.to_tensor([1.0]))
    assert w.grad is None


class Tripled(paddle.autograd.PyLayer):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2.0

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensor()
        return g * x * 3.0


def test_py_layer_inside_a_program():
    w = paddle.to_tensor([2.0], stop_gradient=False)

    def step(x):
        (Tripled.apply(w * 1.0) * x).sum().backward()
        return w.grad

    assert run(step, paddle.to_tensor([5.0])).tolist() == [30.0]
