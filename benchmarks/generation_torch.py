"""The GPT of generation.py in PyTorch, with its step compiled over a cache of fixed capacity."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn as nn
import torch.nn.functional as F

from generation import HEADS, LAYERS, PROMPT, TOKENS, WIDTH, WORDS
from worker import Call

CAPACITY = 96


class Block(nn.Module):
    """A block that writes into its cache."""

    def __init__(self) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def attend(self, x, cache, places):
        batch, n, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(batch, n, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        cache[0].index_copy_(2, places, k)
        cache[1].index_copy_(2, places, v)
        mask = torch.arange(CAPACITY) <= places[:, None]
        return F.scaled_dot_product_attention(q, *cache, attn_mask=mask)

    def forward(self, x, cache, places):
        x = x + self.out(self.attend(x, cache, places).transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    """The model."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(128, WIDTH)
        self.blocks = nn.ModuleList([Block() for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, ids, caches, places):
        x = self.words(ids) + self.places(places)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache, places)
        return self.norm(x)[:, -1] @ self.words.weight.T


def compiled(batch: int) -> Call:
    """torch.compile on the step over a static cache."""
    net, prompt = GPT().eval(), torch.ones(batch, PROMPT, dtype=torch.int64)
    step = torch.compile(net)

    @torch.no_grad()
    def generate() -> Any:
        shape = (batch, HEADS, CAPACITY, WIDTH // HEADS)
        caches = [(torch.zeros(shape), torch.zeros(shape)) for _ in range(LAYERS)]
        tokens = [net(prompt, caches, torch.arange(PROMPT)).argmax(-1, keepdim=True)]
        for n in range(PROMPT, PROMPT + TOKENS - 1):
            tokens.append(step(tokens[-1], caches, torch.tensor([n])).argmax(-1, keepdim=True))
        return torch.cat(tokens, 1)

    return generate
