"""The layers of all architectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...eager.tensor import Tensor
from ...nn import functional as F
from ...nn.base import Layer
from ...nn.common import Linear
from ...nn.container import LayerList
from ...nn.initializer import Normal
from ...nn.norm import LayerNorm, RMSNorm
from ...ops.attention import scaled_dot_product_attention
from ...ops.creation import arange
from ...ops.gather import index_select
from ...ops.grouped_matmul import grouped_matmul
from ...ops.search import topk
from .config import ModelConfig
from .rotary import rotate

Angles = tuple[Tensor, Tensor] | None


@dataclass
class WholeSequence:
    """The cache of attention when all tokens are given at once, in place of a KeyValueCache.

    Arguments:
        is_causal: tokens attend to earlier ones only.
        mask: boolean tensor [batch, 1, 1 or n, n], False where a token does not attend; None: it attends to all.
        places: the positions of tokens [batch, n]; None: 0, 1, ... in each row.
    """

    is_causal: bool
    mask: Tensor | None = None
    places: Tensor | None = None

    def positions(self, count: int) -> Tensor:
        """Return the positions of count tokens, [1 or batch, count]."""
        return arange(count).unsqueeze(0) if self.places is None else self.places

    def attend(self, _layer: int, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        """Attend to all tokens, or to earlier ones."""
        return scaled_dot_product_attention(query, key, value, self.mask, is_causal=self.is_causal)

    def last(self, x: Tensor) -> Tensor:
        """Return x: all logits are computed."""
        return x


def packed_sequences(segment_ids: Tensor) -> WholeSequence:
    """Return the context of rows that have several sequences one after another.

    Args:
        segment_ids: integer tensor [batch, n], the number of the sequence that a token belongs to.
    """
    same = segment_ids.unsqueeze(1) == segment_ids.unsqueeze(2)
    return WholeSequence(True, same.unsqueeze(1), same.astype("int64").tril().sum(-1) - 1)


def linear(config: ModelConfig, inputs: int, outputs: int, bias: bool) -> Linear:
    """Return a linear layer with the initial weights of the configuration."""
    return Linear(inputs, outputs, Normal(std=config.initializer_range), None if bias else False)


def norm(config: ModelConfig, size: int | None = None) -> Layer:
    """Return the normalization of the architecture."""
    kind: Any = RMSNorm if config.traits.norm == "rms" else LayerNorm
    return kind(size or config.hidden_size, config.norm_eps)


def activate(name: str, x: Tensor) -> Tensor:
    """Apply an activation by its name in config.json."""
    if name in ("gelu_new", "gelu_pytorch_tanh"):
        return F.gelu(x, approximate=True)
    return getattr(F, name)(x)


class SelfAttention(Layer):
    """Attention with grouped key heads, and with normalized queries and keys or rotary positions where there are."""

    def __init__(self, config: ModelConfig, index: int) -> None:
        super().__init__()
        traits, size = config.traits, config.head_size
        bias = traits.qkv_bias or config.attention_bias
        self.index, self.shape = index, [0, 0, -1, size]
        self.q_proj = linear(config, config.hidden_size, config.num_attention_heads * size, bias)
        self.k_proj = linear(config, config.hidden_size, config.key_heads * size, bias)
        self.v_proj = linear(config, config.hidden_size, config.key_heads * size, bias)
        has_bias = traits.output_bias or config.attention_bias
        self.o_proj = linear(config, config.num_attention_heads * size, config.hidden_size, has_bias)
        self.q_norm = norm(config, size) if traits.has_qk_norm else None
        self.k_norm = norm(config, size) if traits.has_qk_norm else None

    def forward(self, x: Tensor, context: Any, angles: Angles) -> Tensor:
        """Attend from x [batch, n, hidden_size] to a context: a KeyValueCache or a WholeSequence."""
        q, k, v = (project(x).reshape(self.shape) for project in (self.q_proj, self.k_proj, self.v_proj))
        if self.q_norm is not None and self.k_norm is not None:
            q, k = self.q_norm(q), self.k_norm(k)
        if angles is not None:
            q, k = rotate(q, *angles), rotate(k, *angles)
        return self.o_proj(context.attend(self.index, q, k, v).flatten(2))


class FeedForward(Layer):
    """Two linear layers and an activation, with a gate where the architecture has one."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        bias, inner = config.traits.mlp_bias or config.mlp_bias, config.inner_size
        self.activation = config.hidden_act
        self.gate_proj = linear(config, config.hidden_size, inner, bias) if config.traits.is_gated else None
        self.up_proj = linear(config, config.hidden_size, inner, bias)
        self.down_proj = linear(config, inner, config.hidden_size, bias)

    def forward(self, x: Tensor) -> Tensor:
        """Compute `down(act(gate(x)) * up(x))`, or `down(act(up(x)))`."""
        up = self.up_proj(x)
        if self.gate_proj is None:
            return self.down_proj(activate(self.activation, up))
        return self.down_proj(activate(self.activation, self.gate_proj(x)) * up)


class ExpertMixture(Layer):
    """A weighted sum of the best experts of each token. Each token is computed by its own experts only.

    Where linear layers of experts have been replaced (adapters, weights of few bits) or have biases, all experts
    compute all tokens.

    Source: Jiang et al., Mixtral of Experts, 2024.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.chosen, self.activation = config.num_experts_per_tok, config.hidden_act
        self.gate = linear(config, config.hidden_size, config.num_local_experts, False)
        self.experts = LayerList([FeedForward(config) for _ in range(config.num_local_experts)])

    def forward(self, x: Tensor) -> Tensor:
        """Mix the experts of each token of x [batch, n, hidden_size]."""
        shares, index = topk(F.softmax(self.gate(x).astype("float32"), -1), self.chosen)
        shares = (shares / shares.sum(-1, keepdim=True)).astype(x.dtype)
        layers = [layer for expert in self.experts for layer in expert.children()]
        if all(type(layer) is Linear and layer.bias is None for layer in layers):
            return self._sparse(x.flatten(0, 1), shares.flatten(0, 1), index.flatten()).reshape(x.shape)
        by_expert = (F.one_hot(index, len(self.experts)).astype(x.dtype) * shares.unsqueeze(-1)).sum(-2)
        mixed = [expert(x) * by_expert[..., i : i + 1] for i, expert in enumerate(self.experts)]
        return sum(mixed[1:], mixed[0])

    def _sparse(self, x: Tensor, shares: Tensor, index: Tensor) -> Tensor:
        """Mix the experts, given by index [tokens * chosen], of x [tokens, hidden_size]."""
        order = index.argsort(stable=True)  # the rows of each expert are neighbors
        sizes = F.one_hot(index, len(self.experts)).sum(0)

        def product(rows: Tensor, name: str) -> Any:
            multiply: Any = grouped_matmul
            return multiply(rows, sizes, [getattr(expert, name).weight for expert in self.experts])

        rows = index_select(x, order // self.chosen)
        rows = activate(self.activation, product(rows, "gate_proj")) * product(rows, "up_proj")
        found = index_select(product(rows, "down_proj"), order.argsort())
        return (found.reshape([-1, self.chosen, x.shape[-1]]) * shares.unsqueeze(-1)).sum(1)


class TransformerBlock(Layer):
    """Attention and a feed-forward network, each with a residual connection.

    Decoders normalize the input of each part (pre-norm), encoders the sum (post-norm).
    """

    def __init__(self, config: ModelConfig, index: int) -> None:
        super().__init__()
        self.is_prenorm = config.traits.is_causal
        self.input_layernorm, self.post_attention_layernorm = norm(config), norm(config)
        self.self_attn = SelfAttention(config, index)
        self.mlp = ExpertMixture(config) if config.traits.has_experts else FeedForward(config)

    def forward(self, x: Tensor, context: Any, angles: Angles) -> Tensor:
        """Transform x [batch, n, hidden_size]."""
        if self.is_prenorm:
            x = x + self.self_attn(self.input_layernorm(x), context, angles)
            return x + self.mlp(self.post_attention_layernorm(x))
        x = self.input_layernorm(x + self.self_attn(x, context, angles))
        return self.post_attention_layernorm(x + self.mlp(x))
