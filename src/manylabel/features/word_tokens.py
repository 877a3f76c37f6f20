"""The tokens of texts, looked up word by word (`WordTokens`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TokenNumbers: TypeAlias = Sequence[int]
BLANK = "▁"
"""What stands for a space in tokens of the SentencePiece kind."""
BY_WORDS = ("BertPreTokenizer", "Whitespace", "WhitespaceSplit")
"""Pre-tokenizers that divide a text at every space and newline."""
KEEPS_SPACES = (None, "BertNormalizer", "Lowercase")
"""Normalizers that change characters one by one and leave spaces and newlines where they are."""
MOST_WORDS = 1 << 18
"""How many words are remembered, with the spaces before them."""
LONGEST_WORD = 64
"""How many characters a remembered word has at most."""


class WordTokens:
    """The tokens of texts by a tokenizer; those of a word are found once and remembered.

    The tokenizer takes 0.1 ms for a text of 80 words; looking up its words takes a fifth of that. `settings` is the
    content of ``tokenizer.json``. It shows whether tokens never cross a space or newline, so that the tokens of a
    text are those of its words in turn. Texts go through the tokenizer as a whole where that cannot be shown, and where
    they contain a token that was added to the vocabulary, such as ``</s>``.
    """

    def __init__(self, tokenizer: Tokenizer, settings: Mapping[str, Any], max_length: int | None) -> None:
        self.tokenizer, self.max_length = tokenizer, max_length
        self._known: dict[str, tuple[int, ...]] = {}
        added = settings.get("added_tokens") or []
        self._joined = _joins_words_by_blanks(settings)
        self._divides = self._joined or _reads_word_by_word(settings)
        self._divides = self._divides and not any(one.get("normalized") for one in added)
        apart = [one["content"] for one in added] + [BLANK] * self._joined
        self._apart = re.compile("|".join(map(re.escape, apart)) or "(?!)")
        self._words = re.compile(r" +[^ \n]*|\n[^ \n]*" if self._joined else r"[^ \n]+")
        self._model = tokenizer.model

    def of(self, texts: Sequence[str]) -> list[TokenNumbers]:
        """The numbers of the tokens of each text, without tokens that mark its beginning or end.

        Halves of surrogate pairs, which no tokenizer reads, become "?".
        """
        texts = [text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        if not self._divides:
            return self._whole(texts)
        numbers = [self._by_words(text) for text in texts]
        if apart := [row for row, text in enumerate(texts) if self._apart.search(text)]:
            for row, own in zip(apart, self._whole([texts[row] for row in apart]), strict=True):
                numbers[row] = own
        return numbers

    def _whole(self, texts: Sequence[str]) -> list[TokenNumbers]:
        return [read.ids for read in self.tokenizer.encode_batch_fast(list(texts), add_special_tokens=False)]

    def _by_words(self, text: str) -> TokenNumbers:
        # Where words are joined by blanks, each begins with its spaces, and a text with one.
        words = self._words.findall(f" {text}" if self._joined and text else text)
        found = list(map(self._known.get, words))
        if None in found:
            found = [self._known.get(word) or self._learned(word) for word in words]
        return list(chain.from_iterable(found))[: self.max_length]  # type: ignore[arg-type]

    def _learned(self, word: str) -> tuple[int, ...]:
        """The tokens of a word that was not met before."""
        if self._joined:
            found = tuple(token.id for token in self._model.tokenize(word.replace(" ", BLANK)))
        else:
            found = tuple(self.tokenizer.encode(word, add_special_tokens=False).ids)
        if (
            len(word) <= LONGEST_WORD and len(self._known) < MOST_WORDS
        ):  # entries are never removed, so threads can share them
            self._known[word] = found
        return found


def _reads_word_by_word(settings: Mapping[str, Any]) -> bool:
    """Whether a tokenizer divides texts at spaces before it looks for tokens."""
    splitter, normalizer = settings.get("pre_tokenizer") or {}, settings.get("normalizer") or {}
    model = settings["model"].get("type")
    by_words = splitter.get("type") in BY_WORDS and normalizer.get("type") in KEEPS_SPACES
    return by_words and model in ("WordPiece", "WordLevel")


def _joins_words_by_blanks(settings: Mapping[str, Any]) -> bool:
    """Whether a tokenizer merges characters over a whole text in which ▁ stands for spaces, yet never across one.

    Merges depend on nothing but the merged characters. So words can be read apart if no token has a blank behind
    another character and none has a newline beside another.
    """
    model = settings["model"]
    if settings.get("pre_tokenizer") or model.get("type") != "BPE" or not model.get("byte_fallback"):
        return False
    if any(model.get(one) for one in ("dropout", "ignore_merges", "continuing_subword_prefix", "end_of_word_suffix")):
        return False
    blanks = [{"type": "Prepend", "prepend": BLANK}, {"type": "Replace", "pattern": {"String": " "}, "content": BLANK}]
    normalizer = settings.get("normalizer") or {}
    if normalizer.get("type") != "Sequence" or normalizer.get("normalizers") != blanks:
        return False
    tokens = model["vocab"]
    crosses = any(BLANK in token.lstrip(BLANK) or ("\n" in token and len(token) > 1) for token in tokens)
    return not crosses and BLANK in tokens and "<0x0A>" in tokens
