"""PyTorch under the names of Paddle's that the workloads use, so that one description of a net serves both.

Layers and functions are PyTorch's own objects wherever their arguments agree; `to_static` is `torch.compile`. Layouts
of batches and heads are Paddle's. A name that is not here raises `Absent`: the workload has no row for PyTorch.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import torch
from torch import nn as torch_nn
from torch.nn import functional as torch_F

from worker import Absent


class Names(SimpleNamespace):
    """A namespace that tells which names are missing from names that fail."""

    def __getattr__(self, name: str) -> Any:
        raise Absent(name)


DTYPES = {name: getattr(torch, name) for name in ("float32", "float64", "int32", "int64", "bfloat16")}
SAME = frozenset(
    "arange argsort bincount concat einsum exp eye flatten linspace matmul maximum minimum no_grad ones_like outer "
    "rand randn set_grad_enabled sin stack tanh tile where roll".split()
)
OTHER = {
    "to_tensor": torch.as_tensor,
    "seed": torch.manual_seed,
    "grad": torch.autograd.grad,
    "transpose": torch.permute,
    "gather": lambda x, index: x[index],
    "take_along_axis": lambda x, index, axis: x.gather(axis, index),
    "scatter_nd_add": lambda x, index, updates: x.index_add(0, index.squeeze(1), updates),
    "zeros": lambda shape, dtype="float32": torch.zeros(shape, dtype=DTYPES[dtype]),
    "ones": lambda shape, dtype="float32": torch.ones(shape, dtype=DTYPES[dtype]),
    "full": lambda shape, value, dtype="float32": torch.full(shape, value, dtype=DTYPES[dtype]),
}


def __getattr__(name: str) -> Any:
    """A function: PyTorch's own, or one with Paddle's arguments."""
    if name in SAME:
        return getattr(torch, name)
    if name in OTHER:
        return OTHER[name]
    raise Absent(name)


# -- tensors ---------------------------------------------------------------------------------------------------------
def _set_stop_gradient(x: Any, value: bool) -> None:
    x.requires_grad_(not value)


def _clear_gradient(x: Any) -> None:
    x.grad = None


Tensor = torch.Tensor
Tensor.stop_gradient = property(lambda x: not x.requires_grad, _set_stop_gradient)
Tensor.astype = lambda x, dtype: x.to(DTYPES[dtype])
Tensor.clear_gradient = _clear_gradient


# -- layers ----------------------------------------------------------------------------------------------------------
class Layer(torch_nn.Module):
    """A module that makes parameters."""

    def create_parameter(self, shape: list[int]) -> Any:
        return torch_nn.Parameter(torch_nn.init.xavier_uniform_(torch.empty(shape)))


def _convolution(kind: Any) -> Any:
    """A convolution without bias where Paddle's argument says so."""
    return lambda *args, bias_attr=None, **settings: kind(*args, bias=bias_attr is not False, **settings)


def _batch_first(kind: Any) -> Any:
    """A layer over sequences whose batch comes first, as it always does in Paddle."""
    return lambda *args, **settings: kind(*args, batch_first=True, **settings)


def _encoder(layer: Any, count: int) -> Any:
    return torch_nn.TransformerEncoder(layer, count, enable_nested_tensor=False)


def _cross_entropy(scores: Any, label: Any, axis: int = -1) -> Any:
    """Classes lie on the last axis unless said otherwise."""
    if axis == -1 and scores.ndim > 2:
        scores, label = scores.flatten(0, -2), label.flatten()
    return torch_F.cross_entropy(scores, label)


def _attention(query: Any, key: Any, value: Any, is_causal: bool = False) -> Any:
    """Batch, sequence, heads, width."""
    heads_first = (x.transpose(1, 2) for x in (query, key, value))
    return torch_F.scaled_dot_product_attention(*heads_first, is_causal=is_causal).transpose(1, 2)


functional = Names(
    **{
        name: getattr(torch_F, name)
        for name in "relu gelu silu glu leaky_relu mse_loss one_hot max_pool2d max_pool3d adaptive_avg_pool2d "
        "binary_cross_entropy_with_logits interpolate".split()
    },
    tanh=torch.tanh, sigmoid=torch.sigmoid, cross_entropy=_cross_entropy, scaled_dot_product_attention=_attention,
    softmax=lambda x, axis=-1: torch_F.softmax(x, axis), log_softmax=lambda x, axis=-1: torch_F.log_softmax(x, axis),
)  # fmt: skip
nn = Names(
    **{
        name: getattr(torch_nn, name)
        for name in "Sequential Linear Embedding LayerNorm ReLU GELU Tanh LeakyReLU Flatten CrossEntropyLoss".split()
    },
    **{f"{k}{n}D": getattr(torch_nn, f"{k}{n}d") for k in ("BatchNorm", "InstanceNorm", "MaxPool") for n in (1, 2, 3)},
    **{f"Conv{n}D": _convolution(getattr(torch_nn, f"Conv{n}d")) for n in (1, 2, 3)},
    Conv2DTranspose=_convolution(torch_nn.ConvTranspose2d), Layer=Layer, LayerList=torch_nn.ModuleList,
    Silu=torch_nn.SiLU, LSTM=_batch_first(torch_nn.LSTM), functional=functional, TransformerEncoder=_encoder,
    TransformerEncoderLayer=_batch_first(torch_nn.TransformerEncoderLayer),
)  # fmt: skip


# -- training --------------------------------------------------------------------------------------------------------
class Adam(torch.optim.Adam):
    """Adam by Paddle's arguments."""

    def __init__(self, learning_rate: float, beta1: float = 0.9, parameters: Any = ()) -> None:
        super().__init__(parameters, learning_rate, (beta1, 0.999))

    def clear_grad(self) -> None:
        self.zero_grad()


class Categorical:
    """A distribution over classes that draws samples."""

    def __init__(self, logits: Any) -> None:
        self.drawn_from = torch.distributions.Categorical(logits=logits)

    def sample(self, shape: Any) -> Any:
        return self.drawn_from.sample(shape)


class Models:
    """torchvision's models, and the LeNet that it lacks."""

    @staticmethod
    def LeNet() -> Any:
        return torch_nn.Sequential(
            *(nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(6, 16, 5), nn.ReLU()),
            *(nn.MaxPool2D(2, 2), nn.Flatten(), nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)),
        )

    def __getattr__(self, name: str) -> Any:
        from torchvision import models

        return getattr(models, name)


def _to_static(function: Any, full_graph: bool = True) -> Any:
    return torch.compile(function)


jit = Names(to_static=_to_static)
optimizer = Names(Adam=Adam)
distribution = Names(Categorical=Categorical)
amp = Names(auto_cast=lambda dtype: torch.autocast("cpu", dtype=DTYPES[dtype]))
vision = Names(models=Models())
