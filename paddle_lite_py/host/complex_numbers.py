"""Steps that make complex numbers, and take them apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .rules import elementwise, rule
from .steps import HostStep

Function = Callable[..., Any]


@elementwise("conj")
def _conj(step: HostStep) -> Function:
    dtype = step.made[0].dtype
    return lambda x: np.conjugate(x).astype(dtype, copy=False)


@elementwise("real", "imag")
def _part(step: HostStep) -> Function:
    # A copy: what is made owns its memory.
    return (lambda x: np.array(x.real)) if step.name == "real" else lambda x: np.array(x.imag)


@elementwise("complex")
def _complex(step: HostStep) -> Function:
    dtype = step.made[0].dtype

    def together(real: Any, imag: Any) -> Any:
        made = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), dtype)
        made.real, made.imag = real, imag
        return made

    return together


@rule("fft")
def _fft(step: HostStep) -> Function:
    lengths = step.params["fft_lengths"]
    axes, dtype = tuple(range(-len(lengths), 0)), step.made[0].dtype
    run: Any = (
        lambda x: np.fft.fftn(x, axes=axes),
        lambda x: np.fft.ifftn(x, axes=axes),
        lambda x: np.fft.rfftn(x, axes=axes),
        lambda x: np.fft.irfftn(x, lengths, axes),
    )[int(step.params["fft_type"])]  # a jax.lax.FftType
    return lambda x: run(x).astype(dtype, copy=False)
