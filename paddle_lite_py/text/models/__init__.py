"""Language models: GPT-2, LLaMA, Mistral, Qwen, Mixtral and BERT, with weights in Hugging Face's format."""

from ...core.argument_docs import document as _document
from .config import ModelConfig, tiny_config
from .models import CausalLM, TextEncoder

__all__ = ["CausalLM", "ModelConfig", "TextEncoder", "tiny_config"]

_document(globals())
