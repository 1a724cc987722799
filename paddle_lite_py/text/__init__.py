"""Text: data sets, and the decoding of tags."""

from .datasets import Imdb, UCIHousing
from .viterbi import ViterbiDecoder, viterbi_decode

__all__ = ["Imdb", "UCIHousing", "ViterbiDecoder", "viterbi_decode"]
