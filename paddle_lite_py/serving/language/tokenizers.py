"""Tokenizers: those of Hugging Face's libraries, and bytes."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any, Protocol

from ...core.extras import install_hint
from ..errors import ServingError


class Tokenizer(Protocol):
    """Text to tokens and back."""

    size: int  # number of tokens

    def encode(self, text: str) -> list[int]: ...  # noqa: D102
    def decode(self, tokens: list[int]) -> str: ...  # noqa: D102
    def chat(self, messages: list[dict[str, str]]) -> list[int]: ...  # noqa: D102


class ByteTokenizer:
    """Each byte of UTF-8 is a token; for models without a tokenizer.

    Examples:
        >>> ByteTokenizer().encode("hé")
        [104, 195, 169]
        >>> ByteTokenizer().decode([104, 195, 169])
        'hé'
    """

    size = 256

    def encode(self, text: str) -> list[int]:
        """Return the bytes of a text."""
        return list(text.encode())

    def decode(self, tokens: list[int]) -> str:
        """Return the text of bytes; what is not UTF-8 becomes U+FFFD."""
        return bytes(t for t in tokens if t < 256).decode("utf-8", "replace")

    def chat(self, messages: list[dict[str, str]]) -> list[int]:
        """Return a conversation as lines `role: content`, followed by the beginning of the answer."""
        lines = [f"{m['role']}: {m['content']}\n" for m in messages]
        return self.encode("".join(lines) + "assistant:")


class LibraryTokenizer:
    """A tokenizer of transformers, with its chat template.

    Arguments:
        folder: has the tokenizer's files.

    Raises:
        ServingError: if the files cannot be read.
    """

    def __init__(self, folder: str | Path) -> None:
        try:
            transformers = importlib.import_module("transformers")
        except ImportError:
            raise ServingError(
                "unavailable", f"{folder} has a tokenizer, for which transformers is needed: {install_hint('language')}"
            ) from None
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        except (OSError, ValueError, KeyError, TypeError) as e:
            raise ServingError("unavailable", f"the tokenizer in {folder} cannot be read: {e}") from e
        self.size = len(self._tokenizer)

    def encode(self, text: str) -> list[int]:
        """Return the tokens of a text, with the start token if the model has one."""
        return list(self._tokenizer.encode(text))

    def decode(self, tokens: list[int]) -> str:
        """Return the text of tokens, without special ones."""
        return str(self._tokenizer.decode(tokens, skip_special_tokens=True))

    def chat(self, messages: list[dict[str, str]]) -> list[int]:
        """Return a conversation as the chat template formats it.

        Raises:
            ServingError: There is no template, or it does not accept the roles.
        """
        if not self._tokenizer.chat_template:
            raise ServingError("invalid", "the model has no chat template; use /v1/completions")
        try:
            text = self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        except Exception as e:  # a template may raise its own errors
            raise ServingError("invalid", f"messages: the chat template does not accept them: {e}") from e
        return list(self._tokenizer.encode(text, add_special_tokens=False))


def read_tokenizer(folder: Path, vocab_size: int) -> Tokenizer:
    """Return the tokenizer in a folder, or bytes if it has none.

    Raises:
        ServingError: The tokenizer has more tokens than the model, or there is none and the model has fewer than 256.
    """
    has_files = any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model", "vocab.json"))
    found: Tokenizer = LibraryTokenizer(folder) if has_files else ByteTokenizer()
    if found.size > vocab_size:
        what = "its tokenizer" if has_files else "there is no tokenizer, and the one of bytes"
        raise ServingError("unavailable", f"{folder}: {what} has {found.size} tokens, and the model {vocab_size}")
    return found


class TextStream:
    """The text of tokens that arrive one after the other: only whole characters, and nothing after a stop string.

    Arguments:
        tokenizer: of the model.
        stops: strings that end the text.

    Examples:
        >>> stream = TextStream(ByteTokenizer(), ["end"])
        >>> [stream.push(token) for token in "aéen".encode()], stream.finish()
        (['a', '', 'é', '', ''], 'en')
    """

    def __init__(self, tokenizer: Tokenizer, stops: list[str]) -> None:
        self._tokenizer, self._stops = tokenizer, stops
        self._tokens: list[int] = []
        self._start = self._read = 0  # tokens from _start to _read are decoded again, for the spaces around them
        self._pending = ""  # may be the beginning of a stop string
        self.is_stopped = False

    def push(self, token: int) -> str:
        """Add a token, and return the text that is certain by now."""
        if self.is_stopped:
            return ""
        self._tokens.append(token)
        new = self._decoded()
        if new.endswith("\ufffd"):  # a part of a character, perhaps
            return ""
        self._start, self._read = self._read, len(self._tokens)
        return self._checked(new)

    def _decoded(self) -> str:
        before = self._tokenizer.decode(self._tokens[self._start : self._read])
        return self._tokenizer.decode(self._tokens[self._start :])[len(before) :]

    def _checked(self, new: str) -> str:
        text, self._pending = self._pending + new, ""
        places = [at for stop in self._stops if (at := text.find(stop)) >= 0]
        if places:
            self.is_stopped = True
            return text[: min(places)]
        longest = max(map(len, self._stops), default=1) - 1
        for n in range(min(longest, len(text)), 0, -1):
            if any(stop.startswith(text[-n:]) for stop in self._stops):
                self._pending = text[-n:]
                return text[:-n]
        return text

    def finish(self) -> str:
        """Return the rest of the text."""
        if self.is_stopped:
            return ""
        new = self._decoded() if self._read < len(self._tokens) else ""
        rest = self._checked(new)
        return rest if self.is_stopped else rest + self._pending
