"""The verifier."""

from __future__ import annotations

import copy

import pytest

import paddle_lite_py as paddle
from paddle_lite_py.ir.block import Block, Operator
from paddle_lite_py.ir.program import Program
from paddle_lite_py.ir.verify import ProgramError, verify
from traces import X, traced


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
