"""Semantic roles: who does what to whom."""

from __future__ import annotations

import tarfile
from typing import Any

import numpy as np

from ..core.archives import gunzipped, members
from ..io import Dataset
from .files import by_line, find

__all__ = ["Conll05st"]

UNKNOWN = 0
_HOST = "http://paddlemodels.bj.bcebos.com/conll05st"


class Conll05st(Dataset):
    """CoNLL-2005 semantic role labeling: each sample is a sentence with one of its predicates.

    A sample has word ids, the ids of the five words around the predicate, the predicate, a mark of those five words,
    and the label of each word.

    Arguments:
        data_file: path of the archive; None: download it.
        word_dict_file: path of the word dictionary; None: download it.
        verb_dict_file: path of the predicate dictionary; None: download it.
        target_dict_file: path of the label dictionary; None: download it.
        emb_file: path of the word vectors; None: download it.
        download: download missing files. Default: True.

    Raises:
        ValueError: if a file does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.Conll05st, paddle.io.Dataset)
        True

    Source: Carreras and Marquez, Introduction to the CoNLL-2005 Shared Task, 2005.
    """

    _files = {
        "data_file": ("/conll05st-tests.tar.gz", "387719152ae52d60422c016e92a742fc"),
        "word_dict_file": ("%2FwordDict.txt", "ea7fb7d4c75cc6254716f0177a506baa"),
        "verb_dict_file": ("%2FverbDict.txt", "0d2977293bbb6cbefab5b0f97db1e77c"),
        "target_dict_file": ("%2FtargetDict.txt", "d8c7f03ceb5fc2e5a0fa7503a4353751"),
        "emb_file": ("%2Femb", "bf436eb0faa1f6f9103017f8be57cdb7"),
    }

    def __init__(
        self,
        data_file: Any = None,
        word_dict_file: Any = None,
        verb_dict_file: Any = None,
        target_dict_file: Any = None,
        emb_file: Any = None,
        download: bool = True,
    ) -> None:
        given = dict(
            zip(self._files, (data_file, word_dict_file, verb_dict_file, target_dict_file, emb_file), strict=True)
        )
        for name, (url, md5) in self._files.items():
            setattr(self, name, find("Conll05st", given[name], _HOST + url, md5, download, name))
        self.word_dict, self.predicate_dict = by_line(self.word_dict_file), by_line(self.verb_dict_file)
        self.label_dict = _labels(self.target_dict_file)
        self.sentences: list[list[str]] = []
        self.predicates: list[str] = []
        self.labels: list[list[str]] = []
        for words, columns in self._parsed():
            self._take(words, columns)

    data_file: str
    word_dict_file: str
    verb_dict_file: str
    target_dict_file: str
    emb_file: str

    def _parsed(self) -> list[tuple[list[str], list[list[str]]]]:
        """Sentences: the words, and for each word its row of properties."""
        name = "conll05st-release/test.wsj/{0}/test.wsj.{0}.gz"
        try:
            with tarfile.open(self.data_file) as tar:
                held = {m.name: m for m in members(tar, self.data_file)}
                packed = {n: tar.extractfile(held[n]).read() for n in map(name.format, ("words", "props"))}  # type: ignore[union-attr]
            texts = [gunzipped(data, n) for n, data in packed.items()]
        except (tarfile.TarError, KeyError, OSError, EOFError) as e:
            raise ValueError(f"Conll05st: {self.data_file} is no archive of the test set: {e}") from e
        words, properties = (text.decode().splitlines() for text in texts)
        if len(words) != len(properties):
            raise ValueError(
                f"Conll05st: {len(words)} lines of words, {len(properties)} of properties; expected as many"
            )
        found: list[tuple[list[str], list[list[str]]]] = [([], [])]
        for word, row in zip(words, properties, strict=True):
            if row.strip():
                found[-1][0].append(word.strip())
                found[-1][1].append(row.split())
            elif found[-1][0]:
                found.append(([], []))
        return [f for f in found if f[0]]

    def _take(self, words: list[str], rows: list[list[str]]) -> None:
        """A sample for each verb of a sentence, whose roles stand in a column."""
        verbs, *roles = zip(*rows, strict=True)
        named = [v for v in verbs if v != "-"]
        for verb, column in zip(named, roles, strict=True):
            self.sentences.append(words)
            self.predicates.append(verb)
            self.labels.append(_tags(column))

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        words, labels = self.sentences[idx], self.labels[idx]
        at, n = labels.index("B-V"), len(words)
        around = {k: at + k for k in (-2, -1, 0, 1, 2)}
        context = [words[i] if 0 <= i < n else "bos" if k < 0 else "eos" for k, i in around.items()]
        ids = [self.word_dict.get(w, UNKNOWN) for w in context]
        verb = self.predicate_dict.get(self.predicates[idx], UNKNOWN)
        return (
            np.array([self.word_dict.get(w, UNKNOWN) for w in words]),
            *(np.full(n, i) for i in ids),
            np.full(n, verb),
            np.array([int(abs(i - at) <= 2) for i in range(n)]),
            np.array([self.label_dict[tag] for tag in labels]),
        )

    def __len__(self) -> int:
        return len(self.sentences)

    def get_dict(self) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
        """Return the dictionaries of words, predicates and labels."""
        return self.word_dict, self.predicate_dict, self.label_dict

    def get_embedding(self) -> str:
        """Return the path of the word vectors."""
        return self.emb_file


def _labels(path: Any) -> dict[str, int]:
    tags = sorted({line[2:] for line in by_line(path) if line.startswith(("B-", "I-"))})
    return {**{f"{p}-{tag}": 2 * i + k for i, tag in enumerate(tags) for k, p in enumerate("BI")}, "O": 2 * len(tags)}


def _tags(column: tuple[str, ...]) -> list[str]:
    """Brackets around roles, such as (A0*, * and *), as a tag for each word."""
    out, role, inside = [], "O", False
    for mark in column:
        if "(" in mark:
            role, inside = mark[1 : mark.find("*")], ")" not in mark
            out.append(f"B-{role}")
        elif mark in ("*", "*)"):
            out.append(f"I-{role}" if inside or mark == "*)" else "O")
            inside = inside and mark == "*"
        else:
            raise ValueError(f"Conll05st: a label is {mark!r}; expected brackets around *")
    return out
