"""Text: data sets, the decoding of tags, and language models."""

from ..core.argument_docs import document as _document
from . import generation, models, training
from .conll05 import Conll05st
from .datasets import Imdb, UCIHousing
from .imikolov import Imikolov
from .movielens import Movielens
from .viterbi import ViterbiDecoder, viterbi_decode
from .wmt import WMT14, WMT16

__all__ = [
    *("Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing", "ViterbiDecoder", "WMT14", "WMT16"),
    *("generation", "models", "training", "viterbi_decode"),
]

_document(globals())
