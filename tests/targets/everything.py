"""Ops, layers, optimizers, control flow and what no table has: what is compiled for other machines, many at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax

import layer_cases
import nn_ops_table
import ops_table
import optimizer_cases
import paddle_lite_py as paddle
from op_calls import call, tensors
from paddle_lite_py.core.arrays import spec_of

F = paddle.nn.functional


class Case(NamedTuple):
    """One thing that is to compile: a function of arrays, and what it takes."""

    kind: str
    name: str
    fn: Callable[..., Any]
    specs: Sequence[Any]
    program: Any


def traced(kind: str, name: str, function: Callable[..., Any], *args: Any) -> Case:
    """A function of tensors as a case: what its static form is for these arguments."""
    static = paddle.jit.to_static(function, full_graph=True)
    entry = static.get_concrete_program(*args)[1]
    executable = entry.executable
    found: list[Any] = []
    paddle.utils.map_structure(lambda t: found.append(t) if isinstance(t, paddle.Tensor) else None, list(args))
    specs = executable.given([spec_of(t._payload) for t in found])
    return Case(kind, name, executable.function_for(specs, False), specs, executable.traced.program)


def together(cases: Sequence[Case]) -> tuple[Callable[..., Any], list[Any]]:
    """Many cases as one function of all their arguments: one module compiles in little more time than one of them."""
    ends = list(itertools.accumulate(len(c.specs) for c in cases))

    def fn(*arrays: Any) -> list[Any]:
        out = []
        for case, end in zip(cases, ends, strict=True):
            with jax.named_scope(case.name.partition("(")[0].replace("/", ".")):
                out.append(case.fn(*arrays[end - len(case.specs) : end]))
        return out

    return fn, [s for c in cases for s in c.specs]


# -- ops ---------------------------------------------------------------------------------------------------------------
def ops() -> Iterator[Callable[[], Case]]:
    """Each row of the op tables, in each of its dtypes, and its gradient."""
    for row in (*ops_table.ROWS, *nn_ops_table.ROWS):
        if row.dynamic or row.name == "histogramdd":
            continue  # the shape of the result depends on the data: there is no program
        for dtype in dict.fromkeys((*row.dtypes, *(["float64"] if row.grad else []))):
            yield lambda row=row, dtype=dtype: _op(row, dtype)
        if row.grad:
            yield lambda row=row: _gradient(row)


def _op(row: Any, dtype: str) -> Case:
    sample = row.sample(dtype)
    given, _ = tensors(sample)
    return traced("op", f"{row} {dtype}", lambda *args: call(row, args), *given)


def _gradient(row: Any) -> Case:
    given, xs = tensors(row.sample("float32"), differentiable=True)

    def gradient(*args: Any) -> Any:
        outs = [o for o in call(row, args) if o.dtype.is_floating]
        inner = [t for t in _flat(args) if not t.stop_gradient]
        return [g for g in paddle.grad(outs, inner, allow_unused=True) if g is not None]

    return traced("gradient", f"gradient of {row}", gradient, *given) if xs else _op(row, "float32")


def _flat(value: Any) -> list[Any]:
    return [t for v in value for t in _flat(v)] if isinstance(value, list | tuple) else [value]


# -- layers, optimizers ------------------------------------------------------------------------------------------------
def layers() -> Iterator[Callable[[], Case]]:
    """Each layer of the table of layers: forward, and the gradients of its weights."""
    for expression, inputs in layer_cases.CASES:
        yield lambda e=expression, i=inputs: _layer(e, i)


def _layer(expression: str, inputs: list[Any]) -> Case:
    layer = layer_cases.make(paddle, expression)
    given = [layer_cases._input(paddle, v) for v in inputs]

    def run(*args: Any) -> Any:
        outs = [o for o in layer_cases.flat(layer(*args)) if o.dtype.is_floating]
        weights = [p for p in layer.parameters() if not p.stop_gradient]
        return outs, paddle.grad([o.sum() for o in outs if not o.stop_gradient], weights, allow_unused=True)

    def forward(*args: Any) -> Any:
        return layer_cases.flat(layer(*args))

    trained = any(not p.stop_gradient for p in layer.parameters())
    return traced("layer", expression, run if trained else forward, *given)


def optimizers() -> Iterator[Callable[[], Case]]:
    """A step of each optimizer."""
    for case in optimizer_cases.CASES:
        yield lambda c=case: _optimizer(c)


def _optimizer(case: str) -> Case:
    parameters = optimizer_cases.parameters(paddle, case)
    optimizer = optimizer_cases.CASES[case](paddle, parameters)

    def step(x: Any) -> Any:
        loss = ((paddle.matmul(x, parameters[0]) + parameters[1]) ** 2).mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    return traced("optimizer", f"optimizer {case}", step, paddle.ones([2, 2]))


# -- control flow, random numbers, and what no table has ---------------------------------------------------------------
def _while(x: Any) -> Any:
    while x.sum() < 100.0:
        x = x * 1.5
    return x


def _branch(x: Any) -> Any:
    if x.mean() > 0:
        y = x.exp()
    else:
        y = -x
    return y


def _break(x: Any) -> Any:
    for i in range(10):
        if x.max() > 5.0:
            break
        x = x + i
    return x


def _loop_gradient(x: Any) -> Any:
    y = x
    while y.sum() < 100.0:
        y = y * x.exp() + 0.1
    return paddle.grad(y.sum(), x)[0]


def _loop_of_known_length(x: Any) -> Any:
    total = paddle.zeros([4])
    for row in x:
        total = total + row.tanh() * total.sigmoid()
    return paddle.grad(total.sum(), x)[0]


def _checked(x: Any) -> Any:
    assert x.min() > -100.0
    return x.log()


def _half(x: Any) -> Any:
    with paddle.amp.auto_cast(level="O1", dtype="bfloat16"):
        return F.conv2d(x, paddle.ones([8, 4, 3, 3]), padding=1)


def _dequantized(x: Any) -> Any:
    return (x * 10).round().clip(-127, 127).astype("int8").astype("float32") / 10


def _drawn(x: Any) -> Any:
    return [paddle.randn([3, 4]), paddle.rand([3]), paddle.randint(0, 9, [4]), x]


def _grouped(groups: int) -> Callable[..., Any]:
    return lambda x: F.conv2d(x, paddle.ones([16, 16 // groups, 3, 3]), padding=1, groups=groups)


def _dilated(x: Any) -> Any:
    return F.conv2d(x, paddle.ones([8, 16, 3, 3]), padding=2, dilation=2)


def _transposed(x: Any) -> Any:
    return F.conv2d_transpose(x, paddle.ones([16, 8, 3, 3]), stride=2)


def _masked(x: Any) -> Any:
    return F.scaled_dot_product_attention(x, x, x, x[:, :, 0].unsqueeze(1) @ paddle.ones([64, 128]))


def _placed(x: Any) -> Any:
    return paddle.scatter(x, paddle.to_tensor([1, 3]), x[:2]).gather(paddle.to_tensor([0, 2]))


SQUARE, PICTURES, WORDS = [4, 4], [2, 16, 16, 16], [2, 128, 4, 64]
OTHERS: dict[str, tuple[Callable[..., Any], list[int]]] = {
    "while": (_while, SQUARE),
    "if": (_branch, SQUARE),
    "for with break": (_break, SQUARE),
    "gradient of a while loop": (_loop_gradient, SQUARE),
    "gradient of a for loop": (_loop_of_known_length, [6, 4]),
    "assert": (_checked, SQUARE),
    "random numbers": (_drawn, SQUARE),
    "randperm": (lambda x: paddle.randperm(16), [1]),
    "multinomial": (lambda x: paddle.multinomial(x.abs(), 2), SQUARE),
    "dropout": (lambda x: F.dropout(x, 0.3), SQUARE),
    "bernoulli, poisson": (lambda x: [paddle.bernoulli(x.sigmoid()), paddle.poisson(x.abs())], SQUARE),
    "grouped convolution": (_grouped(4), PICTURES),
    "depthwise convolution": (_grouped(16), PICTURES),
    "dilated convolution": (_dilated, PICTURES),
    "transposed convolution": (_transposed, PICTURES),
    "convolution in bfloat16": (_half, [2, 4, 16, 16]),
    "attention": (lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), WORDS),
    "attention with a mask": (_masked, WORDS),
    "flash_attention": (lambda x: F.flash_attention.flash_attention(x, x, x, causal=True)[0], WORDS),
    "float64": (lambda x: (x.astype("float64") @ x.astype("float64")).exp().cumsum(0), SQUARE),
    "int64": (lambda x: (x * 1e6).astype("int64").cumsum(0) // 7 % 3, SQUARE),
    "complex numbers": (lambda x: paddle.linalg.det(paddle.complex(x, x)).abs(), SQUARE),
    "fft and its inverse": (lambda x: paddle.fft.ifft(paddle.fft.fft(x)).real(), [4, 16]),
    "fft2 of real numbers": (lambda x: paddle.fft.irfft2(paddle.fft.rfft2(x)), [4, 16, 16]),
    "svd": (paddle.linalg.svd, [6, 4]),
    "qr": (paddle.linalg.qr, [6, 4]),
    "eigh": (lambda x: paddle.linalg.eigh(x @ x.T), SQUARE),
    "cholesky": (lambda x: paddle.linalg.cholesky(x @ x.T + paddle.eye(4)), SQUARE),
    "solve": (lambda x: paddle.linalg.solve(x, x), SQUARE),
    "lu": (paddle.linalg.lu, SQUARE),
    "lstsq": (lambda x: paddle.linalg.lstsq(x, x)[0], [6, 4]),
    "int8 there and back": (_dequantized, [8, 8]),
    "sort and topk": (lambda x: [x.sort(0), x.argsort(1), *x.topk(3)], [8, 8]),
    "scatter and gather": (_placed, [8, 8]),
}


def others() -> Iterator[Callable[[], Case]]:
    """Control flow, random numbers, convolutions, attention, sparse tensors, and what else no table has."""
    for name, (function, shape) in OTHERS.items():
        yield lambda n=name, f=function, s=shape: traced("program", n, f, _argument(s))
    for name in SPARSE:
        yield lambda n=name: traced("sparse", n, SPARSE[n], paddle.rand([4, 3]))


def _argument(shape: list[int]) -> Any:
    made = paddle.rand(shape)
    made.stop_gradient = False
    return made


PLACES = [[0, 1, 2, 2], [1, 0, 2, 3]]


def _coo(values: Any) -> Any:
    return paddle.sparse.sparse_coo_tensor(PLACES, values, [4, 4, 3])


def _csr(values: Any) -> Any:
    return paddle.sparse.sparse_csr_tensor([0, 1, 2, 4, 4], [1, 0, 2, 3], values[:, 0], [4, 4])


SPARSE = {
    "sparse to dense": lambda v: _coo(v).to_dense(),
    "sparse relu and sum": lambda v: paddle.sparse.nn.functional.relu(_coo(v)).to_dense(),
    "sparse matmul": lambda v: paddle.sparse.matmul(_csr(v), paddle.ones([4, 5])),
    "sparse masked_matmul": lambda v: paddle.sparse.masked_matmul(v, paddle.ones([3, 4]), _csr(v)).to_dense(),
    "sparse softmax": lambda v: paddle.sparse.nn.functional.softmax(_csr(v)).to_dense(),
}


KINDS: dict[str, Callable[[], Iterator[Callable[[], Case]]]] = {
    "ops": ops, "layers": layers, "optimizers": optimizers, "others": others,
}  # fmt: skip
