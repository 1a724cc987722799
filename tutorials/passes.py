"""Passes over programs: look at one, make it ready for inference, and write a pass of your own.

usage: python tutorials/passes.py [folder for the files it writes]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import paddle_lite_py as paddle
from paddle_lite_py import nn, passes
from paddle_lite_py.ir.program import Program
from paddle_lite_py.nn import functional as F
from paddle_lite_py.passes import call, rewrite

out = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
paddle.seed(0)

# -- a program ---------------------------------------------------------------------------------------------------------
net = nn.Sequential(
    nn.Conv2D(3, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(),
    nn.Conv2D(8, 8, 3, padding=1), nn.BatchNorm2D(8), nn.ReLU(),
    nn.AdaptiveAvgPool2D(1), nn.Flatten(), nn.Dropout(0.1), nn.Linear(8, 10),
)  # fmt: skip
x = paddle.rand([4, 3, 16, 16])
for _ in range(3):  # running statistics of something
    net(x)
net.eval()
want = net(x)

static = paddle.jit.to_static(net, input_spec=[paddle.static.InputSpec([None, 3, 16, 16], "float32", "image")])
program = static.forward.main_program
print(program)
paddle.static.draw(program, str(out / "before.dot"))  # or .png, .svg, .pdf where Graphviz is installed

# -- the passes that come along ----------------------------------------------------------------------------------------
# A pass is a function from Program to Program. Nothing is changed in place; what a fold computes is a new weight.
manager = passes.PassManager("inference")
ready = manager.apply(program)
print(manager.summary())
print(manager.diff())


def difference(p: Program) -> float:
    """How far the results of a program are from the net's."""
    return float((passes.function(p)(x).astype("float32") - want).abs().max())


print(f"normalization folded:   {len(program.ops())} -> {len(ready.ops())} operators, off by {difference(ready):.1e}")
small = passes.apply(ready, "freeze_int8")
print(f"weights in 8 bits:      off by {difference(small):.1e}")
low = passes.apply(ready, [passes.AutoCast(dtype="bfloat16"), "inference"])
print(f"bfloat16, weights also: off by {difference(low):.1e}")


# -- a pass of one's own: channels last --------------------------------------------------------------------------------
# Each rule is a pattern, and what takes its place, as ordinary paddle code.
FIRST, LAST = (0, 3, 1, 2), (0, 2, 3, 1)


@rewrite(call("conv2d", "x", "w", "b", bind="conv", attrs={"data_format": "NCHW"}))
def convolve_last(m: passes.Match) -> paddle.Tensor:
    """A convolution with its channels last, between two transpositions."""
    settings = {**m.conv.attrs, "data_format": "NHWC"}
    return F.conv2d(m.x.transpose(LAST), m.w, m.b, **settings).transpose(FIRST)


@rewrite(call(("relu", "gelu", "sigmoid", "tanh"), call("transpose", "x", bind="turn"), bind="f"))
def turn_later(m: passes.Match) -> paddle.Tensor:
    """What works element by element may as well come before the transposition."""
    return getattr(F, m.f.name)(m.x, **m.f.attrs).transpose(m.turn["perm"])


@rewrite(call("transpose", call("transpose", "x", bind="first", shared=True), bind="second"))
def turns_cancel(m: passes.Match) -> paddle.Tensor | None:
    """Two transpositions that undo each other."""
    both = [m.first["perm"][i] for i in m.second["perm"]]
    return m.x if both == sorted(both) else None


@passes.register("channels_last")
def channels_last(p: Program) -> Program:
    """The three rules in their order."""
    return passes.apply(p, [convolve_last, turn_later, turns_cancel, "dead_code"])


turned = passes.apply(ready, ["channels_last"])
print([op.name for op in turned.ops()])
print(f"channels last:          off by {difference(turned):.1e}")

# -- in files ----------------------------------------------------------------------------------------------------------
paddle.jit.save(net, str(out / "net"), passes=["inference", "channels_last"])  # or a program: save(turned, ...)
loaded = paddle.jit.load(str(out / "net"))
print(f"saved and loaded:       off by {float((loaded(x) - want).abs().max()):.1e}, in {out}")
