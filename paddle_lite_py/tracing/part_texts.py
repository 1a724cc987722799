"""The parts of a program as text: what each is made of, and what its runs have cost."""

from __future__ import annotations

from collections.abc import Iterator

from .parts import ApartOperator, PartedBlock, PreparedPart


def parts_text(parted: PartedBlock) -> str:
    """A line for each part, those of branches and loops that run in parts below their own; empty for a single part."""
    return "".join([f"{line}\n" for line in _lines(parted, "")]) if len(parted.parts) > 1 or _is_apart(parted) else ""


def _is_apart(parted: PartedBlock) -> bool:
    return any(part.apart for part in parted.parts)


def _lines(parted: PartedBlock, indent: str) -> Iterator[str]:
    for i, part in enumerate(parted.parts, 1):
        yield f"{indent}part {i}: {_content(part)}{_cost(part)}"
        for op in part.apart:
            yield from _of_blocks(op, f"{indent}    ")


def _of_blocks(op: ApartOperator, indent: str) -> Iterator[str]:
    for i, block in enumerate(op.blocks, 1):
        yield f"{indent}block {i} of {op.operator.name}"
        yield from _lines(block, f"{indent}    ")


def _content(part: PreparedPart) -> str:
    ops = part.part.block.ops
    if part.apart:
        return ", ".join([f"{op.name} at {op.where}" for op in ops]) + ", run by Python"
    sizes = f", compiled for each {', '.join(part.symbols)}" if part.symbols else ""
    return f"{len(ops)} operator{'s' * (len(ops) != 1)} from {ops[0].where} on{sizes}"


def _cost(part: PreparedPart) -> str:
    """Describe the cost of its runs so far."""
    if not part.runs:
        return ""
    met = f", {part.n_sizes} sizes" if part.symbols and not part.apart else ""
    return f" ({part.runs} runs{met}, {part.traces} compiled)"
