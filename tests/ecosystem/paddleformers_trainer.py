"""PaddleFormers: ERNIE 4.5 trained by the Trainer with a checkpoint, Qwen3 with experts refined by LoRA, and tokens."""

import numpy as np
import paddle
import trial
from paddleformers.peft import LoRAConfig, LoRAModel
from paddleformers.trainer import PdArgumentParser, Trainer, TrainerCallback, TrainingArguments
from paddleformers.transformers import (
    Ernie4_5Config,
    Ernie4_5ForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

SMALL = {
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "head_dim": 8,
}
EXPERTS = {**SMALL, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 16, "decoder_sparse_step": 1}
tokens = np.random.RandomState(0).randint(3, 100, [32, 13])
texts = [{"input_ids": t[:-1], "labels": t[1:]} for t in tokens]


class Losses(TrainerCallback):
    """Keeps the loss of each step."""

    def __init__(self):
        self.found = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.found += [logs[name] for name in ("loss", "eval_loss") if name in logs]


class Logits(paddle.nn.Layer):
    """Scores of the next token alone: what is compared and exported."""

    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, ids):
        return self.net(ids, return_dict=True).logits


def trainer(net, folder, **settings):
    (arguments,) = PdArgumentParser(TrainingArguments).parse_dict({
        "output_dir": folder, "per_device_train_batch_size": 4, "per_device_eval_batch_size": 4, "logging_steps": 1,
        "learning_rate": 2e-3, "warmup_steps": 2, "weight_decay": 0.01, "max_grad_norm": 1.0, "disable_tqdm": True,
        "report_to": "none", "dataloader_num_workers": 0, "data_seed": 3, "save_to_hf": False, **settings,
    })  # fmt: skip
    return Trainer(net, args=arguments, train_dataset=texts, eval_dataset=texts[:8], callbacks=[Losses()])


def losses(trained):
    return [c for c in trained.callback_handler.callbacks if isinstance(c, Losses)][0].found


ernie = Ernie4_5ForCausalLM(Ernie4_5Config(**SMALL))
qwen = Qwen3MoeForCausalLM(Qwen3MoeConfig(**EXPERTS))
trial.start_from(ernie, 1, gain=1.0)
trial.start_from(qwen, 2, gain=1.0)


def first():
    return trainer(ernie, "first", max_steps=1).train().training_loss


def generated(net):
    net.eval()
    prompt = paddle.to_tensor(tokens[:2, :6])
    mask = paddle.ones_like(prompt)
    found = []
    for how in ({"decode_strategy": "greedy_search"}, {"decode_strategy": "beam_search", "num_beams": 3}):
        ids, scores = net.generate(prompt, attention_mask=mask, max_new_tokens=8, **how)
        found += [*ids.flatten(), *scores.flatten()]
    return found


def trained():
    """Eight steps, once with a checkpoint after four and once from that checkpoint on."""
    with paddle.utils.unique_name.guard():
        whole = trainer(ernie, "whole", max_steps=8, save_steps=4)
        whole.train()
    evaluation = whole.evaluate()["eval_loss"]
    trial.start_from(ernie, 5)
    with paddle.utils.unique_name.guard():  # names as in a process of its own
        again = trainer(ernie, "whole", max_steps=8, save_steps=8)
        again.train(resume_from_checkpoint="whole/checkpoint-4")
    ernie.save_pretrained("ernie")
    loaded = Ernie4_5ForCausalLM.from_pretrained("ernie", dtype="float32")
    loaded.eval()
    ids = paddle.to_tensor(tokens[:2])
    return [*losses(whole), evaluation, *losses(again), *trial.numbers(Logits(loaded)(ids)), *generated(loaded)]


def refined():
    """LoRA of a frozen Qwen3Moe: six steps, saved, loaded into another one, merged."""
    modules = [".*q_proj.*", ".*v_proj.*", ".*down_proj.*"]
    net = LoRAModel(qwen, LoRAConfig(target_modules=modules, r=4, lora_alpha=8, dtype="float32"))
    net.mark_only_lora_as_trainable()
    for seed, p in enumerate(p for p in net.parameters() if not p.stop_gradient):
        p.set_value(np.random.RandomState(seed).standard_normal(p.shape).astype("float32") * 0.05)
    tuned = trainer(net, "lora", max_steps=6)
    tuned.train()
    net.eval()
    ids = paddle.to_tensor(tokens[:2])
    before = trial.numbers(Logits(net)(ids))
    net.save_pretrained("adapters")
    plain = Qwen3MoeForCausalLM(Qwen3MoeConfig(**EXPERTS))
    trial.start_from(plain, 2, gain=1.0)
    loaded = LoRAModel.from_pretrained(plain, "adapters")
    loaded.eval()
    loaded.merge()
    return [*losses(tuned), *before, *trial.numbers(Logits(loaded)(ids)), *generated(loaded)]


def exported():
    """LLaMA's: PaddlePaddle does not convert ERNIE 4.5 to a program."""
    llama = LlamaForCausalLM(LlamaConfig(**SMALL))
    trial.start_from(llama, 3, gain=1.0)
    ids = paddle.to_tensor(tokens[:2])
    return trial.exported(llama, ids, spec=[paddle.static.InputSpec([None, None], "int64")])


trial.report(first, steps=1, more=lambda: [*trained(), *refined(), *exported()])
