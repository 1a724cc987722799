"""Sizes of a language model, and the table of what distinguishes the architectures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

__all__ = ["ModelConfig", "tiny_config"]


class Traits(NamedTuple):
    """How an architecture differs from LLaMA."""

    norm: str = "rms"
    positions: str = "rotary"
    is_gated: bool = True
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    has_qk_norm: bool = False
    has_experts: bool = False
    is_causal: bool = True  # an encoder normalizes the sums of its residual connections, and not their inputs


_WITH_BIASES = {"qkv_bias": True, "output_bias": True, "mlp_bias": True}
TRAITS = {
    "gpt2": Traits("layer", "learned", is_gated=False, **_WITH_BIASES),
    "llama": Traits(),
    "mistral": Traits(),
    "qwen2": Traits(qkv_bias=True),
    "qwen3": Traits(has_qk_norm=True),
    "mixtral": Traits(has_experts=True),
    "bert": Traits("layer", "learned", is_gated=False, is_causal=False, **_WITH_BIASES),
}
# Names of fields in config.json where they differ from those of ModelConfig.
NAMES: dict[str, dict[str, str]] = {
    "gpt2": {
        "hidden_size": "n_embd", "num_hidden_layers": "n_layer", "num_attention_heads": "n_head",
        "max_position_embeddings": "n_positions", "intermediate_size": "n_inner", "norm_eps": "layer_norm_epsilon",
        "hidden_act": "activation_function",
    },
    "bert": {"norm_eps": "layer_norm_eps"},
}  # fmt: skip
RMS_NAMES = {"norm_eps": "rms_norm_eps"}
CLASSES = {
    "gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM", "mixtral": "MixtralForCausalLM", "bert": "BertModel",
}  # fmt: skip
ACTIVATIONS = ("silu", "gelu", "gelu_new", "gelu_pytorch_tanh", "relu")
# Settings of config.json that change results and are not implemented: the supported values.
_IMPLEMENTED: dict[str, tuple[Any, ...]] = {
    "use_sliding_window": (False, None), "scale_attn_by_inverse_layer_idx": (False, None),
    "scale_attn_weights": (True, None), "add_cross_attention": (False, None), "is_decoder": (False, None),
    "partial_rotary_factor": (1.0, None), "position_embedding_type": ("absolute", None),
}  # fmt: skip
# Fields that an architecture has by default where config.json lacks them.
_DEFAULTS: dict[str, dict[str, Any]] = {
    "gpt2": {"hidden_act": "gelu_new", "norm_eps": 1e-5, "tie_word_embeddings": True},
    "bert": {"hidden_act": "gelu", "norm_eps": 1e-12, "max_position_embeddings": 512},
    "mixtral": {"norm_eps": 1e-5, "num_local_experts": 8, "rope_theta": 1e6},
}


@dataclass(frozen=True)
class ModelConfig:
    """Architecture and sizes of a language model; the fields have the names of Hugging Face's LLaMA.

    Arguments:
        model_type: "gpt2", "llama", "mistral", "qwen2", "qwen3", "mixtral" or "bert".
        vocab_size: number of tokens.
        hidden_size: width of the residual stream.
        num_hidden_layers: number of layers.
        num_attention_heads: number of query heads.
        intermediate_size: width of the feed-forward network; None: 4 * hidden_size.
        num_key_value_heads: number of key heads; None: num_attention_heads.
        head_dim: size of a head; None: hidden_size / num_attention_heads.
        max_position_embeddings: largest number of tokens of a sequence. Default: 2048.
        hidden_act: activation of the feed-forward network. Default: 'silu'.
        norm_eps: added to the variance in normalizations. Default: 1e-06.
        rope_theta: base of the rotary frequencies. Default: 10000.0.
        rope_scaling: how rotary frequencies are scaled for longer sequences: a dict with "rope_type" ("linear",
            "llama3", "yarn") and its numbers; None: not.
        tie_word_embeddings: the output layer uses the weights of the embedding. Default: False.
        attention_bias: biases in the layers of attention. Default: False.
        mlp_bias: biases in the feed-forward network. Default: False.
        num_local_experts: of "mixtral", number of experts. Default: 0.
        num_experts_per_tok: of "mixtral", number of experts for each token. Default: 2.
        type_vocab_size: of "bert", number of token types. Default: 2.
        bos_token_id: the first token of a text, if there is one.
        eos_token_id: the token, or tokens, that end a text.
        pad_token_id: the token for padding.
        initializer_range: standard deviation of initial weights. Default: 0.02.
        dtype: of the weights. Default: 'float32'.

    Raises:
        ValueError: if the architecture is unknown, sizes do not fit, or a setting is not implemented.

    Examples:
        >>> tiny_config("qwen3").num_key_value_heads
        2
    """

    model_type: str
    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int | None = None
    num_key_value_heads: int | None = None
    head_dim: int | None = None
    max_position_embeddings: int = 2048
    hidden_act: str = "silu"
    norm_eps: float = 1e-6
    rope_theta: float = 10000.0
    rope_scaling: Mapping[str, Any] | None = None
    tie_word_embeddings: bool = False
    attention_bias: bool = False
    mlp_bias: bool = False
    num_local_experts: int = 0
    num_experts_per_tok: int = 2
    type_vocab_size: int = 2
    bos_token_id: int | None = None
    eos_token_id: Any = None
    pad_token_id: int | None = None
    initializer_range: float = 0.02
    dtype: str = "float32"

    def __post_init__(self) -> None:
        if self.model_type not in TRAITS:
            raise ValueError(f"model_type is {self.model_type!r}; expected one of {', '.join(TRAITS)}")
        if self.hidden_act not in ACTIVATIONS:
            raise ValueError(f"hidden_act is {self.hidden_act!r}; expected one of {', '.join(ACTIVATIONS)}")
        if self.num_attention_heads % self.key_heads:
            raise ValueError(
                f"num_key_value_heads={self.key_heads} does not divide num_attention_heads={self.num_attention_heads}"
            )

    @property
    def traits(self) -> Traits:
        """The traits of its architecture."""
        return TRAITS[self.model_type]

    @property
    def key_heads(self) -> int:
        """Number of key heads."""
        return self.num_key_value_heads or self.num_attention_heads

    @property
    def head_size(self) -> int:
        """Size of a head."""
        return self.head_dim or self.hidden_size // self.num_attention_heads

    @property
    def inner_size(self) -> int:
        """Width of the feed-forward network."""
        return self.intermediate_size or 4 * self.hidden_size


def from_json(data: Mapping[str, Any]) -> ModelConfig:
    """Read a config.json of Hugging Face, as a dict.

    Raises:
        ValueError: The architecture, or a setting that changes results, is not implemented.
    """
    kind = data.get("model_type", "")
    if kind not in TRAITS:
        raise ValueError(f"config.json: model_type is {kind!r}; expected one of {', '.join(TRAITS)}")
    _check_implemented(data)
    names, values = _names(kind), dict(_DEFAULTS.get(kind, {}))
    for field in dataclasses.fields(ModelConfig):
        if data.get(name := names.get(field.name, field.name)) is not None:
            values[field.name] = data[name]
    values["dtype"] = data.get("dtype") or data.get("torch_dtype") or "float32"
    rope = dict(data.get("rope_parameters") or data.get("rope_scaling") or {})
    values["rope_theta"] = rope.pop("rope_theta", values.get("rope_theta", 10000.0))
    rope["rope_type"] = rope.pop("type", rope.get("rope_type", "default"))
    values["rope_scaling"] = None if rope["rope_type"] == "default" else rope
    return ModelConfig(**values)


def _check_implemented(data: Mapping[str, Any]) -> None:
    for name, known in _IMPLEMENTED.items():
        if data.get(name) not in known:
            raise ValueError(f"config.json: {name} is {data[name]!r}, which is not implemented; expected {known[0]!r}")
    window, longest = data.get("sliding_window"), data.get("max_position_embeddings", 0)
    if window is not None and window < longest and data.get("use_sliding_window", True):
        raise ValueError(f"config.json: sliding_window is {window}, which is not implemented; expected null")


def to_json(config: ModelConfig) -> dict[str, Any]:
    """Return the config.json from which transformers builds the same model."""
    names, has_experts = _names(config.model_type), config.traits.has_experts
    data: dict[str, Any] = {"architectures": [CLASSES[config.model_type]]}
    for field in dataclasses.fields(config):
        data[names.get(field.name, field.name)] = getattr(config, field.name)
    rope = {"rope_theta": config.rope_theta, **(config.rope_scaling or {"rope_type": "default"})}
    data |= {"rope_parameters": rope, "rope_scaling": config.rope_scaling, "torch_dtype": config.dtype}
    if not has_experts:
        del data["num_local_experts"], data["num_experts_per_tok"]
    return data | {"sliding_window": None} if config.traits.norm == "rms" else data


def _names(kind: str) -> dict[str, str]:
    return NAMES.get(kind, RMS_NAMES)


def tiny_config(model_type: str = "llama", **changes: Any) -> ModelConfig:
    """Return a configuration for tests and examples: two layers of width 32, 256 tokens (bytes).

    Args:
        model_type: As in ModelConfig.
        **changes: Fields of ModelConfig that differ.

    Returns:
        The configuration.

    Example:
        >>> tiny_config("gpt2", num_hidden_layers=1).num_hidden_layers
        1
    """
    sizes: dict[str, Any] = {
        "vocab_size": 256, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48,
        "max_position_embeddings": 256, "initializer_range": 0.3, **_DEFAULTS.get(model_type, {}),
    }  # fmt: skip
    if TRAITS[model_type].norm == "rms":
        sizes["num_key_value_heads"] = 2
    if TRAITS[model_type].has_experts:
        sizes["num_local_experts"] = 4
    return ModelConfig(model_type, **{**sizes, **changes})
