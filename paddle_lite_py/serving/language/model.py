"""A language model that a server can load."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...text.models import CausalLM
from ..errors import ServingError
from .tokenizers import ByteTokenizer, Tokenizer, read_tokenizer


@dataclass
class LanguageModel:
    """A model with its tokenizer, for Server.

    Arguments:
        model: a layer as `paddle.text.generation.generate()` takes it.
        tokenizer: has `encode(text)`, `decode(tokens)`, `chat(messages)` and `size`. Default: bytes.
        ends: tokens that end an answer.
        context: tokens of prompt and answer; None: `max_length` of the model, at most 2048.
        cache_tokens: tokens that the cache of all requests has memory for; None: as many as all slots can have.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> LanguageModel(paddle.text.models.CausalLM(paddle.text.models.tiny_config())).capacity
        256
    """

    model: Any
    tokenizer: Tokenizer = ByteTokenizer()
    ends: tuple[int, ...] = ()
    context: int | None = None
    cache_tokens: int | None = None

    @property
    def capacity(self) -> int:
        """Tokens of prompt and answer."""
        return self.context or min(getattr(self.model, "max_length", 2048), 2048)

    @classmethod
    def load(cls, folder: str, context: int | None = None, cache_tokens: int | None = None) -> LanguageModel:
        """Read a model and its tokenizer from a folder in Hugging Face's format.

        Args:
            folder: Has config.json, safetensors files, and the tokenizer's files.
            context: As for LanguageModel.
            cache_tokens: As for LanguageModel.

        Returns:
            The model.

        Raises:
            ServingError: A file is missing or does not fit.

        Example:
            >>> import tempfile, paddle_lite_py as paddle
            >>> folder = tempfile.mkdtemp()
            >>> paddle.text.models.CausalLM(paddle.text.models.tiny_config()).save_pretrained(folder)
            >>> LanguageModel.load(folder).tokenizer.size
            256
        """
        try:
            model = CausalLM.from_pretrained(folder)
        except (ValueError, OSError) as e:
            raise ServingError("unavailable", str(e)) from e
        config, end = model.config, model.config.eos_token_id
        if context is not None and context > config.max_position_embeddings:
            raise ServingError(
                "invalid", f"--context {context}: the model takes at most {config.max_position_embeddings} tokens"
            )
        ends = () if end is None else (end,) if isinstance(end, int) else tuple(end)
        return cls(model, read_tokenizer(Path(folder), config.vocab_size), ends, context, cache_tokens)
