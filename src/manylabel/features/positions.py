"""Where terms stand in a text: every occurrence of a term as positions in the original characters.

Terms are counted in a changed text: without markup and accents, in lower case. `Aligned` repeats these changes and
keeps for each character of the result the stretch of the original that it came from. `term_places` then finds the same
terms as `Vectorizer`, with the positions of the words, or runs of characters, that produced them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from manylabel.data.corpus import Text
from manylabel.data.documents import WHOLE
from manylabel.features.pipeline import FeaturePipeline
from manylabel.features.scripts import ANY_TAG, CHARACTER_REFERENCE, PATTERNS, hidden_spans, unescaped
from manylabel.features.terms import Analysis, stem
from manylabel.features.texts import without_accents
from manylabel.features.vectorize import Vectorizer
from manylabel.features.vocabulary import hashed_columns

Piece: TypeAlias = tuple[int, int, int]
"""A stretch of a document: the number of its field, the first character, and the character behind the last."""
Occurrence: TypeAlias = tuple[Piece, ...]
"""The pieces of one occurrence of a term: one for a word, several for a run of words."""
Places: TypeAlias = dict[int, list[Occurrence]]
"""The occurrences of each column of X."""

_WORDS, _LETTERS = re.compile(r"\b\w\w+\b"), {True: re.compile(r"[a-z]+"), False: re.compile(r"[A-Za-z]+")}
_BLANKS = re.compile(r"\s\s+")


@dataclass(frozen=True, slots=True)
class Aligned:
    """A changed text, and the stretch of the original that each of its characters came from."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def of(cls, text: str) -> Aligned:
        """A text that was not changed."""
        return cls(text, range(len(text)), range(1, len(text) + 1))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The stretch of the original behind the characters from `start` to before `end`."""
        return (self.starts[start], self.ends[end - 1]) if start < end else (0, 0)

    def replaced(self, places: Iterable[tuple[int, int]], by: Callable[[str], str]) -> Aligned:
        """The text in which each of some places, given by start and end, is replaced."""
        parts: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        behind = 0
        for start, end in places:
            new = by(self.text[start:end])
            parts += [self.text[behind:start], new]
            first, last = self.span(start, end)
            starts += [*self.starts[behind:start], *[first] * len(new)]
            ends += [*self.ends[behind:start], *[last] * len(new)]
            behind = end
        if not behind:
            return self
        parts.append(self.text[behind:])
        return Aligned("".join(parts), [*starts, *self.starts[behind:]], [*ends, *self.ends[behind:]])

    def changed(self, new: str, lengths: Sequence[int]) -> Aligned:
        """The text `new`, in which each character of this one has become as many as `lengths` tells."""
        if len(new) == len(self.text) and set(lengths) <= {1}:
            return Aligned(new, self.starts, self.ends)
        starts = [start for start, length in zip(self.starts, lengths, strict=True) for _ in range(length)]
        ends = [end for end, length in zip(self.ends, lengths, strict=True) for _ in range(length)]
        return Aligned(new, starts, ends)

    def without_markup(self) -> Aligned:
        """The text without HTML, as `manylabel.features.scripts.without_markup` removes it."""
        if "<" not in self.text and "&" not in self.text:
            return self
        shown = self.replaced(hidden_spans(self.text), lambda _: " ")
        shown = shown.replaced((match.span() for match in ANY_TAG.finditer(shown.text)), lambda _: " ")
        return shown.replaced((match.span() for match in CHARACTER_REFERENCE.finditer(shown.text)), unescaped)

    def lowered(self) -> Aligned:
        """The text in lower case, which may be longer: İ becomes two characters."""
        new = self.text.lower()
        return self.changed(new, [] if not self.text else [len(character.lower()) for character in self.text])

    def without_accents(self, how: str) -> Aligned:
        """The text without accents, see `without_accents`; a character may become none or several."""
        if self.text.isascii():
            return self
        plain = [without_accents(character, how) for character in self.text]
        return self.changed("".join(plain), [len(one) for one in plain])


def read_as(analysis: Analysis, text: str, strips_markup: bool = False) -> Aligned:
    """The text as it is split into tokens: without markup and accents, in lower case, where the settings ask for it."""
    aligned = Aligned.of(text)
    if strips_markup:
        aligned = aligned.without_markup()
    if analysis.lowercase:
        aligned = aligned.lowered()
    return aligned if analysis.strip_accents is None else aligned.without_accents(analysis.strip_accents)


def placed_tokens(analysis: Analysis, aligned: Aligned) -> list[tuple[str, int, int]]:
    """The tokens of a text in order, each with its stretch of the original.

    >>> placed_tokens(Analysis(), read_as(Analysis(), "The Bus, late"))
    [('the', 0, 3), ('bus', 4, 7), ('late', 9, 13)]
    """
    if analysis.tokens == "words":
        pattern = _WORDS
    elif analysis.tokens == "letters":
        # Without accents to strip, the kernel lowers the letters itself; otherwise they were lowered before.
        pattern = _LETTERS[analysis.lowercase and analysis.strip_accents is None]
    else:
        pattern = re.compile(PATTERNS.get(analysis.tokens, analysis.tokens))
    group = pattern.groups
    found = [(match.group(group) or "", match.span(group)) for match in pattern.finditer(aligned.text)]
    return [(token, *aligned.span(*span)) for token, span in found]


def _words(analysis: Analysis, aligned: Aligned) -> Iterable[tuple[str, tuple[tuple[int, int], ...]]]:
    """The terms of a text that are runs of words, with the stretch of each word."""
    tokens = [token for token in placed_tokens(analysis, aligned) if token[0] not in analysis.stop_words]
    names = [token for token, _, _ in tokens]
    stems = names if analysis.stemmer is None else stem(names, analysis.stemmer)
    spans = [(start, end) for _, start, end in tokens]
    low, high = analysis.ngram_range
    for n in range(low, high + 1):
        for first in range(len(stems) - n + 1):
            yield " ".join(stems[first : first + n]), tuple(spans[first : first + n])


def _characters(analysis: Analysis, aligned: Aligned) -> Iterable[tuple[str, tuple[tuple[int, int], ...]]]:
    """The terms of a text that are runs of characters; the blank added around a word has no place."""
    aligned = aligned.replaced((match.span() for match in _BLANKS.finditer(aligned.text)), lambda _: " ")
    text, (low, high) = aligned.text, analysis.ngram_range
    if analysis.analyzer == "char":
        for n in range(low, min(high, len(text)) + 1):
            for first in range(len(text) - n + 1):
                yield text[first : first + n], (aligned.span(first, first + n),)
        return
    for match in re.finditer(r"\S+", text):
        padded = f" {match.group()} "
        for n in range(low, high + 1):
            for first in range(max(len(padded) - n, 0) + 1):
                begin, behind = match.start() + first - 1, match.start() + first - 1 + min(n, len(padded))
                inside = aligned.span(max(begin, match.start()), min(behind, match.end()))
                yield padded[first : first + n], (inside,)
            if len(padded) <= n:
                break


def fields_of(document: Text) -> list[tuple[str | None, str]]:
    """The fields of a document with their texts; a document that is one string is one field without a name."""
    return [(None, document)] if isinstance(document, str) else list(document.items())


def _texts(document: Text, fields: Sequence[str] | None) -> list[tuple[str, str, int | None]]:
    """The texts that are counted: name, text, and the number of their field, None for all fields joined."""
    whole = document if isinstance(document, str) else "\n".join(document.values())
    if fields is None:
        return [(WHOLE, whole, None)]
    if isinstance(document, str):
        return [(fields[-1], document, 0)]
    number = {name: place for place, name in enumerate(document)}
    return [
        (name, whole, None) if name == WHOLE else (name, document.get(name, ""), number.get(name)) for name in fields
    ]


def _pieces(document: Text, field: int | None, spans: Iterable[tuple[int, int]]) -> Occurrence:
    """Stretches of a text as pieces of its document; one that crosses joined fields is divided."""
    if isinstance(document, Mapping) and field is None:
        pieces, begin = [], 0
        bounds = []
        for number, text in enumerate(document.values()):
            bounds.append((number, begin, begin + len(text)))
            begin += len(text) + 1
        for start, end in spans:
            pieces += [
                (number, max(start, low) - low, min(end, high) - low)
                for number, low, high in bounds
                if max(start, low) < min(end, high)
            ]
        return tuple(pieces)
    return tuple((field or 0, start, end) for start, end in spans if start < end)


def vectorizer_places(vectorizer: Vectorizer, document: Text) -> Places:
    """The occurrences of each column of a `Vectorizer` in one document."""
    analysis = vectorizer.analysis_
    split = _words if analysis.analyzer == "word" else _characters
    found: list[tuple[str, Occurrence]] = []
    for name, text, field in _texts(document, analysis.fields):
        prefix = "" if name == WHOLE or analysis.fields is None else f"{name}:"
        aligned = read_as(analysis, text, vectorizer.strips_markup_)
        found += [(prefix + term, _pieces(document, field, spans)) for term, spans in split(analysis, aligned)]
    names = list(dict.fromkeys(term for term, _ in found))
    if vectorizer.n_hashes is not None:
        columns = dict(zip(names, hashed_columns(names, vectorizer.n_hashes).tolist(), strict=True))
    else:
        columns = {name: vectorizer.vocabulary_.get(name, -1) for name in names}
    places: Places = {}
    for term, pieces in found:
        if columns[term] >= 0:
            places.setdefault(columns[term], []).append(pieces)
    return places


def term_places(pipeline: FeaturePipeline, document: Text) -> Places:
    """The occurrences of each column of X in one document, keyword rules included; empty without a vectoriser."""
    vectorizer, selector = pipeline.vectorizer_, pipeline.selector_
    if vectorizer is None:
        return {}
    places = vectorizer_places(vectorizer, document)
    width = vectorizer.n_features_out_
    if selector is not None:
        column_of = {old: new for new, old in enumerate(selector.kept_.tolist())}
        places = {column_of[old]: found for old, found in places.items() if old in column_of}
        width = len(column_of)
    if pipeline.views_ is not None:
        for first, view in zip(pipeline.views_.starts(width), pipeline.views_.vectorizers_, strict=True):
            places |= {first + column: found for column, found in vectorizer_places(view, document).items()}
    if pipeline.keywords_ is not None:
        analysis = pipeline.keywords_.analysis_
        _, text, field = _texts(document, None)[0]
        tokens = placed_tokens(analysis, read_as(analysis, text, vectorizer.strips_markup_))
        for rule, found in enumerate(pipeline.keywords_.places([token for token, _, _ in tokens])):
            runs = [tuple(span[1:] for span in tokens[first:behind]) for first, behind in found]
            if runs:
                places[width + rule] = [_pieces(document, field, spans) for spans in runs]
    return places
