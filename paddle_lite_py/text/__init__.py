"""Text: data sets, and the decoding of tags."""

from ..core.argument_docs import document as _document
from .conll05 import Conll05st
from .datasets import Imdb, UCIHousing
from .imikolov import Imikolov
from .movielens import Movielens
from .viterbi import ViterbiDecoder, viterbi_decode
from .wmt import WMT14, WMT16

__all__ = [
    *("Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing", "ViterbiDecoder", "WMT14", "WMT16"),
    "viterbi_decode",
]

_document(globals())
