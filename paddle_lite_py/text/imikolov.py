"""The Penn treebank as Mikolov has prepared it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..io import Dataset
from .files import find, lines_of, one_of

__all__ = ["Imikolov"]


class Imikolov(Dataset):
    """Penn Treebank language modeling: n-grams (NGRAM), or source and shifted target sentences (SEQ), as word ids.

    Arguments:
        data_file: path of the archive; None: download it.
        data_type: "NGRAM" or "SEQ". Default: 'NGRAM'.
        window_size: length of the n-grams; for SEQ, if above 0, the largest length of a sentence. Default: -1.
        mode: "train" or "test". Default: 'train'.
        min_word_freq: words with this frequency or less are mapped to the unknown token. Default: 50.
        download: download the archive if it is missing. Default: True.

    Raises:
        ValueError: if an argument or the archive does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.Imikolov, paddle.io.Dataset)
        True

    Source: Mikolov, Karafiat et al., Recurrent neural network based language model, 2010.
    """

    _url, _md5 = "https://dataset.bj.bcebos.com/imikolov%2Fsimple-examples.tgz", "30177ea32e27c525793142b6bf2c8e2d"

    def __init__(
        self,
        data_file: Any = None,
        data_type: str = "NGRAM",
        window_size: int = -1,
        mode: str = "train",
        min_word_freq: int = 50,
        download: bool = True,
    ) -> None:
        self.data_type = one_of("Imikolov", "data_type", data_type, ("NGRAM", "SEQ"))
        self.mode = one_of("Imikolov", "mode", mode, ("train", "test"))
        self.window_size, self.min_word_freq = window_size, min_word_freq
        if self.data_type == "NGRAM" and window_size < 0:
            raise ValueError(f"Imikolov: window_size is {window_size}; expected the number of words of a window")
        self.data_file = find("Imikolov", data_file, self._url, self._md5, download)
        self.word_idx = self._words()
        self.data: list[tuple[Any, ...]] = [s for line in self._lines(self.mode) for s in self._samples(line.split())]

    def _lines(self, part: str) -> Any:
        return lines_of("Imikolov", self.data_file, f"simple-examples/data/ptb.{part}.txt")

    def _words(self) -> dict[Any, int]:
        """Words as the file has them, in bytes, the most frequent first; marks are text."""
        counts: Counter[Any] = Counter()
        for part in ("train", "valid"):
            for line in self._lines(part):
                counts.update([*line.split(), "<s>", "<e>"])
        kept = [(w, n) for w, n in counts.items() if n > self.min_word_freq]
        ordered = sorted(kept, key=lambda x: (-x[1], x[0] if isinstance(x[0], bytes) else x[0].encode()))
        return {**{w: i for i, (w, _) in enumerate(ordered)}, "<unk>": len(ordered)}

    def _samples(self, words: list[bytes]) -> list[tuple[Any, ...]]:
        unknown = self.word_idx["<unk>"]
        first, last = (self.word_idx.get(mark, unknown) for mark in ("<s>", "<e>"))
        ids = [self.word_idx.get(w, unknown) for w in words]
        size = self.window_size
        if self.data_type == "SEQ":
            return [] if 0 < size < len(ids) + 1 else [([first, *ids], [*ids, last])]
        row = [first, *ids, last]
        return [tuple(row[i - size : i]) for i in range(size, len(row) + 1)]

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
