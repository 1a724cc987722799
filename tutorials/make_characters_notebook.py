"""Writes characters.ipynb, a language model of characters: python tutorials/make_characters_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# A language model of characters
A recurrent network learns to guess the next character of a text that ships with Python, and then writes some of its
own: a loop of sampling that is one compiled program.""",
    """    import pydoc_data.topics

    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    paddle.seed(0)
    pages = pydoc_data.topics.topics  # the language reference, as help() shows it
    text = " ".join(" ".join(pages[name].split()) for name in sorted(pages))[:90_000]
    text = "".join(c for c in text.lower() if c.isascii() and c not in "*_")
    letters = sorted(set(text))
    ids = np.array([letters.index(c) for c in text])
    print(len(text), "characters,", len(letters), "different ones:", text[2000:2080])""",
    """## Batches
The text in 32 rows that are read side by side, 48 characters at a time.""",
    """    rows = ids[: len(ids) // 32 * 32].reshape(32, -1)
    starts = range(0, rows.shape[1] - 49, 48)
    batches = [(paddle.to_tensor(rows[:, s : s + 48]), paddle.to_tensor(rows[:, s + 1 : s + 49])) for s in starts]
    print(len(batches), "batches")""",
    """## The model""",
    """    class Characters(nn.Layer):
        def __init__(self, count, width=96):
            super().__init__()
            self.embed, self.rnn = nn.Embedding(count, width), nn.GRU(width, width)
            self.head = nn.Linear(width, count)

        def forward(self, x, state=None):
            out, state = self.rnn(self.embed(x), state)
            return self.head(out), state

    net = Characters(len(letters))
    opt = paddle.optimizer.AdamW(4e-3, parameters=net.parameters(), grad_clip=nn.ClipGradByGlobalNorm(1.0))""",
    """## Train
The step is one program. The state goes on from batch to batch, detached, so that gradients stay within one.""",
    """    @paddle.jit.to_static
    def step(x, y, state):
        scores, state = net(x, state)
        loss = nn.functional.cross_entropy(scores, y)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss, state.detach()

    losses = []
    for epoch in range(2):
        state = paddle.zeros([1, 32, 96])
        for x, y in batches:
            loss, state = step(x, y, state)
            losses.append(loss)
    losses = [v.item() for v in losses]
    print(f"{losses[0]:.2f} -> {losses[-1]:.2f}; guessing blindly would give {np.log(len(letters)):.2f}")""",
    """## Write
A Python loop on a tensor's value: `while` stops at a full stop or after so many characters. Compiled, it is a loop
within one program, and no character comes back to Python before the end.""",
    """    @paddle.jit.to_static
    def write(first, warmth, longest):
        state = paddle.zeros([1, 1, 96])
        out = paddle.zeros([300], dtype="int64")
        last, i = first, paddle.zeros([], dtype="int64")
        while (i < longest) and (last[0, 0] != stop or i < 40):
            scores, state = net(last, state)
            chances = nn.functional.softmax(scores[:, -1] / warmth)
            last = paddle.multinomial(chances, 1)
            out[i] = last[0, 0]
            i = i + 1
        return out, i

    stop = letters.index(".")
    net.eval()
    written = {}
    for warmth in (0.4, 0.7, 1.0):
        first = paddle.to_tensor([[letters.index("t")]])
        with paddle.no_grad():
            out, n = write(first, paddle.to_tensor(warmth), paddle.to_tensor(300))
        written[warmth] = "t" + "".join(letters[i] for i in out[: int(n)].tolist())
        print(f"--- warmth {warmth}\\n{written[warmth]}\\n")""",
    """## What it has learned
The loss, and how sure it is of each next character in a line of the text.""",
    """    import matplotlib.pyplot as plt

    line = text[2000:2060]
    row = paddle.to_tensor([[letters.index(c) for c in line]])
    with paddle.no_grad():
        chances = nn.functional.softmax(net(row)[0])[0].numpy()
    sure = [chances[i, letters.index(c)] for i, c in enumerate(line[1:])]
    fig, (top, bottom) = plt.subplots(2, 1, figsize=(9, 4.6), constrained_layout=True)
    top.plot(losses, linewidth=0.8)
    top.axhline(np.log(len(letters)), color="gray", linestyle=":")
    top.set(title="loss; dotted: guessing blindly", xlabel="batch")
    bottom.bar(range(len(sure)), sure)
    bottom.set_xticks(range(len(sure)), list(line[1:]), family="monospace", fontsize=8)
    bottom.set(title="chance that it gives to the character that comes", ylim=(0, 1))
    assert losses[-1] < 0.75 * losses[0]
    fig""",
]

if __name__ == "__main__":
    write("characters.ipynb", CELLS)
