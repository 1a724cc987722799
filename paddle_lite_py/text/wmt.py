"""Sentences in two languages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..io import Dataset
from .files import find, lines_of, one_of

__all__ = ["WMT14", "WMT16"]

START, END, UNKNOWN = "<s>", "<e>", "<unk>"
LONGEST = 80  # words of a sentence of WMT14
WORDS = {"en": 11250, "de": 19220}  # of WMT16

Ids = dict[str, int]


class _Translations(Dataset):
    """Base of data sets of sentences: ids of the source, of the target after <s>, and of the target before <e>."""

    def __init__(self) -> None:
        self.src_ids: list[list[int]] = []
        self.trg_ids: list[list[int]] = []
        self.trg_ids_next: list[list[int]] = []

    def _add(self, source: list[int], target: list[int], first: int, last: int) -> None:
        self.src_ids.append(source)
        self.trg_ids.append([first, *target])
        self.trg_ids_next.append([*target, last])

    def __getitem__(self, idx: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return np.array(self.src_ids[idx]), np.array(self.trg_ids[idx]), np.array(self.trg_ids_next[idx])

    def __len__(self) -> int:
        return len(self.src_ids)


def _pairs(who: str, archive: str, name: str) -> Iterator[list[str]]:
    """Yield the lines of two sentences; others are left out."""
    for line in lines_of(who, archive, name):
        if len(pair := line.decode().strip().split("\t")) == 2:
            yield pair


def _positive(who: str, what: str, size: int) -> int:
    if size <= 0:
        raise ValueError(f"{who}: {what} is {size}; expected the number of words to know")
    return size


def _reversed(ids: Ids, reverse: bool) -> Any:
    return {i: w for w, i in ids.items()} if reverse else ids


class WMT14(_Translations):
    """WMT 2014 English-French translation, as word ids.

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train", "test" or "gen". Default: 'train'.
        dict_size: size of the dictionary of each language; -1: all words. Default: -1.
        download: download the archive if it is missing. Default: True.

    Raises:
        ValueError: if an argument or the archive does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.WMT14, paddle.io.Dataset)
        True

    Source: Bojar et al., Findings of the 2014 Workshop on Statistical Machine Translation, 2014.
    """

    _url, _md5 = "http://paddlemodels.bj.bcebos.com/wmt/wmt14.tgz", "0791583d57d5beb693b9414c5b36798c"

    def __init__(self, data_file: Any = None, mode: str = "train", dict_size: int = -1, download: bool = True) -> None:
        super().__init__()
        self.mode = one_of("WMT14", "mode", mode, ("train", "test", "gen"))
        self.dict_size = _positive("WMT14", "dict_size", dict_size)
        self.data_file = find("WMT14", data_file, self._url, self._md5, download)
        self.src_dict, self.trg_dict = self._known("src.dict"), self._known("trg.dict")
        unknown = 2
        for source, target in _pairs("WMT14", self.data_file, f"{self.mode}/{self.mode}"):
            ids = [self.src_dict.get(w, unknown) for w in (START, *source.split(), END)]
            wanted = [self.trg_dict.get(w, unknown) for w in target.split()]
            if max(len(ids), len(wanted)) <= LONGEST:
                self._add(ids, wanted, self.trg_dict[START], self.trg_dict[END])

    def _known(self, name: str) -> Ids:
        lines = [line.strip().decode() for line in lines_of("WMT14", self.data_file, name)]
        return {word: i for i, word in enumerate(lines[: self.dict_size])}

    def get_dict(self, reverse: bool = False) -> tuple[Any, Any]:
        """Return the dictionaries of both languages, from word to id, or with reverse=True from id to word."""
        return _reversed(self.src_dict, reverse), _reversed(self.trg_dict, reverse)


class WMT16(_Translations):
    """Multi30K English-German translation of image descriptions, as word ids.

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train", "test" or "val". Default: 'train'.
        src_dict_size: size of the source dictionary, including <s>, <e> and <unk>; -1: all words. Default: -1.
        trg_dict_size: size of the target dictionary, likewise. Default: -1.
        lang: the source language, "en" or "de". Default: 'en'.
        download: download the archive if it is missing. Default: True.

    Raises:
        ValueError: if an argument or the archive does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.WMT16, paddle.io.Dataset)
        True

    Source: Elliott et al., Multi30K: Multilingual English-German Image Descriptions, 2016.
    """

    _url, _md5 = "http://paddlemodels.bj.bcebos.com/wmt/wmt16.tar.gz", "0c38be43600334966403524a40dcd81e"

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        src_dict_size: int = -1,
        trg_dict_size: int = -1,
        lang: str = "en",
        download: bool = True,
    ) -> None:
        super().__init__()
        self.mode = one_of("WMT16", "mode", mode, ("train", "test", "val"))
        self.lang = one_of("WMT16", "lang", lang, ("en", "de"))
        other = "de" if self.lang == "en" else "en"
        self.src_dict_size = min(_positive("WMT16", "src_dict_size", src_dict_size), WORDS[self.lang])
        self.trg_dict_size = min(_positive("WMT16", "trg_dict_size", trg_dict_size), WORDS[other])
        self.data_file = find("WMT16", data_file, self._url, self._md5, download)
        at = 0 if self.lang == "en" else 1
        training = list(_pairs("WMT16", self.data_file, "wmt16/train"))
        self.src_dict = _most_frequent([p[at] for p in training], self.src_dict_size)
        self.trg_dict = _most_frequent([p[1 - at] for p in training], self.trg_dict_size)
        first, last, unknown = (self.src_dict[mark] for mark in (START, END, UNKNOWN))
        for pair in _pairs("WMT16", self.data_file, f"wmt16/{self.mode}"):
            source = [self.src_dict.get(w, unknown) for w in pair[at].split()]
            target = [self.trg_dict.get(w, unknown) for w in pair[1 - at].split()]
            self._add([first, *source, last], target, first, last)

    def get_dict(self, lang: str, reverse: bool = False) -> Any:
        """Return the dictionary of a language, from word to id, or with reverse=True from id to word."""
        named = one_of("WMT16.get_dict", "lang", lang, ("en", "de"))
        return _reversed(self.src_dict if named == self.lang else self.trg_dict, reverse)


def _most_frequent(sentences: list[str], size: int) -> Ids:
    counts = Counter(w for s in sentences for w in s.split())
    words = sorted(counts, key=lambda w: -counts[w])  # of equals the one that comes first
    return {w: i for i, w in enumerate([START, END, UNKNOWN, *words][: max(size, 3)])}
