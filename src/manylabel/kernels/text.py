"""The kernels of text → counts, compiled where they can be had."""

from __future__ import annotations

from collections.abc import Callable

from manylabel.kernels import compiled_module
from manylabel.kernels import text_reference as reference
from manylabel.kernels.text_reference import Int32s, Int64s, Tokens

_tokens = compiled_module("tokens")
_characters = compiled_module("characters")
_counting = compiled_module("counting")

tokenize: Callable[[list[str], str, bool], Tokens] = getattr(_tokens, "tokenize", reference.tokenize)
character_ngrams: Callable[[list[str], int, int, bool], Tokens] = getattr(
    _characters, "character_ngrams", reference.character_ngrams
)
hash_terms: Callable[[list[str]], Int32s] = getattr(_characters, "hash_terms", reference.hash_terms)
count_terms: Callable[[Int32s, Int64s, Int32s, int], tuple[Int64s, Int32s, Int64s]] = getattr(
    _counting, "count_terms", reference.count_terms
)
intern_pairs: Callable[[Int32s, Int32s], tuple[Int32s, Int32s, Int32s]] = getattr(
    _counting, "intern_pairs", reference.intern_pairs
)
intern_tokens = reference.intern_tokens  # Python's own dictionary does the work already

COMPILED = None not in (_tokens, _characters, _counting)
