"""Language models: GPT-2, LLaMA, Mistral, Qwen, Mixtral and BERT, with weights in Hugging Face's format."""

from ...core.argument_docs import document as _document
from .config import ModelConfig, tiny_config
from .lora import LoRALinear, add_lora, lora_state_dict, merge_lora
from .models import CausalLM, TextEncoder
from .quantized import QuantizedLinear, quantize_weights

__all__ = [
    *("CausalLM", "QuantizedLinear", "LoRALinear", "ModelConfig", "TextEncoder", "add_lora", "lora_state_dict"),
    *("merge_lora", "quantize_weights", "tiny_config"),
]

_document(globals())
