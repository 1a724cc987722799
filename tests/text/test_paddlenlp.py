"""Language models compute what PaddleNLP computes, from its files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import paddle_lite_py as paddle
from golden.language_models import IDS, weight
from paddle_lite_py.text.models import CausalLM, TextEncoder

RECORDED = json.loads((Path(__file__).parents[1] / "golden" / "paddlenlp_models.json").read_text())
DECODERS = [name for name, found in RECORDED.items() if "logits" in found]


def written(folder: Path, name: str, settings: dict | None = None, changes: dict | None = None) -> Path:
    """A folder with the files of a recorded model; a weight of None is left out."""
    recorded = RECORDED[name]
    weights = {n: weight(n, shape) for n, shape in recorded["weights"].items()} | (changes or {})
    (folder / "config.json").write_text(json.dumps(recorded["config"] | (settings or {})))
    tensors = {n: paddle.to_tensor(a) for n, a in weights.items() if a is not None}
    paddle.save(tensors, str(folder / "model_state.pdparams"))
    return folder


@pytest.mark.parametrize("name", DECODERS)
def test_logits(name, tmp_path):
    model = CausalLM.from_pretrained(written(tmp_path, name))
    with paddle.no_grad():
        logits = model(paddle.to_tensor(IDS)).numpy()
    np.testing.assert_allclose(logits, RECORDED[name]["logits"], atol=2e-4)
    model.save_pretrained(tmp_path / "again")  # in Hugging Face's format
    np.testing.assert_array_equal(CausalLM.from_pretrained(tmp_path / "again")(paddle.to_tensor(IDS)).numpy(), logits)


@pytest.mark.parametrize("name", [n for n in RECORDED if n not in DECODERS])
def test_encoders(name, tmp_path):
    ids = paddle.to_tensor(IDS)
    hidden, pooled = TextEncoder.from_pretrained(written(tmp_path, name))(ids, (ids > 3).astype("int64"))
    np.testing.assert_allclose(hidden.numpy(), RECORDED[name]["hidden"], atol=2e-4)
    np.testing.assert_allclose(pooled.numpy(), RECORDED[name]["pooled"], atol=2e-4)


@pytest.mark.parametrize(
    ("name", "settings"),
    [("llama", {"alibi": True}), ("llama", {"rope_scaling_type": "ntk"}), ("gpt", {"fuse_attention_qkv": True}),
     ("gpt", {"normalize_before": False}), ("gpt", {"model_type": "opt"}), ("qwen2", {"use_sliding_window": True})],
)  # fmt: skip
def test_what_would_compute_something_else_is_refused(name, settings, tmp_path):
    with pytest.raises(ValueError, match=next(iter(settings))):
        CausalLM.from_pretrained(written(tmp_path, name, settings))


def test_names_and_shapes_that_differ(tmp_path):
    changes = {"lm_head.weight": None, "llama.norm.weight": np.ones(9, "float32"), "other": np.ones(1, "float32")}
    with pytest.raises(ValueError) as e:
        CausalLM.from_pretrained(written(tmp_path, "llama", None, changes))
    assert str(e.value).splitlines()[1:] == [
        "  missing: lm_head.weight", "  not in the model: other", "  llama.norm.weight has shape [9]; expected [8]",
    ]  # fmt: skip
    (tmp_path / "model_state.pdparams").unlink()
    with pytest.raises(OSError, match=r"model_state\.pdparams"):
        CausalLM.from_pretrained(tmp_path)
