"""Low-rank adapters (LoRA): fine-tuning with few trainable weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...autograd.mode import no_grad
from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.base import Layer
from ...nn.common import Linear
from ...nn.initializer import Constant, KaimingUniform
from ...ops.linalg import matmul
from .places import layer_places
from .quantized import QuantizedLinear

__all__ = ["LoRALinear", "add_lora", "lora_state_dict", "merge_lora"]


class LoRALinear(Layer):
    """A linear layer whose weight is frozen, with a trainable low-rank addition: `x W + b + (x A) B * alpha / r`.

    Arguments:
        linear: the layer, a Linear or a QuantizedLinear; its parameters are shared and frozen.
        r: rank of the addition.
        lora_alpha: its scale is lora_alpha / r.
        lora_dropout: dropout probability of the addition's input. Default: 0.0.

    Source: Hu et al., LoRA: Low-Rank Adaptation of Large Language Models, 2021; Dettmers et al., QLoRA: Efficient
    Finetuning of Quantized LLMs, 2023.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> linear = paddle.nn.Linear(4, 2)
        >>> x = paddle.ones([1, 4])
        >>> bool((LoRALinear(linear, 2, 4.0)(x) == linear(x)).all())
        True
    """

    def __init__(self, linear: Linear | QuantizedLinear, r: int, lora_alpha: float, lora_dropout: float = 0.0) -> None:
        super().__init__()
        self.scale, self.dropout, self.base = lora_alpha / r, lora_dropout, None
        if isinstance(linear, QuantizedLinear):
            self.base, dtype = linear, linear.dtype
            outputs, inputs = linear.weight_scale.shape[-1], linear.weight.shape[1]
        else:
            self.weight, self.bias, dtype = linear.weight, linear.bias, linear.weight.dtype
            inputs, outputs = linear.weight.shape
        self.lora_A = self.create_parameter([inputs, r], dtype=dtype, default_initializer=KaimingUniform())
        self.lora_B = self.create_parameter([r, outputs], dtype=dtype, default_initializer=Constant(0.0))

    def forward(self, x: Tensor) -> Tensor:
        """Apply the layer to x [..., in]."""
        dropped = F.dropout(x, self.dropout, training=self.training) if self.dropout else x
        plain = F.linear(x, self.weight, self.bias) if self.base is None else self.base(x)
        return plain + matmul(matmul(dropped, self.lora_A), self.lora_B) * self.scale

    def merged(self) -> Linear:
        """Return a linear layer that has the addition in its weight, which is no longer quantized."""
        plain = Linear(self.lora_A.shape[0], self.lora_B.shape[1], bias_attr=False)
        with no_grad():
            added = matmul(self.lora_A, self.lora_B) * self.scale
            if self.base is None:
                self.weight.set_value(self.weight + added)
                plain.weight, plain.bias = self.weight, self.bias
            else:
                plain.to(dtype=self.base.dtype)
                plain.weight.set_value(self.base.expanded() + added)
                plain.bias = self.base.bias
        return plain


def add_lora(
    model: Any, r: int = 8, lora_alpha: float = 16.0, target_modules: Sequence[str] = ("q_proj", "v_proj"),
    lora_dropout: float = 0.0,
) -> list[str]:  # fmt: skip
    """Add adapters to linear layers of a model, in place, and freeze all other parameters.

    Args:
        model: Any layer.
        r: Rank of the adapters.
        lora_alpha: Their scale is lora_alpha / r.
        target_modules: Names of the linear layers, such as "q_proj"; only the last part of a name counts.
        lora_dropout: Dropout probability of the adapters' input.

    Returns:
        The full names of the layers with adapters.

    Raises:
        ValueError: No linear layer has one of the names, or r is below 1.

    Example:
        >>> model = paddle.text.models.CausalLM(paddle.text.models.tiny_config(num_hidden_layers=1))
        >>> add_lora(model, r=4)
        ['model.layers.0.self_attn.q_proj', 'model.layers.0.self_attn.v_proj']
        >>> sum(int(p.size) for p in model.parameters() if p.trainable)
        448
    """
    if r < 1:
        raise ValueError(f"add_lora: r is {r}; expected at least 1")
    there = list(layer_places(model, (Linear, QuantizedLinear)))
    places = [p for p in there if p[1] in target_modules]
    if not places:
        names = sorted({name for _, name, _, _ in there})
        raise ValueError(
            f"add_lora: no linear layer is called {', '.join(target_modules)}; there are {', '.join(names)}"
        )
    for parameter in model.parameters():
        parameter.stop_gradient = True
    for owner, name, layer, _ in places:
        setattr(owner, name, LoRALinear(layer, r, lora_alpha, lora_dropout))
    return [full for *_, full in places]


def merge_lora(model: Any) -> None:
    """Add the adapters to the weights, in place, and remove them; parameters are trainable again.

    Args:
        model: A layer after add_lora().

    Example:
        >>> model = paddle.text.models.CausalLM(paddle.text.models.tiny_config(num_hidden_layers=1))
        >>> _ = add_lora(model, r=4)
        >>> merge_lora(model)
        >>> lora_state_dict(model)
        {}
    """
    for owner, name, layer, _ in list(layer_places(model, LoRALinear)):
        setattr(owner, name, layer.merged())
    for parameter in model.parameters():
        parameter.stop_gradient = False


def lora_state_dict(model: Any) -> dict[str, Tensor]:
    """Return the weights of the adapters by name; `model.set_state_dict()` loads them.

    Args:
        model: A layer after add_lora().

    Returns:
        The adapters' part of the state_dict.

    Example:
        >>> model = paddle.text.models.CausalLM(paddle.text.models.tiny_config(num_hidden_layers=1))
        >>> _ = add_lora(model, r=4, target_modules=["o_proj"])
        >>> [name.split(".")[-1] for name in lora_state_dict(model)]
        ['lora_A', 'lora_B']
    """
    return {n: t for n, t in model.state_dict().items() if n.rpartition(".")[2] in ("lora_A", "lora_B")}
