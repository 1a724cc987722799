"""Writes transformer.ipynb, a small Transformer with beam search: python tutorials/make_transformer_notebook.py."""

from __future__ import annotations

from make_notebook import write

CELLS = [
    """# A small Transformer with beam search
An encoder reads a number, 1987, and a decoder writes it as the Romans did, MCMLXXXVII. Nobody tells it the rules: it is
shown two thirds of the numbers below 1000, and asked for the others.""",
    """    import numpy as np
    import paddle_lite_py as paddle
    from paddle_lite_py import nn

    paddle.seed(0)
    PAD, START, END = 0, 1, 2
    letters = ["", "<", ">", *"IVXLCDM"]
    values = [(900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"),
              (5, "V"), (4, "IV"), (1, "I")]

    def roman(n):
        text = ""
        for value, letter in values:
            text += letter * (n // value)
            n %= value
        return text

    longest = 12 + 2  # DCCCLXXXVIII, the start and the end
    numbers = np.random.default_rng(0).permutation(np.arange(1, 1000))
    source = np.array([[int(d) for d in f"{n:03}"] for n in numbers])
    target = np.array([
        ([START, *(letters.index(c) for c in roman(n)), END] + [PAD] * longest)[:longest] for n in numbers
    ])
    train, test = slice(0, 666), slice(666, 866)
    print(numbers[:3], [roman(n) for n in numbers[:3]])""",
    """## The model
`nn.Transformer` is the encoder and the decoder; what remains are embeddings of characters and of places, and a layer
that says how likely each letter is. The mask lets a place see those before it alone.""",
    """    class Writer(nn.Layer):
        def __init__(self, width=48):
            super().__init__()
            self.digits, self.letters = nn.Embedding(10, width), nn.Embedding(len(letters), width)
            self.places = nn.Embedding(longest, width)
            self.net = nn.Transformer(width, 4, 1, 1, 96, dropout=0.0)
            self.head = nn.Linear(width, len(letters))
            self.mask = self.net.generate_square_subsequent_mask(longest)

        def read(self, digits):
            return self.net.encoder(self.digits(digits) + self.places(paddle.arange(3)))

        def write(self, memory, text):
            n = text.shape[1]
            x = self.letters(text) + self.places(paddle.arange(n))
            return self.head(self.net.decoder(x, memory, tgt_mask=self.mask[:n, :n]))

        def forward(self, digits, text):
            return self.write(self.read(digits), text)

    net = Writer()
    print(sum(p.size for p in net.parameters()), "numbers to learn")""",
    """## Train
It is given the text so far, and asked for the next letter at each place at once.""",
    """    steps = 120
    rate = paddle.optimizer.lr.OneCycleLR(6e-3, steps)
    opt = paddle.optimizer.AdamW(rate, parameters=net.parameters(), weight_decay=0.01)

    @paddle.jit.to_static
    def step(digits, text):
        scores = net(digits, text[:, :-1])
        loss = nn.functional.cross_entropy(scores, text[:, 1:], ignore_index=PAD)
        loss.backward()
        opt.step()
        opt.clear_grad()
        return loss

    rng = np.random.default_rng(0)
    losses = []
    for _ in range(steps):
        rows = rng.integers(0, 666, 64)
        losses.append(step(paddle.to_tensor(source[rows]), paddle.to_tensor(target[rows])))
        rate.step()
    losses = [v.item() for v in losses]
    print(f"{losses[0]:.2f} -> {losses[-1]:.4f}")""",
    """## Beam search
With one beam each letter is the likeliest one, and there is no way back from a wrong one. A search with more beams
keeps several texts and goes on with those that are likeliest as a whole; where the best of them is wrong, the right one
is often among the others. `nn.BeamSearchDecoder` asks a *cell* for the scores of the next letter: here
one that runs the decoder on the text so far, which is its state. The cell is compiled once and serves each step.""",
    """    class NextLetter(nn.Layer):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def forward(self, letter, state):
            memory, text, place = state
            text = paddle.where(paddle.arange(longest) == place, letter.unsqueeze(1), text)
            scores = self.net.write(memory, text)
            return scores[paddle.arange(len(letter)), place[:, 0]], (memory, text, place + 1)

    cell = paddle.jit.to_static(NextLetter(net))
    net.eval()

    def search(digits, beams):
        decoder = nn.BeamSearchDecoder(cell, START, END, beams)
        n = len(digits)
        with paddle.no_grad():
            memory = net.read(paddle.to_tensor(digits))
            state = memory, paddle.zeros([n, longest], "int64"), paddle.zeros([n, 1], "int64")
            found, states = nn.dynamic_decode(decoder, state, max_step_num=longest - 2)
        return found.numpy(), states.log_probs.numpy()  # [numbers, letters, beams] and [numbers, beams]

    def read(ids):
        return "".join(letters[i] for i in ids).split(">")[0]

    def hits(found):  # for each number and beam whether the text is right
        return np.array([[read(t) == roman(n) for t in ids.T] for ids, n in zip(found, numbers[test])])

    one, four = (hits(search(source[test], beams)[0]) for beams in (1, 4))
    right = {"one beam": one[:, 0], "best of four": four[:, 0], "among the four": four.any(axis=1)}
    print({name: f"{found.mean():.1%}" for name, found in right.items()}, "of numbers that it has never seen")
    assert right["best of four"].mean() > 0.8""",
    """## What it thinks of
The texts that it has in mind for one number, and how likely it finds them; and how well it does by the length of what
is to be written.""",
    """    import matplotlib.pyplot as plt

    found, chances = search(np.array([[8, 8, 8]]), 6)
    texts = [read(found[0, :, i]) for i in range(6)]
    length = np.array([len(roman(n)) for n in numbers[test]])
    fig, (left, middle, last) = plt.subplots(1, 3, figsize=(11, 3.6), width_ratios=[1, 1, 1.3], constrained_layout=True)
    left.semilogy(losses, linewidth=0.8)
    left.set(title="loss", xlabel="step")
    for (name, hit), shift in zip(right.items(), (-0.27, 0, 0.27)):
        rates = [hit[length == n].mean() if (length == n).any() else 0 for n in range(1, 13)]
        middle.bar(np.arange(1, 13) + shift, rates, 0.27, label=name)
    middle.set(title="right, of new numbers", xlabel="letters", ylim=(0, 1.4))
    middle.legend(loc="upper center", fontsize=8)
    last.barh(range(6), np.exp(chances[0]))
    last.set_yticks(range(6), texts, family="monospace", fontsize=8)
    last.invert_yaxis()
    last.set(title="what 888 might be: its chance", xscale="log")
    fig""",
]

if __name__ == "__main__":
    write("transformer.ipynb", CELLS)
