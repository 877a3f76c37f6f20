"""From texts to numbered terms: tokens, stop words, stems, n-grams and fields.

Words become numbers once, in the kernel; everything after that works on the list of distinct words (stop
words, stems, names) or on arrays of numbers (n-grams, fields, counts).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr
from manylabel.features.texts import WHOLE, without_accents
from manylabel.kernels import text as kernels
from manylabel.kernels.text_reference import Tokens
from manylabel.progress import track

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

PIECE = 1 << 25  # characters a kernel reads at a stretch; between pieces the user may interrupt
SPLIT = 1 << 18  # below this many characters a second thread costs more than it brings


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of documents: token numbers, where each document begins, the term (or -1) of a number.

    Without `term_of`, tokens are numbered as terms are.
    """

    ids: Int32s
    indptr: Int64s
    term_of: Int32s | None = None

    def renumbered(self, new: Int32s) -> Part:
        """The same documents where term t has become ``new[t]``; -1 leaves a term out."""
        return Part(self.ids, self.indptr, self.columns(new))

    def columns(self, columns: Int32s) -> Int32s:
        """What each token number stands for when term t stands for ``columns[t]``."""
        if self.term_of is None:
            return columns
        return np.append(columns, np.int32(-1))[self.term_of]  # term -1 reads the appended -1

    @property
    def terms(self) -> Int32s:
        """The term of each token."""
        return self.ids if self.term_of is None else self.term_of[self.ids]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a list of documents: parts that follow one another, over one list of distinct names."""

    parts: list[Part]
    names: list[str]
    n_threads: int = 1
    is_sorted: bool = False
    """Whether the names are known to be in alphabetical order."""

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return sum(len(part.indptr) - 1 for part in self.parts)

    def counts(self, columns: Int32s, n_columns: int) -> Csr:
        """Documents × columns, how often each term occurs; ``columns[term]`` is -1 for one to leave out."""
        pieces = _in_threads(partial(_count, columns, n_columns), self.parts, self.n_threads, "Counting terms")
        if len(pieces) == 1:
            data, indices, indptr = pieces[0]
        else:
            starts = list(accumulate((len(piece[0]) for piece in pieces), initial=0))
            data = np.concatenate([piece[0] for piece in pieces])
            indices = np.concatenate([piece[1] for piece in pieces])
            indptr = np.concatenate(
                [np.zeros(1, np.int64)] + [piece[2][1:] + start for piece, start in zip(pieces, starts)]
            )
        if len(data) <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        else:
            indices = indices.astype(np.int64)
        X = Csr((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
        X.has_canonical_format = True  # also says sorted; spares SciPy the check
        return X


@dataclass(frozen=True, slots=True)
class Analysis:
    """How texts become terms: what `Vectorizer` was asked for, resolved."""

    tokens: str = "words"
    lowercase: bool = True
    strip_accents: str | None = None
    analyzer: str = "word"
    ngram_range: tuple[int, int] = (1, 1)
    stop_words: frozenset[str] = frozenset()
    stemmer: str | None = None
    fields: tuple[str, ...] | None = None

    def terms(self, texts: list[str], n_threads: int = 1) -> Terms:
        """The terms of the texts; with fields, the texts of one document follow one another."""
        groups = _stretches(texts, n_threads)
        n_threads = min(n_threads, len(groups))
        parts, names = _merge(_in_threads(self._split, groups, n_threads, "Reading texts"))
        if self.analyzer == "word":
            parts, names = self._stop_and_stem(parts, names)
            if self.ngram_range != (1, 1):
                parts, names = _word_ngrams(parts, names, *self.ngram_range)
        if self.fields:
            parts, names = _by_field(parts, names, self.fields)
        if self._names_may_repeat:
            parts, names = _distinct(parts, names)
        return Terms(parts, names, n_threads, self._keeps_order)

    @property
    def _keeps_order(self) -> bool:
        """Whether terms are the tokens themselves, which come in alphabetical order."""
        return not self.fields and (self.analyzer != "word" or (self.stemmer is None and self.ngram_range == (1, 1)))

    @property
    def _names_may_repeat(self) -> bool:
        """Whether two terms may share a name: token "a b" and tokens "a", "b"; "y:z" in "x" and "z" in "x:y"."""
        own_pattern = self.analyzer == "word" and self.tokens not in ("words", "letters")
        signs_beside_words = self.analyzer != "word" and WHOLE in (self.fields or ())
        return own_pattern or signs_beside_words or any(":" in name for name in self.fields or ())

    def _split(self, texts: list[str]) -> Tokens:
        lowercase = self.lowercase
        if self.strip_accents is not None:
            how, lowercase = self.strip_accents, False
            lowered = [text.lower() for text in texts] if self.lowercase else texts
            texts = [without_accents(text, how) for text in lowered]
        if self.analyzer != "word":
            lowered = [text.lower() for text in texts] if lowercase else texts
            return kernels.character_ngrams(lowered, *self.ngram_range, self.analyzer == "char_wb")
        if self.tokens in ("words", "letters"):
            return kernels.tokenize(texts, self.tokens, lowercase)
        find = re.compile(self.tokens).findall
        if lowercase:
            return kernels.intern_tokens(find(text.lower()) for text in texts)
        return kernels.intern_tokens(find(text) for text in texts)

    def _stop_and_stem(self, parts: list[Part], names: list[str]) -> tuple[list[Part], list[str]]:
        """Drop stop words, stem the list of distinct words, and merge the words that became one."""
        if not self.stop_words and self.stemmer is None:
            return parts, names
        stems = names if self.stemmer is None else stem(names, self.stemmer)
        index: dict[str, int] = {}
        new = np.array(
            [
                -1 if word in self.stop_words else index.setdefault(stemmed, len(index))
                for word, stemmed in zip(names, stems)
            ],
            dtype=np.int32,
        )
        return [part.renumbered(new) for part in parts], list(index)


@lru_cache(maxsize=8)
def _snowball(language: str) -> Any:
    import Stemmer

    return Stemmer.Stemmer(language)


def stemmer_languages() -> list[str]:
    """The languages Snowball has a stemmer for; "porter" is Porter's of 1980."""
    import Stemmer

    return list(Stemmer.algorithms())


def stem(words: list[str], language: str) -> list[str]:
    """The Snowball stem of each word; Porter 1980, 2001.

    >>> stem(["grains", "exported", "exporting"], "english")
    ['grain', 'export', 'export']
    """
    clean = [word if word.isascii() else word.encode("utf-8", "replace").decode("utf-8") for word in words]
    stems: list[str] = _snowball(language).stemWords(clean)
    return [stemmed if word == sent else word for word, sent, stemmed in zip(words, clean, stems)]


def _stretches(texts: list[str], n_threads: int) -> list[list[str]]:
    """Cut the texts into stretches of about equally many characters.

    There are as many stretches as threads, or more where a stretch would become too long to wait for.
    """
    n_characters = sum(map(len, texts))
    n_stretches = max(1, min(n_threads, n_characters // SPLIT))
    n_stretches *= -(-n_characters // (n_stretches * PIECE)) or 1
    if n_stretches == 1:
        return [texts]
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    cuts = np.searchsorted(ends, np.arange(1, n_stretches) * (n_characters / n_stretches))
    bounds = sorted({0, *cuts.tolist(), len(texts)})
    return [texts[start:end] for start, end in pairwise(bounds)]


def _in_threads(work: Callable[[Any], Any], items: Sequence[Any], n_threads: int, what: str) -> list[Any]:
    """The results of `work` on each item, in order; `what` names the stage to who watches the progress."""
    if len(items) == 1:
        return [work(items[0])]
    if n_threads < 2:
        return [work(item) for item in track(what, items)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(track(what, pool.map(work, items), len(items)))


def _merge(stretches: Sequence[Tokens]) -> tuple[list[Part], list[str]]:
    """Number the words of all stretches together, in alphabetical order."""
    names, places = kernels.merge_words([words for _, _, words in stretches])
    return [Part(ids, indptr, place) for (ids, indptr, _), place in zip(stretches, places)], names


def _joined(parts: list[Part]) -> tuple[Int32s, Int64s]:
    """The term numbers of all parts in one array, without those left out, and where each document begins."""
    terms = np.concatenate([part.terms for part in parts])
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    kept = terms >= 0
    if kept.all():
        return terms, indptr
    before = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    return terms[kept], before[indptr]


def _word_ngrams(parts: list[Part], words: list[str], n_min: int, n_max: int) -> tuple[list[Part], list[str]]:
    """Runs of `n_min` to `n_max` words: an n-gram is numbered as the pair of an (n-1)-gram and a word."""
    ids, indptr = _joined(parts)
    lengths = np.diff(indptr)
    document = np.repeat(np.arange(len(lengths)), lengths)
    runs = {n: np.maximum(lengths - n + 1, 0) for n in range(n_min, n_max + 1)}
    starts = np.zeros(len(indptr), dtype=np.int64)
    np.cumsum(sum(runs.values()), out=starts[1:])
    terms = np.empty(starts[-1], dtype=np.int32)
    grams, names, place, shift = ids, words, np.arange(len(ids)), starts[:-1] - indptr[:-1]
    all_names: list[str] = []
    for n in range(1, n_max + 1):
        if n > 1:
            inside = indptr[document[place] + 1] - place >= n
            place = place[inside]
            grams, left, right = kernels.intern_pairs(grams[inside], ids[place + n - 1])
            names = [f"{names[a]} {words[b]}" for a, b in zip(left.tolist(), right.tolist())]
        if n >= n_min:
            terms[place + shift[document[place]]] = grams + np.int32(len(all_names))
            shift = shift + runs[n]
            all_names += names
    return [Part(terms, starts)], all_names


def _by_field(parts: list[Part], names: list[str], fields: tuple[str, ...]) -> tuple[list[Part], list[str]]:
    """Tell the fields' terms apart as ``field:term`` (those of the whole document are plain), a row a document."""
    ids, indptr = _joined(parts)
    n_fields = len(fields)
    field = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32) % n_fields, np.diff(indptr)).astype(np.int32)
    terms, left, right = kernels.intern_pairs(ids, field)
    own = [names[a] if fields[b] == WHOLE else f"{fields[b]}:{names[a]}" for a, b in zip(left.tolist(), right.tolist())]
    return [Part(terms, np.ascontiguousarray(indptr[::n_fields]))], own


def _distinct(parts: list[Part], names: list[str]) -> tuple[list[Part], list[str]]:
    """Merge terms of the same name: a token with a blank in it may read like two tokens."""
    index = {name: term for term, name in enumerate(dict.fromkeys(names))}
    if len(index) == len(names):
        return parts, names
    new = np.array([index[name] for name in names], dtype=np.int32)
    return [part.renumbered(new) for part in parts], list(index)


def _count(columns: Int32s, n_columns: int, part: Part) -> tuple[Int64s, Int32s, Int64s]:
    return kernels.count_terms(part.ids, part.indptr, part.columns(columns), n_columns)
