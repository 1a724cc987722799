"""Decoders that predict the next token, and encoders."""

from __future__ import annotations

import os
from typing import Any, TypeVar

from ...eager.tensor import Tensor
from ...nn.base import Layer
from ...nn.common import Embedding, Linear
from ...nn.container import LayerList
from ...nn.initializer import Normal
from ...ops.convert import to_tensor
from ...ops.linalg import matmul
from ..generation.cache import KeyValueCache
from ..generation.generate import generate
from . import checkpoint
from .config import ModelConfig
from .layers import TransformerBlock, WholeSequence, linear, norm, packed_sequences
from .rotary import angles, frequencies

__all__ = ["CausalLM", "TextEncoder"]

M = TypeVar("M", bound="PretrainedModel")


class Backbone(Layer):
    """Embeddings and blocks: from token ids to hidden states."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config, width = config, config.hidden_size
        normal = Normal(std=config.initializer_range)
        self.embed_tokens = Embedding(config.vocab_size, width, weight_attr=normal)
        is_learned, is_encoder = config.traits.positions == "learned", not config.traits.is_causal
        longest = config.max_position_embeddings
        self.embed_positions = Embedding(longest, width, weight_attr=normal) if is_learned else None
        self.embed_types = Embedding(config.type_vocab_size, width, weight_attr=normal) if is_encoder else None
        self.layers = LayerList([TransformerBlock(config, i) for i in range(config.num_hidden_layers)])
        self.norm = norm(config)  # after the blocks; in encoders, after the embeddings
        if not is_learned:
            inverse, self.factor = frequencies(config)
            self.register_buffer("inverse_frequencies", to_tensor(inverse), persistable=False)

    def forward(self, ids: Tensor, context: Any, types: Tensor | None = None) -> Tensor:
        """Return the hidden states [batch, n, hidden_size] of tokens; of a cache, those it selects."""
        places, x = context.positions(ids.shape[1]), self.embed_tokens(ids)
        turned = None
        if self.embed_positions is not None:
            x = x + self.embed_positions(places)
        else:
            turned = angles(places, self.inverse_frequencies, self.factor, x.dtype)
        if self.embed_types is not None:
            x = self.norm(x + self.embed_types(ids * 0 if types is None else types))
        for block in self.layers:
            x = block(x, context, turned)
        return context.last(x if self.embed_types is not None else self.norm(x))


class PretrainedModel(Layer):
    """The base of models whose weights are in files.

    Arguments:
        config: architecture and sizes.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config, self.max_length = config, config.max_position_embeddings
        self.model = Backbone(config)

    @classmethod
    def from_pretrained(cls: type[M], folder: str | os.PathLike[str], dtype: str | None = None) -> M:
        """Build a model from a folder in the format of Hugging Face or PaddleNLP.

        Args:
            folder: Has config.json, and model.safetensors or model.safetensors.index.json with its files; of PaddleNLP
                (GPT, LLaMA, Qwen 2, BERT, ERNIE), config.json and model_state.pdparams.
            dtype: Of the weights; None: that of the files.

        Returns:
            The model, in eval mode.

        Raises:
            ValueError: The configuration is not implemented, or names or shapes in the files differ from those of the
                model; all of them are listed.
            OSError: A file is missing.

        Example:
            >>> import tempfile
            >>> model, folder = CausalLM(paddle.text.models.tiny_config()), tempfile.mkdtemp()
            >>> model.save_pretrained(folder)
            >>> again = CausalLM.from_pretrained(folder)
            >>> ids = paddle.to_tensor([[1, 2, 3]])
            >>> bool((again(ids) == model(ids)).all())
            True
        """
        config = checkpoint.read_config(folder, dtype)
        model = cls(config)
        model.to(dtype=config.dtype)
        checkpoint.load_weights(model, config, folder)
        model.eval()
        return model

    def save_pretrained(self, folder: str | os.PathLike[str], max_shard_bytes: int = 5 << 30) -> None:
        """Write config.json and safetensors files that transformers and from_pretrained() load.

        Args:
            folder: Is created if it does not exist.
            max_shard_bytes: Size above which weights are divided into several files.

        Raises:
            ValueError: The model has adapters, or quantized weights.
            OSError: A file cannot be written.

        Example:
            >>> import os, tempfile
            >>> CausalLM(paddle.text.models.tiny_config()).save_pretrained(folder := tempfile.mkdtemp())
            >>> sorted(os.listdir(folder))
            ['config.json', 'model.safetensors']
        """
        checkpoint.save_weights(self, self.config, folder, max_shard_bytes)


class CausalLM(PretrainedModel):
    """Decoder-only language model: GPT-2, LLaMA, Mistral, Qwen 2 and 3, Mixtral, by its configuration.

    Arguments:
        config: architecture and sizes.

    Raises:
        ValueError: if the architecture is an encoder.

    Source: Radford et al., 2019 (GPT-2); Touvron et al., 2023 (LLaMA); Qwen team, 2024 and 2025; Jiang et al., 2024.

    Examples:
        >>> model = CausalLM(paddle.text.models.tiny_config("qwen2"))
        >>> model(paddle.to_tensor([[1, 2, 3]])).shape
        paddle.Size([1, 3, 256])
    """

    def __init__(self, config: ModelConfig) -> None:
        if not config.traits.is_causal:
            raise ValueError(f"CausalLM: {config.model_type} is an encoder; use TextEncoder")
        super().__init__(config)
        tied = config.tie_word_embeddings
        self.lm_head: Linear | None = None if tied else linear(config, config.hidden_size, config.vocab_size, False)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, cache: Any = None,
        segment_ids: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        """Compute the logits of the next token.

        Args:
            input_ids: Integer tensor [batch, n].
            attention_mask: [batch, n], 0 for padding; None: no padding. Ignored with a cache.
            cache: A KeyValueCache with earlier tokens; None: there are none.
            segment_ids: [batch, n], numbers of the sequences that are packed into rows (see
                `paddle.text.training.pack_sequences()`): tokens attend to earlier tokens with the same number, and
                positions count from the first of them. None: each row is one sequence.

        Returns:
            Logits [batch, n, vocab_size]; with a cache, [batch, 1, vocab_size] of the last token of each row.

        Raises:
            ValueError: segment_ids is given with attention_mask or cache.
        """
        if segment_ids is not None:
            if attention_mask is not None or cache is not None:
                raise ValueError("CausalLM: segment_ids excludes attention_mask and cache; pad with another number")
            cache = packed_sequences(segment_ids)
        context = WholeSequence(True, _mask(attention_mask)) if cache is None else cache
        hidden = self.model(input_ids, context)
        if self.lm_head is None:
            return matmul(hidden, self.model.embed_tokens.weight, transpose_y=True)
        return self.lm_head(hidden)

    def new_cache(self, batch: int, capacity: int) -> KeyValueCache:
        """Return an empty cache of keys and values; see KeyValueCache."""
        config = self.config
        return KeyValueCache.empty(
            batch, capacity, layers=config.num_hidden_layers, heads=config.key_heads, head_dim=config.head_size,
            dtype=self.model.embed_tokens.weight.dtype,
        )  # fmt: skip

    def generate(self, input_ids: Any, attention_mask: Any = None, **settings: Any) -> tuple[Tensor, Tensor]:
        """Generate tokens; see `paddle.text.generation.generate()`. End and padding tokens are those of the model.

        Args:
            input_ids: Integer tensor [batch, n], or a list of lists.
            attention_mask: [batch, n], 0 for padding.
            **settings: As in GenerationConfig.

        Returns:
            The tokens [batch, k], and their scores [batch].

        Example:
            >>> model = CausalLM(paddle.text.models.tiny_config())
            >>> model.generate([[1, 2, 3]], max_new_tokens=4)[0].shape
            paddle.Size([1, 4])
        """
        own = {"eos_token_id": self.config.eos_token_id, "pad_token_id": self.config.pad_token_id}
        return generate(self, input_ids, attention_mask, **{**own, **settings})


class TextEncoder(PretrainedModel):
    """Encoder of whole texts: BERT.

    Arguments:
        config: architecture and sizes.

    Raises:
        ValueError: if the architecture is a decoder.

    Source: Devlin et al., BERT, 2018.

    Examples:
        >>> encoder = TextEncoder(paddle.text.models.tiny_config("bert"))
        >>> hidden, pooled = encoder(paddle.to_tensor([[1, 2, 3]]))
        >>> hidden.shape, pooled.shape
        (paddle.Size([1, 3, 32]), paddle.Size([1, 32]))
    """

    def __init__(self, config: ModelConfig) -> None:
        if config.traits.is_causal:
            raise ValueError(f"TextEncoder: {config.model_type} is a decoder; use CausalLM")
        super().__init__(config)
        self.pooler = linear(config, config.hidden_size, config.hidden_size, True)

    def forward(
        self, input_ids: Tensor, token_type_ids: Tensor | None = None, attention_mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Encode texts.

        Args:
            input_ids: Integer tensor [batch, n].
            token_type_ids: [batch, n], the number of the text that a token belongs to; None: 0.
            attention_mask: [batch, n], 0 for padding; None: no padding.

        Returns:
            The hidden states [batch, n, hidden_size], and the pooled first ones [batch, hidden_size].
        """
        hidden = self.model(input_ids, WholeSequence(False, _mask(attention_mask)), token_type_ids)
        return hidden, self.pooler(hidden[:, 0]).tanh()


def _mask(attention_mask: Tensor | None) -> Tensor | None:
    return None if attention_mask is None else attention_mask.astype("bool").unsqueeze([1, 2])
