"""The packages that `make ecosystem` tries: one row each, one file of this folder each, pinned, from PyPI.

Requirements are complete: nothing else is installed but what both environments have, PaddlePaddle's own needs (NumPy,
Pillow, protobuf, networkx, httpx, safetensors) and SciPy. What is named here goes before what an environment has.
"""

from __future__ import annotations

from typing import NamedTuple


class Trial(NamedTuple):
    """A package, what is installed for it, and how far its numbers may differ."""

    requirements: tuple[str, ...]
    what: str
    tolerance: float = 1e-5
    alone: bool = False  # small and without requirements: a test runs it
    cause: str = ""  # of what differs
    env: tuple[str, ...] = ()  # NAME=value, set before Python starts
    pip: tuple[str, ...] = ()  # more options for pip


TRIALS = {
    "einops_layers": Trial(("einops==0.8.2",), "network of its layers and functions, 20 steps", alone=True),
    "safetensors_file": Trial(("safetensors==0.8.0",), "saving and loading weights; six dtypes", alone=True),
    "nnaudio_spectrograms": Trial(
        ("paddle-nnaudio==0.0.3",), "classifier on trained mel spectrograms; STFT, MFCC, constant-Q", 1e-4, alone=True
    ),
    "msssim_picture": Trial(("paddle-msssim==0.0.2",), "a picture optimized by SSIM; MS-SSIM", 1e-3, alone=True),
    "deepxde_poisson": Trial(
        ("deepxde==1.15.0", "matplotlib==3.10.7", "cycler==0.12.1", "kiwisolver==1.4.9", "pyparsing==3.2.5",
         "python-dateutil==2.9.0.post0", "six==1.17.0", "contourpy==1.3.3", "fonttools==4.60.1", "packaging==25.0",
         "scikit-learn==1.7.2", "joblib==1.5.2", "threadpoolctl==3.6.0", "scikit-optimize==0.10.2", "pyaml==25.7.0",
         "PyYAML==6.0.3"),
        "Poisson equation with Adam, then L-BFGS; predictions", 1e-2,
    ),
}  # fmt: skip
