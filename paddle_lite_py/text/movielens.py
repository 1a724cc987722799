"""Ratings of films."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.archives import check_zip
from ..io import Dataset
from .files import find, one_of

__all__ = ["Movielens"]

AGES = (1, 18, 25, 35, 45, 50, 56)


class Movielens(Dataset):
    """MovieLens 1M: user (id, gender, age, job), movie (id, categories, title words) and rating, scaled to [-3, 5].

    Arguments:
        data_file: path of the archive; None: download it.
        mode: "train" or "test". Default: 'train'.
        test_ratio: fraction of the ratings in the test set. Default: 0.1.
        rand_seed: seed of the split. Default: 0.
        download: download the archive if it is missing. Default: True.

    Raises:
        ValueError: if an argument or the archive does not fit.

    Examples:
        >>> import paddle_lite_py as paddle
        >>> issubclass(paddle.text.Movielens, paddle.io.Dataset)
        True

    Source: Harper and Konstan, The MovieLens Datasets, 2015.
    """

    _url, _md5 = "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip", "c4d9eecfca2ab87c1945afe126590906"

    def __init__(
        self,
        data_file: Any = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        self.mode = one_of("Movielens", "mode", mode, ("train", "test"))
        self.test_ratio, self.rand_seed = test_ratio, rand_seed
        self.data_file = find("Movielens", data_file, self._url, self._md5, download)
        users = {int(u): [[int(u)], [int(sex != "M")], [AGES.index(int(age))], [int(job)]]
                 for u, sex, age, job, _ in self._rows("users", 5)}  # fmt: skip
        films = self._films()
        draw = np.random.RandomState(rand_seed)
        test = self.mode == "test"
        self.data = [
            [*users[int(user)], *films[int(film)], [float(rating) * 2 - 5.0]]
            for user, film, rating, _ in self._rows("ratings", 4)
            if (draw.random_sample() < test_ratio) == test
        ]

    def _films(self) -> dict[int, list[list[int]]]:
        rows = [(int(film), title, kinds.split("|")) for film, title, kinds in self._rows("movies", 3)]
        titles = {film: re.sub(r"\(\d+\)$", "", title).lower().split() for film, title, _ in rows}
        self.movie_title_dict = {w: i for i, w in enumerate(sorted({w for t in titles.values() for w in t}))}
        self.categories_dict = {c: i for i, c in enumerate(sorted({c for _, _, kinds in rows for c in kinds}))}
        return {
            film: [[film], [self.categories_dict[c] for c in kinds], [self.movie_title_dict[w] for w in titles[film]]]
            for film, _, kinds in rows
        }

    def _rows(self, name: str, fields: int) -> Iterator[list[str]]:
        try:
            with zipfile.ZipFile(self.data_file) as archive, archive.open(f"ml-1m/{name}.dat") as file:
                check_zip(archive, self.data_file)
                for i, line in enumerate(file, 1):
                    row = line.decode("latin1").strip().split("::")
                    if len(row) != fields:
                        raise ValueError(
                            f"Movielens: line {i} of {name}.dat has {len(row)} fields; expected {fields}, parted by ::"
                        )
                    yield row
        except (zipfile.BadZipFile, KeyError) as e:
            raise ValueError(f"Movielens: {self.data_file} is no archive of MovieLens 1M: {e}") from e

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(part) for part in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)
