"""Small archives in the formats of the published data sets of text."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from pathlib import Path

PTB = "the cat sat on the <unk> mat\nthe dog ran\nthe cat ran on\n"
FILMS = "1::Toy Story (1995)::Animation|Comedy\n2::Heat (1995)::Action\n10::La Vie, the (2001)::Comedy|Drama\n"
USERS = "1::F::1::10::48067\n2::M::56::16::70072\n"
RATINGS = "".join(f"{u}::{m}::{1 + (u * m) % 5}::97830{u}{m}\n" for u in (1, 2) for m in (1, 2, 10) for _ in range(4))
WORDS = "He\neats\nfresh\nbread\n.\n\nRain\nfell\n\n"
PROPS = "-\t(A0*)\t*\neat\t(V*)\t*\n-\t(A1*\t*\nbake\t*)\t(V*)\n-\t*\t*\n\n-\t(A1*)\nfall\t(V*)\n\n"
ENGLISH_GERMAN = "a man runs\tein Mann rennt\na dog sleeps\tein Hund\nnot a pair\na man sleeps\tein Mann\n"


def archive(path: Path, files: dict[str, bytes]) -> Path:
    """A tar archive of files, packed but where its name ends with .tar."""
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as tar:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def imikolov(folder: Path) -> Path:
    """ptb.train.txt and its like."""
    parts = {"train": PTB, "valid": "the mat\n", "test": "a cat sat\nthe dog\n"}
    return archive(folder / "ptb.tgz", {f"./simple-examples/data/ptb.{k}.txt": v.encode() for k, v in parts.items()})


def movielens(folder: Path) -> Path:
    """Films, users and ratings."""
    with zipfile.ZipFile(folder / "ml-1m.zip", "w") as made:
        for name, text in (("movies", FILMS), ("users", USERS), ("ratings", RATINGS)):
            made.writestr(f"ml-1m/{name}.dat", text.encode("latin1"))
    return folder / "ml-1m.zip"


def conll05(folder: Path) -> dict[str, str]:
    """The archive of the test set, and the dictionaries."""
    files = {f"conll05st-release/test.wsj/{k}/test.wsj.{k}.gz": gzip.compress(v.encode()) for k, v in
             (("words", WORDS), ("props", PROPS))}  # fmt: skip
    texts = {"word_dict_file": "<unk>\nHe\neats\nbread\nbos\neos\nfell\n", "verb_dict_file": "eat\nfall\nbake\n",
             "target_dict_file": "B-A0\nI-A0\nB-A1\nI-A1\nB-V\nI-V\nO\n", "emb_file": "vectors"}  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text)
    return {"data_file": str(archive(folder / "conll.tgz", files)), **{name: str(folder / name) for name in texts}}


def wmt14(folder: Path) -> Path:
    """Dictionaries and sentences."""
    words = {"src": "<s>\n<e>\n<unk>\na\nman\nruns\ndog\n", "trg": "<s>\n<e>\n<unk>\nun\nhomme\ncourt\n"}
    long = "a " * 90 + "\tun\n"
    text = {"train": f"a man runs\tun homme court\na dog\tun chien\nalone\n{long}", "test": "a man\tun homme\n"}
    files = {f"wmt14/{k}.dict": v for k, v in words.items()} | {f"wmt14/{k}/{k}": v for k, v in text.items()}
    return archive(folder / "wmt14.tgz", {k: v.encode() for k, v in files.items()})


def wmt16(folder: Path) -> Path:
    """Sentences."""
    files = {f"wmt16/{k}": ENGLISH_GERMAN.encode() for k in ("train", "val")}
    return archive(folder / "wmt16.tgz", {**files, "wmt16/test": b"a cat runs\teine Katze rennt\n"})
