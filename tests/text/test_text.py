"""Tags and data sets of text."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import numpy as np

import paddle_lite_py as paddle


def test_the_best_path_is_the_best_of_all():
    rng = np.random.default_rng(0)
    scores, move = rng.normal(size=(1, 3, 3)).astype("float32"), rng.normal(size=(3, 3)).astype("float32")
    paths = np.indices((3, 3, 3)).reshape(3, -1).T
    worth = [scores[0, range(3), p].sum() + move[p[:-1], p[1:]].sum() for p in paths]
    best, path = paddle.text.viterbi_decode(*map(paddle.to_tensor, (scores, move)), paddle.to_tensor([3]), False)
    assert path.numpy()[0].tolist() == paths[int(np.argmax(worth))].tolist()
    np.testing.assert_allclose(best.numpy()[0], max(worth), rtol=1e-5)


def test_text_data_sets(tmp_path: Path):
    table = np.random.default_rng(0).normal(size=(10, 14))
    (tmp_path / "housing").write_text("\n".join(" ".join(map(str, row)) for row in table))
    assert len(paddle.text.UCIHousing(tmp_path / "housing")) == 8
    features, price = paddle.text.UCIHousing(tmp_path / "housing", "test")[1]
    assert features.shape == (13,) and price[0] == np.float32(table[9, 13])
    with tarfile.open(tmp_path / "imdb.tar.gz", "w:gz") as tar:
        for name, text in (("train/pos/0", "good, good film"), ("train/neg/0", "bad film"), ("test/pos/0", "good")):
            info = tarfile.TarInfo(f"aclImdb/{name}.txt")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
    data = paddle.text.Imdb(tmp_path / "imdb.tar.gz", cutoff=1)
    assert data.word_idx == {"good": 0, "film": 1, "<unk>": 2}
    assert [(d.tolist(), int(label[0])) for d, label in data] == [([0, 0, 1], 0), ([2, 1], 1)]
