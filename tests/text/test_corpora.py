"""Data sets of text in the formats of the published files."""

from __future__ import annotations

import functools
import hashlib
import http.server
import json
import threading
from pathlib import Path

import pytest

import corpora
import house
import paddle_lite_py as paddle
from paddle_lite_py import text

GOLDEN = house.ROOT / "tests" / "golden"


def test_the_samples_are_those_of_the_reference(tmp_path):
    import runpy

    figures = runpy.run_path(str(GOLDEN / "text_corpora.py"))["figures"]
    found = json.loads(json.dumps(figures(text, tmp_path)))
    assert found == json.loads((GOLDEN / "text_corpora.json").read_text())


def test_both_languages_have_their_own_words(tmp_path):
    data = text.WMT16(corpora.wmt16(tmp_path), "train", 9, 9, "en")
    assert [data[0][i].tolist() for i in (1, 2)] == [[0, 3, 4, 5], [3, 4, 5, 1]]  # <s> ein Mann rennt, and <e>
    assert data.get_dict("de", reverse=True)[4] == "Mann"


def test_ids_do_not_depend_on_the_process(tmp_path):
    films = text.Movielens(corpora.movielens(tmp_path), "train", 0.0)
    assert films.categories_dict == {"Action": 0, "Animation": 1, "Comedy": 2, "Drama": 3}
    assert films.movie_title_dict["heat"] == 0 and len(films) == 24


@pytest.mark.parametrize(
    ("make", "part"),
    [
        (lambda f: text.Imikolov(f, "NGRAM"), "window_size is -1"),
        (lambda f: text.Imikolov(f, "WORDS", 2), "data_type is 'WORDS'; expected one of 'NGRAM', 'SEQ'"),
        (lambda f: text.Imikolov(f, "SEQ", mode="dev"), "mode is 'dev'"),
        (lambda f: text.Imikolov(f, "SEQ"), "is no whole archive"),
        (lambda f: text.Movielens(f), "no archive of MovieLens"),
        (lambda f: text.WMT14(f, "train"), "dict_size is -1"),
        (lambda f: text.WMT16(f, "train", 5, 0), "trg_dict_size is 0"),
        (lambda f: text.WMT16(f, "train", 5, 5, "fr"), "lang is 'fr'"),
        (lambda f: text.WMT16(download=False, src_dict_size=5, trg_dict_size=5), "give data_file, or download=True"),
        (lambda f: text.Conll05st(f, f, f, f, f), "is no text"),
    ],
)
def test_what_does_not_fit_is_told(tmp_path, make, part):
    damaged = tmp_path / "damaged.tgz"
    damaged.write_bytes(corpora.imikolov(tmp_path).read_bytes()[:200])
    with pytest.raises(ValueError, match=part):
        make(str(damaged))


def test_an_archive_without_the_file_is_told(tmp_path):
    with pytest.raises(ValueError, match="holds no wmt16/train"):
        text.WMT16(corpora.imikolov(tmp_path), "train", 5, 5)
    with pytest.raises(ValueError, match="line 1 of users.dat has 1 fields; expected 5"):
        broken = corpora.movielens(tmp_path)
        with corpora.zipfile.ZipFile(broken, "w") as made:
            made.writestr("ml-1m/users.dat", "1,F,1\n")
        text.Movielens(broken)


def test_the_published_file_is_fetched_and_checked(tmp_path, monkeypatch):
    (tmp_path / "served").mkdir()
    file = corpora.wmt16(tmp_path / "served")
    serve = functools.partial(Silent, directory=str(tmp_path / "served"))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serve) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(text.WMT16, "_url", f"http://127.0.0.1:{server.server_port}/{file.name}")
        monkeypatch.setattr(text.WMT16, "_md5", hashlib.md5(file.read_bytes()).hexdigest())
        monkeypatch.setattr("paddle_lite_py.text.files._HOME", tmp_path / "home")
        data = text.WMT16(mode="train", src_dict_size=9, trg_dict_size=9)
        server.shutdown()
    assert len(data) == 3 and Path(data.data_file).parent == tmp_path / "home"
    again = text.WMT16(mode="test", src_dict_size=9, trg_dict_size=9)  # from the file that is there
    assert isinstance(again, paddle.io.Dataset) and len(again) == 1


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Say nothing."""
