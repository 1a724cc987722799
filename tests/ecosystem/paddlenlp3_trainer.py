"""PaddleNLP 3: a language model trained by its Trainer with a checkpoint, refined by LoRA, and asked for tokens."""

import numpy as np
import paddle
import trial
from paddlenlp.peft import LoRAConfig, LoRAModel
from paddlenlp.trainer import PdArgumentParser, Trainer, TrainerCallback, TrainingArguments
from paddlenlp.transformers import LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

SMALL = {
    "vocab_size": 100, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 64, "use_flash_attention": False,
}  # fmt: skip
tokens = np.random.RandomState(0).randint(3, 100, [32, 13])
texts = [{"input_ids": t[:-1], "labels": t[1:]} for t in tokens]


class Losses(TrainerCallback):
    """Keeps the loss of each step."""

    def __init__(self):
        self.found = []

    def on_log(self, args, state, control, logs=None, **kwargs):
        self.found += [logs[name] for name in ("loss", "eval_loss") if name in logs]


def trainer(net, folder, **settings):
    (arguments,) = PdArgumentParser(TrainingArguments).parse_dict({
        "output_dir": folder, "per_device_train_batch_size": 4, "per_device_eval_batch_size": 4, "logging_steps": 1,
        "learning_rate": 2e-3, "warmup_steps": 2, "weight_decay": 0.01, "max_grad_norm": 1.0, "disable_tqdm": True,
        "report_to": "none", "dataloader_num_workers": 0, "data_seed": 3, **settings,
    })  # fmt: skip
    return Trainer(net, args=arguments, train_dataset=texts, eval_dataset=texts[:8], callbacks=[Losses()])


def losses(trained):
    return [c for c in trained.callback_handler.callbacks if isinstance(c, Losses)][0].found


llama = LlamaForCausalLM(LlamaConfig(**SMALL))
qwen = Qwen2ForCausalLM(Qwen2Config(**SMALL))
trial.start_from(llama, 1, gain=1.0)
trial.start_from(qwen, 2, gain=1.0)


def first():
    return trainer(llama, "first", max_steps=1).train().training_loss


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
        whole = trainer(llama, "whole", max_steps=8, save_steps=4)
        whole.train()
    evaluation = whole.evaluate()["eval_loss"]
    trial.start_from(llama, 5)
    with paddle.utils.unique_name.guard():  # names as in a process of its own
        again = trainer(llama, "whole", max_steps=8, save_steps=8)
        again.train(resume_from_checkpoint="whole/checkpoint-4")
    llama.save_pretrained("llama")
    loaded = LlamaForCausalLM.from_pretrained("llama", dtype="float32")
    loaded.eval()
    ids = paddle.to_tensor(tokens[:2])
    return [*losses(whole), evaluation, *losses(again), *trial.numbers(loaded(ids)), *generated(loaded)]


def refined():
    """LoRA of a frozen Qwen2: six steps, saved, loaded into another one, merged."""
    modules = [".*q_proj.*", ".*v_proj.*", ".*down_proj.*"]
    net = LoRAModel(qwen, LoRAConfig(target_modules=modules, r=4, lora_alpha=8, dtype="float32"))
    net.mark_only_lora_as_trainable()
    for seed, p in enumerate(p for p in net.parameters() if not p.stop_gradient):
        p.set_value(np.random.RandomState(seed).standard_normal(p.shape).astype("float32") * 0.05)
    tuned = trainer(net, "lora", max_steps=6)
    tuned.train()
    net.eval()
    ids = paddle.to_tensor(tokens[:2])
    before = trial.numbers(net(ids))
    net.save_pretrained("adapters")
    plain = Qwen2ForCausalLM(Qwen2Config(**SMALL))
    trial.start_from(plain, 2, gain=1.0)
    loaded = LoRAModel.from_pretrained(plain, "adapters")
    loaded.eval()
    loaded.merge()
    return [*losses(tuned), *before, *trial.numbers(loaded(ids)), *generated(loaded)]


def exported():
    ids = paddle.to_tensor(tokens[:2])
    return trial.exported(llama, ids, spec=[paddle.static.InputSpec([None, None], "int64")])


trial.report(first, steps=1, more=lambda: [*trained(), *refined(), *exported()])
