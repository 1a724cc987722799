"""What the data sets of text give for small archives, by either framework.

usage: python tests/golden/text_corpora.py        by PaddlePaddle: writes text_corpora.json anew
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "helpers"))


def rows(data: Any) -> list[Any]:
    """All samples."""
    return [[part.tolist() for part in data[i]] for i in range(len(data))]


def figures(text: Any, folder: Path) -> dict[str, Any]:
    """What the data sets give; where ids depend on the order of a set, how many there are."""
    import corpora

    found: dict[str, Any] = {}
    file = str(corpora.imikolov(folder))
    found["windows"] = rows(text.Imikolov(file, "NGRAM", 3, "train", 0))
    found["sentences"] = [rows(text.Imikolov(file, "SEQ", *rest)) for rest in ((5, "test", 1), (-1, "train", 0))]
    file = str(corpora.movielens(folder))
    for mode in ("train", "test"):
        data = rows(text.Movielens(file, mode, 0.3, 4))
        found[f"ratings to {mode}"] = [[*r[:5], len(r[5]), len(r[6]), r[7]] for r in data]
    roles = text.Conll05st(**corpora.conll05(folder))
    tags = {i: tag for tag, i in roles.label_dict.items()}
    found["roles"] = [[*r[:-1], [tags[i] for i in r[-1]]] for r in rows(roles)]
    found["vectors"] = Path(roles.get_embedding()).read_text()
    file = str(corpora.wmt14(folder))
    found["French"] = [rows(text.WMT14(file, *rest)) for rest in (("train", 6), ("test", 30))]
    found["French words"] = [{str(k): v for k, v in d.items()} for d in text.WMT14(file, "train", 6).get_dict(True)]
    file = str(corpora.wmt16(folder))
    found["English"] = [r[0] for r in rows(text.WMT16(file, "train", 7, 7, "en"))]
    found["English words"] = text.WMT16(file, "train", 7, 7, "en").get_dict("en")
    found["German"] = [r[0] for r in rows(text.WMT16(file, "test", 9, 9, "de"))]
    return found


if __name__ == "__main__":
    os.environ["HOME"] = tempfile.mkdtemp()  # where dictionaries are kept
    import paddle

    os.makedirs(os.path.join(paddle.dataset.common.DATA_HOME, "wmt16"), exist_ok=True)
    made = figures(paddle.text, Path(tempfile.mkdtemp()))
    (HERE / "text_corpora.json").write_text(json.dumps(made, indent=None, separators=(",", ":")) + "\n")
