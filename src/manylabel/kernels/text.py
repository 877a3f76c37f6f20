"""The kernels that turn texts into counts, compiled if available."""

from __future__ import annotations

from collections.abc import Callable

from manylabel.kernels import compiled_module
from manylabel.kernels import text_reference as reference
from manylabel.kernels.text_reference import Int32s, Int64s, Tokens, Words

_tokens = compiled_module("tokens")
_characters = compiled_module("characters")
_words = compiled_module("words")
_counting = compiled_module("counting")

tokenize: Callable[[list[str], str, bool], Tokens] = getattr(_tokens, "tokenize", reference.tokenize)
WordCounter: type[reference.WordCounter] = getattr(_tokens, "WordCounter", reference.WordCounter)
character_ngrams: Callable[[list[str], int, int, bool], Tokens] = getattr(
    _characters, "character_ngrams", reference.character_ngrams
)
hash_terms: Callable[[list[str]], Int32s] = getattr(_characters, "hash_terms", reference.hash_terms)
count_terms: Callable[[Int32s, Int64s, Int32s, int], tuple[Int64s, Int32s, Int64s]] = getattr(
    _counting, "count_terms", reference.count_terms
)
column_totals: Callable[[Int32s, Int64s, int], tuple[Int64s, Int64s]] = getattr(
    _counting, "column_totals", reference.column_totals
)
intern_pairs: Callable[[Int32s, Int32s], tuple[Int32s, Int32s, Int32s]] = getattr(
    _counting, "intern_pairs", reference.intern_pairs
)
intern_tokens = reference.intern_tokens  # Python's own dictionary does the work already


def merge_words(vocabularies: list[Words]) -> tuple[list[str], list[Int32s]]:
    """The distinct words of several lists in alphabetical order, and the place in it of each list's words."""
    if _words is None or any(isinstance(words, list) for words in vocabularies):
        return reference.merge_words(vocabularies)
    found: tuple[list[str], list[Int32s]] = _words.merge_words(vocabularies)
    return found


def spelled(vocabulary: Words) -> list[str]:
    """The words as strings."""
    if _words is None or isinstance(vocabulary, list):
        return reference.spelled(vocabulary)
    words: list[str] = _words.spelled(vocabulary)
    return words


COMPILED = None not in (_tokens, _characters, _words, _counting)
