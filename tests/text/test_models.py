"""Language models compute what transformers computes, from files in its format."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import paddle_lite_py as paddle
from golden.language_models import IDS, MASK, PROMPTS, weight
from paddle_lite_py.text.models import CausalLM, ModelConfig, TextEncoder, tiny_config

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "language_models.json").read_text())


def written(folder: Path, name: str, changes: dict | None = None) -> Path:
    """A folder with the files of a recorded model; a weight of None is left out."""
    recorded = RECORDED[name]
    weights = {n: weight(n, shape) for n, shape in recorded["weights"].items()} | (changes or {})
    (folder / "config.json").write_text(json.dumps(recorded["config"]))
    save_file({n: a for n, a in weights.items() if a is not None}, folder / "model.safetensors", {"format": "pt"})
    return folder


@pytest.mark.parametrize("name", [n for n in RECORDED if n != "bert"])
def test_logits_and_tokens(name, tmp_path):
    model = CausalLM.from_pretrained(written(tmp_path, name))
    with paddle.no_grad():
        logits = model(paddle.to_tensor(IDS)).numpy()
    np.testing.assert_allclose(logits, RECORDED[name]["logits"], atol=2e-4)
    tokens = model.generate(PROMPTS, MASK, max_new_tokens=12, pad_token_id=0, eos_token_id=12)[0]
    assert tokens.tolist() == RECORDED[name]["tokens"]
    model.save_pretrained(tmp_path / "again")
    again = load_file(tmp_path / "again" / "model.safetensors")
    assert sorted(again) == sorted(RECORDED[name]["weights"])
    assert all((a == weight(n, [*a.shape])).all() for n, a in again.items())


def test_an_encoder(tmp_path):
    model = TextEncoder.from_pretrained(written(tmp_path, "bert"))
    hidden, pooled = model(*map(paddle.to_tensor, (IDS, MASK, MASK)))
    np.testing.assert_allclose(hidden.numpy(), RECORDED["bert"]["hidden"], atol=2e-4)
    np.testing.assert_allclose(pooled.numpy(), RECORDED["bert"]["pooled"], atol=2e-4)


def test_files_without_the_prefix_of_a_head(tmp_path):
    weights = dict.fromkeys(RECORDED["gpt2"]["weights"])
    weights |= {n.removeprefix("transformer."): weight(n, s) for n, s in RECORDED["gpt2"]["weights"].items()}
    weights["h.0.attn.bias"] = np.ones((1, 1, 4, 4), "float32")  # a buffer of older files
    model = CausalLM.from_pretrained(written(tmp_path, "gpt2", weights))
    np.testing.assert_allclose(model(paddle.to_tensor(IDS)).numpy(), RECORDED["gpt2"]["logits"], atol=2e-4)


def test_sharded_files_in_bfloat16(tmp_path):
    config = tiny_config("qwen3", vocab_size=32, dtype="bfloat16")
    model = CausalLM(config)
    model.to(dtype="bfloat16")
    model.save_pretrained(tmp_path, max_shard_bytes=4000)
    index = json.loads((tmp_path / "model.safetensors.index.json").read_text())
    assert len(set(index["weight_map"].values())) > 2
    assert index["metadata"]["total_size"] == 2 * sum(int(np.prod(p.shape)) for p in model.parameters())
    again = CausalLM.from_pretrained(tmp_path)
    assert again.config == config and again.model.embed_tokens.weight.dtype == paddle.bfloat16
    assert all((a == b).all() for a, b in zip(model.parameters(), again.parameters(), strict=True))
    assert CausalLM.from_pretrained(tmp_path, "float32").lm_head.weight.dtype == paddle.float32


def test_all_names_and_shapes_that_differ_are_listed(tmp_path):
    changes = {
        "lm_head.weight": None, "model.norm.weight": None, "other": np.ones(1, "float32"),
        "model.layers.0.mlp.up_proj.weight": np.ones((8, 12), "float32"),
    }  # fmt: skip
    with pytest.raises(ValueError) as e:
        CausalLM.from_pretrained(written(tmp_path, "llama", changes))
    assert str(e.value).splitlines()[1:] == [
        "  missing: lm_head.weight", "  missing: model.norm.weight", "  not in the model: other",
        "  model.layers.0.mlp.up_proj.weight has shape [8, 12]; expected [12, 8]",
    ]  # fmt: skip


REFUSED = [
    ({"model_type": "t5"}, "model_type is 't5'"),
    ({"sliding_window": 4}, "sliding_window is 4"),
    ({"hidden_act": "swiglu"}, "hidden_act is 'swiglu'"),
    ({"rope_parameters": {"rope_type": "longrope", "factor": 2.0}}, "rope_type is 'longrope'"),
    ({"partial_rotary_factor": 0.5}, "partial_rotary_factor is 0.5"),
    ({"num_key_value_heads": 3}, "num_key_value_heads=3 does not divide"),
]


@pytest.mark.parametrize(("changes", "text"), REFUSED)
def test_a_configuration_that_would_compute_something_else_is_refused(tmp_path, changes, text):
    written(tmp_path, "llama")
    (tmp_path / "config.json").write_text(json.dumps(RECORDED["llama"]["config"] | changes))
    with pytest.raises(ValueError, match=text):
        CausalLM.from_pretrained(tmp_path)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(OSError, match=r"config\.json"):
        CausalLM.from_pretrained(tmp_path)
    written(tmp_path, "llama")
    (tmp_path / "model.safetensors").unlink()
    with pytest.raises(OSError, match=r"model\.safetensors"):
        CausalLM.from_pretrained(tmp_path)
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(ValueError, match="not valid JSON"):
        CausalLM.from_pretrained(tmp_path)


@pytest.mark.parametrize(
    ("index", "text"),
    [
        ('{"weight_map": {"a": "../a.safetensors", "b": "/b.safetensors", "c": "m.safetensors"}}',
         r"not in its folder:\n  a: '../a.safetensors'\n  b: '/b.safetensors'$"),
        ('{"weight_map": {"a": "x/a.safetensors", "b": ["c"], "c": "..\\\\c", "d": "..", "e": ""}}',
         r"a: 'x/a.safetensors'\n  b: \['c'\]\n  c: .*\n  d: '..'\n  e: ''$"),
        ("{", "not an index"), ("[]", "not an index"), ('{"weight_map": []}', "not an index"), ("{}", "not an index"),
        ('{"weight_map": {"lm_head.weight": "model.safetensors", "a.b": "model.safetensors"}}',
         r"not in their files:\n  a\.b: model\.safetensors$"),
    ],
)  # fmt: skip
def test_an_index_that_is_wrong(tmp_path, index, text):
    (written(tmp_path, "llama") / "model.safetensors.index.json").write_text(index)
    with pytest.raises(ValueError, match=text):
        CausalLM.from_pretrained(tmp_path)


def test_a_file_that_is_no_safetensors_file(tmp_path):
    (written(tmp_path, "llama") / "model.safetensors").write_bytes(b"abc")
    with pytest.raises(ValueError, match="is not a safetensors file"):
        CausalLM.from_pretrained(tmp_path)


def test_a_model_of_the_other_kind():
    with pytest.raises(ValueError, match="use TextEncoder"):
        CausalLM(tiny_config("bert"))
    with pytest.raises(ValueError, match="use CausalLM"):
        TextEncoder(tiny_config("gpt2"))
    with pytest.raises(ValueError, match="expected one of gpt2, llama"):
        ModelConfig("gpt5", 8, 8, 1, 1)


def test_a_model_learns():
    paddle.seed(0)
    model = CausalLM(tiny_config(vocab_size=8, num_hidden_layers=1, initializer_range=0.1))
    opt = paddle.optimizer.AdamW(0.01, parameters=model.parameters())
    ids = paddle.to_tensor([[1, 2, 3, 4, 5, 6, 7]])

    @paddle.jit.to_static
    def step():
        loss = paddle.nn.functional.cross_entropy(model(ids[:, :-1]), ids[:, 1:])
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    losses = [float(step()) for _ in range(30)]
    assert losses[-1] < 0.1 * losses[0]
    assert model.generate([[1, 2]], max_new_tokens=5)[0].tolist() == [[3, 4, 5, 6, 7]]
