"""Data sets."""

from __future__ import annotations

import re
import string
import tarfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from ..core.archives import members
from ..io import Dataset
from .files import find, one_of

__all__ = ["Imdb", "UCIHousing"]


class Imdb(Dataset):
    """IMDB movie reviews: word ids, and the label 0 (positive) or 1 (negative).

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train" or "test". Default: 'train'.
        cutoff: words with this frequency or less are mapped to the unknown token. Default: 150.
        download: download the archive if it is missing. Default: True.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.Imdb, paddle.io.Dataset)
        True

    Source: Maas et al., Learning Word Vectors for Sentiment Analysis, 2011.
    """

    _url, _md5 = "https://dataset.bj.bcebos.com/imdb%2FaclImdb_v1.tar.gz", "7c2ac02c03563afcf9b574c7e56c153a"

    def __init__(self, data_file: Any = None, mode: str = "train", cutoff: int = 150, download: bool = True) -> None:
        self.mode = one_of("Imdb", "mode", mode, ("train", "test"))
        self.data_file = find("Imdb", data_file, self._url, self._md5, download)
        texts = self._texts()
        counts = Counter(w for (_, _), words in texts for w in words)
        kept = sorted(((w, n) for w, n in counts.items() if n > cutoff), key=lambda x: (-x[1], x[0]))
        self.word_idx: dict[str, int] = {w: i for i, (w, _) in enumerate(kept)}
        self.word_idx["<unk>"] = len(kept)
        own = sorted((t for t in texts if t[0][0] == self.mode), key=lambda t: t[0][1] == "neg")
        unknown = len(kept)
        self.docs = [[self.word_idx.get(w, unknown) for w in words] for _, words in own]
        self.labels = [int(kind == "neg") for (_, kind), _ in own]

    def _texts(self) -> list[tuple[tuple[str, str], list[str]]]:
        name = re.compile(r"aclImdb/(train|test)/(pos|neg)/.*\.txt$")
        drop = str.maketrans("", "", string.punctuation)
        found = []
        with tarfile.open(self.data_file) as tar:
            for member in members(tar, self.data_file):
                match = name.match(member.name)
                if match:
                    file: Any = tar.extractfile(member)
                    text = file.read().decode("latin1").rstrip("\n\r").translate(drop).lower()
                    found.append(((match[1], match[2]), text.split()))
        return found

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray]:
        return np.array(self.docs[idx]), np.array([self.labels[idx]])

    def __len__(self) -> int:
        return len(self.docs)


class UCIHousing(Dataset):
    """Boston housing prices: 13 features, normalized by their range, and the price.

    Arguments:
        data_file: path of the table; None: download it.
        mode: "train" (the first 80 %) or "test". Default: 'train'.
        download: download the table if it is missing. Default: True.

    Raises:
        ValueError: if the file is no table of 14 columns.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.UCIHousing, paddle.io.Dataset)
        True

    Source: Harrison and Rubinfeld, Hedonic prices and the demand for clean air, 1978.
    """

    _url, _md5 = "http://paddlemodels.bj.bcebos.com/uci_housing/housing.data", "d4accdce7a25600298819f8e28e8d593"

    def __init__(self, data_file: Any = None, mode: str = "train", download: bool = True) -> None:
        self.mode = one_of("UCIHousing", "mode", mode, ("train", "test"))
        self.data_file = find("UCIHousing", data_file, self._url, self._md5, download)
        numbers = np.array(Path(self.data_file).read_text().split(), np.float64)
        if not numbers.size or numbers.size % 14:
            raise ValueError(f"UCIHousing: {self.data_file} is no table of 14 columns")
        rows = numbers.reshape(-1, 14)
        features = rows[:, :13]
        span = np.maximum(features.max(0) - features.min(0), 1e-12)
        rows[:, :13] = (features - features.mean(0)) / span
        at = int(len(rows) * 0.8)
        self.data = (rows[:at] if self.mode == "train" else rows[at:]).astype(np.float32)

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray]:
        return self.data[idx, :-1], self.data[idx, -1:]

    def __len__(self) -> int:
        return len(self.data)
