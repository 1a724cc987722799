"""Language models: GPT-2, LLaMA, Mistral, Qwen, Mixtral and BERT, with weights in Hugging Face's format."""

from ...core.argument_docs import document as _document
from .config import ModelConfig, tiny_config
from .int8 import Int8Linear, quantize_weights
from .lora import LoRALinear, add_lora, lora_state_dict, merge_lora
from .models import CausalLM, TextEncoder

__all__ = [
    *("CausalLM", "Int8Linear", "LoRALinear", "ModelConfig", "TextEncoder", "add_lora", "lora_state_dict"),
    *("merge_lora", "quantize_weights", "tiny_config"),
]

_document(globals())
