"""Names and layouts of weights in Hugging Face's files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

# Replacements that lead from our names to those of the files; [i] marks part i of a fused weight.
_MIXTRAL = {
    ".mlp.": ".block_sparse_moe.", ".gate_proj.": ".w1.", ".up_proj.": ".w3.", ".down_proj.": ".w2.",
}  # fmt: skip
_GPT2 = {
    "model.embed_tokens": "transformer.wte",
    "model.embed_positions": "transformer.wpe",
    "model.layers": "transformer.h",
    "model.norm": "transformer.ln_f",
    "input_layernorm": "ln_1",
    "post_attention_layernorm": "ln_2",
    "self_attn.q_proj": "attn.c_attn[0]",
    "self_attn.k_proj": "attn.c_attn[1]",
    "self_attn.v_proj": "attn.c_attn[2]",
    "self_attn.o_proj": "attn.c_proj",
    "mlp.up_proj": "mlp.c_fc",
    "mlp.down_proj": "mlp.c_proj",
}
_BERT = {
    "model.embed_tokens": "bert.embeddings.word_embeddings", "pooler.": "bert.pooler.dense.",
    "model.embed_positions": "bert.embeddings.position_embeddings", "model.layers": "bert.encoder.layer",
    "model.embed_types": "bert.embeddings.token_type_embeddings", "model.norm": "bert.embeddings.LayerNorm",
    "input_layernorm": "attention.output.LayerNorm", "post_attention_layernorm": "output.LayerNorm",
    "self_attn.q_proj": "attention.self.query", "self_attn.k_proj": "attention.self.key",
    "self_attn.v_proj": "attention.self.value", "self_attn.o_proj": "attention.output.dense",
    "mlp.up_proj": "intermediate.dense", "mlp.down_proj": "output.dense",
}  # fmt: skip
TABLES: dict[str, dict[str, str]] = {"gpt2": _GPT2, "mixtral": _MIXTRAL, "bert": _BERT}
# The prefix that files of a model without a head lack.
PREFIXES = {"gpt2": "transformer.", "bert": "bert."}
# Names in files that are no weights of the model: buffers, tied weights, and heads of other tasks.
IGNORED = re.compile(r"\.attn\.(masked_)?bias$|rotary_emb\.inv_freq$|position_ids$|^cls\.|^classifier\.|^qa_outputs\.")


class Layout(NamedTuple):
    """How the weights of an architecture are stored in files.

    Arguments:
        table: replacements that lead from our names to those of the files.
        prefix: what names in the files of a model without a head lack.
        is_transposed: for our name of a linear layer's weight, whether it is stored as [out, in].
    """

    table: Mapping[str, str]
    prefix: str
    is_transposed: Callable[[str], bool]


def layout_of(kind: str) -> Layout:
    """Return names and layout in Hugging Face's files, for a model_type."""
    return Layout(
        TABLES.get(kind, {}), PREFIXES.get(kind, ""), lambda name: kind != "gpt2" or name.startswith("lm_head")
    )


class StoredWeight(NamedTuple):
    """A weight in a file, and the parameters that are its parts along the last axis of our layout."""

    name: str
    parts: list[str]
    is_transposed: bool


def stored_weights(layout: Layout, parameters: Iterable[tuple[str, int]]) -> list[StoredWeight]:
    """Return the weights in the files of an architecture.

    Args:
        layout: Of the files.
        parameters: Names and numbers of dimensions of the model's parameters.

    Returns:
        One entry for each weight in a file.

    Example:
        >>> stored_weights(layout_of("gpt2"), [("model.layers.0.mlp.up_proj.weight", 2)])[0].name
        'transformer.h.0.mlp.c_fc.weight'
    """
    found: dict[str, dict[int, str]] = {}
    transposed = {}
    for ours, ndim in parameters:
        theirs, part = ours, 0
        for old, new in layout.table.items():
            theirs = theirs.replace(old, new)
        if fused := re.search(r"\[(\d)\]", theirs):
            theirs, part = theirs.replace(fused.group(), ""), int(fused.group(1))
        found.setdefault(theirs, {})[part] = ours
        is_linear = ndim == 2 and "embed_" not in ours
        transposed[theirs] = is_linear and layout.is_transposed(ours)
    return [StoredWeight(name, [parts[i] for i in sorted(parts)], transposed[name]) for name, parts in found.items()]
