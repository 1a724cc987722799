"""Generation of tokens by language models: greedy, sampling, beam search; all at once or as a stream."""

from ...core.argument_docs import document as _document
from .cache import KeyValueCache
from .config import GenerationConfig
from .generate import generate, stream

__all__ = ["GenerationConfig", "KeyValueCache", "generate", "stream"]

_document(globals())
