"""Multi-head attention with torch's parameters and results."""

from __future__ import annotations

from typing import Any

from ...nn import Layer
from ...nn.initializer import XavierNormal, XavierUniform
from .heads import multi_head_attention_forward
from .layers import Linear


class MultiheadAttention(Layer):
    """Attention in several heads (Vaswani et al., 2017), of [length, batch, size].

    Arguments:
        embed_dim, num_heads: the size of queries, and the heads between which it is divided.
        dropout: probability for the attention weights, while training.
        bias: projections have biases.
        add_bias_kv: one more key and value, which are parameters.
        add_zero_attn: one more key and value, of zeros.
        kdim, vdim: sizes of keys and values; embed_dim by default.
        batch_first: of [batch, length, size].

    Raises:
        ValueError: embed_dim does not divide into the heads.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> x = paddle.ones([5, 2, 8])
        >>> out, weights = paddle.compat.nn.MultiheadAttention(8, 2)(x, x, x)
        >>> out.shape, weights.shape
        (paddle.Size([5, 2, 8]), paddle.Size([2, 5, 5]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if embed_dim <= 0 or num_heads <= 0 or embed_dim % num_heads:
            raise ValueError(f"MultiheadAttention: embed_dim {embed_dim} does not divide into {num_heads} heads")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.dropout, self.batch_first, self.add_zero_attn = dropout, batch_first, add_zero_attn
        sizes = {"q": embed_dim, "k": self.kdim, "v": self.vdim}
        if len(set(sizes.values())) == 1:
            self.in_proj_weight = self._weight([3 * embed_dim, embed_dim])
        else:
            for name, size in sizes.items():
                setattr(self, f"{name}_proj_weight", self._weight([embed_dim, size]))
        self.in_proj_bias = self.create_parameter([3 * embed_dim], is_bias=True) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)
        if bias:
            self.out_proj.bias = self.create_parameter([embed_dim], is_bias=True)
        shape, start = [1, 1, embed_dim], XavierNormal()
        self.bias_k = self.create_parameter(shape, default_initializer=start) if add_bias_kv else None
        self.bias_v = self.create_parameter(shape, default_initializer=start) if add_bias_kv else None
        if device is not None or dtype is not None:
            self.to(device, dtype)

    def _weight(self, shape: list[int]) -> Any:
        return self.create_parameter(shape, default_initializer=XavierUniform(fan_in=shape[1], fan_out=shape[0]))

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """Attend, and return the outputs, and the weights [batch, length, keys] or None.

        Arguments:
            query, key, value: [length, batch, size], or without the batch.
            key_padding_mask: [batch, keys]: True where a key does not count; a float mask is added.
            attn_mask: [length, keys] or [batch * heads, length, keys], likewise.
            average_attn_weights: False: the weights of each head.
            is_causal: says that attn_mask is causal; without a mask, that the one is meant.
        """
        flip = self.batch_first and query.ndim == 3
        q, k, v = (x.transpose([1, 0, 2]) if flip else x for x in (query, key, value))
        separate = not hasattr(self, "in_proj_weight")
        weights = {f"{n}_proj_weight": getattr(self, f"{n}_proj_weight") for n in "qkv"} if separate else {}
        out, shown = multi_head_attention_forward(
            *(q, k, v, self.embed_dim, self.num_heads, None if separate else self.in_proj_weight, self.in_proj_bias),
            *(self.bias_k, self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias),
            *(self.training, key_padding_mask, need_weights, attn_mask, separate),
            **weights, average_attn_weights=average_attn_weights, is_causal=is_causal,
        )  # fmt: skip
        return out.transpose([1, 0, 2]) if flip else out, shown
