"""The counterparts of another framework's names, looked up in this package itself."""

from __future__ import annotations

import importlib
import inspect
import re
from importlib import metadata
from typing import Any

from ...core.memo import memo
from ..module_paths import own_name
from . import fluid_rules, torch_rules
from .rule import Rule

MODULES = {**torch_rules.MODULES, **fluid_rules.MODULES}
RULES = {**torch_rules.RULES, **fluid_rules.RULES}
TODO = {**torch_rules.TODO, **fluid_rules.TODO}
ROOTS = ("torch", "torchvision", "tensorboardX", "paddle")
# Modules of packages for several frameworks, and such packages, which find a framework by its name.
PACKAGES = {"einops.layers.torch": "einops.layers.paddle", "safetensors.torch": "safetensors.paddle"}
BY_NAME = {name.partition(".")[0] for name in PACKAGES}
_NEED_TORCH = frozenset(
    "accelerate apex bitsandbytes deepspeed diffusers dgl fairscale fairseq fastai flash_attn gpytorch ignite kornia "
    "lightning monai peft pytorch_lightning segmentation_models_pytorch timm torch_geometric torch_scatter "
    "torch_sparse torchaudio torchdata torchmetrics torchtext torchtune transformers xformers".split()
)
# Of these, the ones that can be imported without it, and have parts that need no tensors.
START_WITHOUT_TORCH = frozenset(["transformers", "kornia", "einx"])
# Packages for several frameworks that this one is not among.
_WITHOUT_BACKEND = frozenset(["einx"])

# Where the classes are that a program may choose while it runs, with the arguments of PyTorch.
CALLED_BY_VALUE = {"torch.nn": "paddle.compat.nn", "torch.optim": "paddle.compat.optim.classes"}


def is_foreign(name: str) -> bool:
    """Whether a dotted name is of a framework that is rewritten."""
    return name.split(".")[0] in ROOTS


# Key: the name; the distributions of this environment stay.
@memo(256, context=False)
def needs_torch(package: str) -> str | None:
    """Return the advice for a package that needs PyTorch itself, as far as it is known or installed; else None."""
    if package in _WITHOUT_BACKEND:
        return f"the package {package} chooses a framework by the type of tensors, and does not know those here"
    found = metadata.packages_distributions().get(package, ())
    needed = (r for d in found for r in metadata.requires(d) or () if "extra ==" not in r)
    if package in _NEED_TORCH or "torch" in package or any(re.match(r"torch\b(?!-)", r) for r in needed):
        return f"the package {package} computes with PyTorch itself, whose tensors are not those here"
    return None


def module_here(name: str) -> str | None:
    """Return the module here that stands for one there: paddle.nn for torch.nn."""
    return MODULES.get(name) or (name if _module(name) else None)


def rule_for(name: str) -> Rule | None:
    """Return the rule for a name; None if it has no counterpart."""
    # Where the classes are defined.
    name = re.sub(r"^torch\.utils\.data\.(dataloader|dataset|sampler|distributed)\.", "torch.utils.data.", name)
    name = re.sub(r"^torch\.autograd\.function\.", "torch.autograd.", name)
    name = re.sub(r"^torch\.utils\.tensorboard\.writer\.|^tensorboardX\.", "torch.utils.tensorboard.", name)
    name = re.sub(r"^torch\.(nn\.modules|distributions|optim)\.([a-z_]\w*\.)?(?=_?[A-Z])", _public, name)
    if name in RULES:
        return RULES[name]
    if name in TODO:
        return None
    room, _, leaf = name.replace("torch", "paddle.compat", 1).rpartition(".")
    if name.startswith("torch.") and name not in MODULES and leaf in getattr(_module(room), "__all__", ()):
        return Rule(f"{room}.{leaf}")
    parent = max((m for m in MODULES if name.startswith(m + ".")), key=len, default="")
    moved = MODULES[parent] + name[len(parent) :] if parent else name
    owner, _, attribute = name.rpartition(".")
    if owner.rpartition(".")[2][:1].isupper() and (made := rule_for(owner)) and exists(f"{made.new}.{attribute}"):
        return Rule(f"{made.new}.{attribute}")  # a method of a class
    for new in (moved, re.sub(r"(\d)d$", r"\1D", moved)):
        if exists(new):
            return Rule(new)
    return None


def in_compat(name: str) -> str | None:
    """Return the class that takes the arguments of a layer or optimizer of PyTorch, if there is one."""
    leaf = name.rpartition(".")[2]
    for there, here in CALLED_BY_VALUE.items():
        if name == f"{there}.{leaf}" and leaf in getattr(_module(here), "__all__", ()):
            return f"{here}.{leaf}"
    return None


def _public(found: re.Match[str]) -> str:
    room = f"torch.{found[1].removesuffix('.modules')}."
    return found[0] if (found[2] or "").startswith("lr_scheduler.") else room


def keeps_order(rule: Rule) -> bool:
    """Return whether the arguments there, in order, are the first ones here."""
    if rule.edit or not rule.order or not exists(rule.new):
        return False
    here = [*inspect.signature(_found(rule.new)).parameters]
    order = [rule.names.get(name, name) for name in rule.order.split()]
    return here[: len(order)] == order


def todo_for(name: str) -> str:
    """Return the advice for a name without counterpart."""
    found = max((t for t in TODO if name == t or name.startswith(t + ".")), key=len, default="")
    return TODO.get(found, "there is no such name here")


def exists(name: str) -> bool:
    """Whether this package has a name."""
    return _found(name) is not _NOTHING


_NOTHING = object()


def _found(name: str) -> Any:
    parts = name.split(".")
    value: Any = _module("paddle")
    for i, part in enumerate(parts[1:], 2):
        if not hasattr(value, part) and _module(".".join(parts[:i])) is None:
            return _NOTHING
        value = getattr(value, part, None) or _module(".".join(parts[:i]))
    return value


def _module(name: str) -> Any:
    if not name.startswith("paddle"):
        return None
    try:
        return importlib.import_module(own_name(name))
    except ImportError:
        return None
