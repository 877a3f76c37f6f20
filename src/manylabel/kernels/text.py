"""The kernels that turn texts into counts, compiled if available."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from manylabel.kernels import compiled_module
from manylabel.kernels import text_reference as reference
from manylabel.kernels.text_reference import Int32s, Int64s, Tokens, Words

_tokens: Any = compiled_module("tokens") or reference
_characters: Any = compiled_module("characters") or reference
_words: Any = compiled_module("words") or reference
_counting: Any = compiled_module("counting") or reference

tokenize: Callable[[list[str], str, bool], Tokens] = _tokens.tokenize
WordCounter: type[reference.WordCounter] = _tokens.WordCounter
character_ngrams: Callable[[list[str], int, int, bool], Tokens] = _characters.character_ngrams
hash_terms: Callable[[list[str]], Int32s] = _characters.hash_terms
count_terms: Callable[[Int32s, Int64s, Int32s, int], tuple[Int64s, Int32s, Int64s]] = _counting.count_terms
column_totals: Callable[[Int32s, Int64s, int], tuple[Int64s, Int64s]] = _counting.column_totals
intern_pairs: Callable[[Int32s, Int32s], tuple[Int32s, Int32s, Int32s]] = _counting.intern_pairs
intern_tokens = reference.intern_tokens  # Python's own dictionary does the work already


def merge_words(vocabularies: list[Words]) -> tuple[list[str], list[Int32s]]:
    """The distinct words of several lists in alphabetical order, and the place in it of each list's words."""
    if _words is reference or any(isinstance(words, list) for words in vocabularies):
        return reference.merge_words(vocabularies)
    found: tuple[list[str], list[Int32s]] = _words.merge_words(vocabularies)
    return found


def spelled(vocabulary: Words) -> list[str]:
    """The words as strings."""
    if _words is reference or isinstance(vocabulary, list):
        return reference.spelled(vocabulary)
    words: list[str] = _words.spelled(vocabulary)
    return words


COMPILED = reference not in (_tokens, _characters, _words, _counting)
