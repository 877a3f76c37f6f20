"""From texts to numbered terms: tokens, stop words, stems, n-grams and fields.

The kernel numbers the words once. Everything after that works on the list of distinct words (stop words, stems, names)
or on arrays of numbers (n-grams, fields, counts).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from manylabel.data.documents import WHOLE
from manylabel.estimator import Csr, Floats
from manylabel.features.scripts import PATTERNS
from manylabel.features.texts import without_accents
from manylabel.features.vocabulary import LearnedTerms
from manylabel.kernels import text as kernels
from manylabel.kernels.text_reference import Tokens
from manylabel.progress import track

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
CountedTerms: TypeAlias = tuple[Int32s, Floats]
"""The columns of one document's terms, ascending, and their values."""

MAX_CHARACTERS = 1 << 25  # read by a kernel in one call; between calls the user may interrupt
MIN_CHARACTERS = 1 << 18  # per thread: with fewer, a second thread costs more time than it saves
MOST_WORDS = 1 << 17
"""Up to this many words are cached with the column of their stem."""


@dataclass(frozen=True, slots=True)
class TermBatch:
    """The tokens of a batch of consecutive documents.

    Without `term_of`, token numbers are term numbers.
    """

    ids: Int32s
    """The number of each token, document after document."""
    indptr: Int64s
    """The position of the first token of each document, and the number of tokens."""
    term_of: Int32s | None = None
    """The term of each token number; -1 leaves the token out."""

    def renumbered(self, new: Int32s) -> TermBatch:
        """The same documents where term t has become ``new[t]``; -1 leaves a term out."""
        return TermBatch(self.ids, self.indptr, self.columns(new))

    def columns(self, columns: Int32s) -> Int32s:
        """The column of each token number, given the column of each term."""
        if self.term_of is None:
            return columns
        return np.append(columns, np.int32(-1))[self.term_of]  # term -1 reads the appended -1

    @property
    def terms(self) -> Int32s:
        """The term of each token."""
        return self.ids if self.term_of is None else self.term_of[self.ids]


@dataclass(frozen=True, slots=True)
class Terms:
    """The terms of a list of documents: consecutive batches, numbered by one list of distinct names."""

    batches: list[TermBatch]
    names: list[str]
    n_threads: int = 1
    is_sorted: bool = False
    """Whether the names are known to be in alphabetical order."""

    @property
    def n_documents(self) -> int:
        """The number of documents."""
        return sum(len(batch.indptr) - 1 for batch in self.batches)

    def counts(self, columns: Int32s, n_columns: int) -> Csr:
        """How often each term occurs, documents × columns; ``columns[term]`` is -1 for a term to leave out."""
        counted = _in_threads(partial(_count, columns, n_columns), self.batches, self.n_threads, "Counting terms")
        if len(counted) == 1:
            data, indices, indptr = counted[0]
        else:
            starts = list(accumulate((len(one[0]) for one in counted), initial=0))
            data = np.concatenate([one[0] for one in counted])
            indices = np.concatenate([one[1] for one in counted])
            indptr = np.concatenate(
                [np.zeros(1, np.int64)] + [one[2][1:] + start for one, start in zip(counted, starts)]
            )
        if len(data) <= np.iinfo(np.int32).max:
            indptr = indptr.astype(np.int32)
        else:
            indices = indices.astype(np.int64)
        X = Csr((data, indices, indptr), shape=(len(indptr) - 1, n_columns))
        X.has_canonical_format = True  # implies sorted indices; SciPy need not check
        return X


@dataclass(frozen=True, slots=True)
class Analysis:
    """The resolved settings of a `Vectorizer` that decide how texts become terms."""

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
        groups = _batches_of_texts(texts, n_threads)
        n_threads = min(n_threads, len(groups))
        batches, names = _merge(_in_threads(self._split, groups, n_threads, "Reading texts"))
        if self.analyzer == "word":
            batches, names = self._stop_and_stem(batches, names)
            if self.ngram_range != (1, 1):
                batches, names = _word_ngrams(batches, names, *self.ngram_range)
        if self.fields:
            batches, names = _by_field(batches, names, self.fields)
        if self._names_may_repeat:
            batches, names = _distinct(batches, names)
        return Terms(batches, names, n_threads, self._keeps_order)

    @property
    def _keeps_order(self) -> bool:
        """Whether terms are the tokens themselves, which the kernel returns in alphabetical order."""
        return not self.fields and (self.analyzer != "word" or (self.stemmer is None and self.ngram_range == (1, 1)))

    @property
    def _names_may_repeat(self) -> bool:
        """Whether two terms may share a name: token "a b" and tokens "a", "b"; "y:z" in "x" and "z" in "x:y"."""
        own_pattern = self.analyzer == "word" and self.tokens not in ("words", "letters")
        characters_beside_words = self.analyzer != "word" and WHOLE in (self.fields or ())
        return own_pattern or characters_beside_words or any(":" in name for name in self.fields or ())

    def text_counter(self, learned: LearnedTerms) -> Callable[[str], CountedTerms] | None:
        """A function that counts the known terms of one text: runs of characters, single words or their stems, or runs
        of these; None for other terms.

        The words are looked up unchanged.
        """
        if self.strip_accents is not None or self.fields:
            return None
        if self.analyzer != "word":
            return partial(self._count_characters, learned.columns)
        if self.ngram_range != (1, 1):
            return partial(_count_as_batch, self, learned.columns) if self.tokens in ("words", "letters") else None
        if self.tokens in ("words", "letters"):
            if self.stemmer is not None:
                return _stem_counter(self, self.stemmer, learned.columns)
            return kernels.WordCounter(learned.names, self.tokens, self.lowercase).count
        return None if self.stemmer is not None else _pattern_counter(self, learned.columns)

    def _count_characters(self, vocabulary: Mapping[str, int], text: str) -> CountedTerms:
        """The known runs of characters of one text."""
        ids, _, runs = self._split([text])
        find = vocabulary.get
        return _counted(np.array([find(run, -1) for run in kernels.spelled(runs)], dtype=np.int32)[ids])

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
        find = re.compile(PATTERNS.get(self.tokens, self.tokens)).findall
        if lowercase:
            return kernels.intern_tokens(find(text.lower()) for text in texts)
        return kernels.intern_tokens(find(text) for text in texts)

    def _stop_and_stem(self, batches: list[TermBatch], names: list[str]) -> tuple[list[TermBatch], list[str]]:
        """Drop stop words, stem the list of distinct words, and merge the words that became one."""
        if not self.stop_words and self.stemmer is None:
            return batches, names
        stems = names if self.stemmer is None else stem(names, self.stemmer)
        index: dict[str, int] = {}
        new = np.array(
            [
                -1 if word in self.stop_words else index.setdefault(stemmed, len(index))
                for word, stemmed in zip(names, stems)
            ],
            dtype=np.int32,
        )
        return [batch.renumbered(new) for batch in batches], list(index)


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


def _batches_of_texts(texts: list[str], n_threads: int) -> list[list[str]]:
    """Divide the texts into batches of about equally many characters.

    There are as many batches as threads, or more if a batch would take too long to interrupt.
    """
    n_characters = sum(map(len, texts))
    n_batches_of_texts = max(1, min(n_threads, n_characters // MIN_CHARACTERS))
    n_batches_of_texts *= -(-n_characters // (n_batches_of_texts * MAX_CHARACTERS)) or 1
    if n_batches_of_texts == 1:
        return [texts]
    ends = np.cumsum(np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    ends_of_batches = np.searchsorted(ends, np.arange(1, n_batches_of_texts) * (n_characters / n_batches_of_texts))
    bounds = sorted({0, *ends_of_batches.tolist(), len(texts)})
    return [texts[start:end] for start, end in pairwise(bounds)]


def _in_threads(work: Callable[[Any], Any], items: Sequence[Any], n_threads: int, what: str) -> list[Any]:
    """The results of `work` on each item, in order; `what` names the stage in the progress report."""
    if len(items) == 1:
        return [work(items[0])]
    if n_threads < 2:
        return [work(item) for item in track(what, items)]
    with ThreadPoolExecutor(n_threads) as pool:
        return list(track(what, pool.map(work, items), len(items)))


def _merge(tokens: Sequence[Tokens]) -> tuple[list[TermBatch], list[str]]:
    """Number the words of all batches by one list, in alphabetical order."""
    names, numbers = kernels.merge_words([words for _, _, words in tokens])
    return [TermBatch(ids, indptr, term_of) for (ids, indptr, _), term_of in zip(tokens, numbers)], names


def _joined(batches: list[TermBatch]) -> tuple[Int32s, Int64s]:
    """The term numbers of all batches in one array, without those left out, and the start of each document."""
    terms = np.concatenate([batch.terms for batch in batches])
    lengths = np.concatenate([np.diff(batch.indptr) for batch in batches])
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    kept = terms >= 0
    if kept.all():
        return terms, indptr
    before = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(kept, out=before[1:])
    return terms[kept], before[indptr]


def _word_ngrams(
    batches: list[TermBatch], words: list[str], n_min: int, n_max: int
) -> tuple[list[TermBatch], list[str]]:
    """Runs of `n_min` to `n_max` words: an n-gram is numbered as the pair of an (n-1)-gram and a word."""
    ids, indptr = _joined(batches)
    lengths = np.diff(indptr)
    document = np.repeat(np.arange(len(lengths)), lengths)
    runs = {n: np.maximum(lengths - n + 1, 0) for n in range(n_min, n_max + 1)}
    starts = np.zeros(len(indptr), dtype=np.int64)
    np.cumsum(sum(runs.values()), out=starts[1:])
    terms = np.empty(starts[-1], dtype=np.int32)
    grams, names, position, shift = ids, words, np.arange(len(ids)), starts[:-1] - indptr[:-1]
    all_names: list[str] = []
    for n in range(1, n_max + 1):
        if n > 1:
            inside = indptr[document[position] + 1] - position >= n
            position = position[inside]
            grams, left, right = kernels.intern_pairs(grams[inside], ids[position + n - 1])
            names = [f"{names[a]} {words[b]}" for a, b in zip(left.tolist(), right.tolist())]
        if n >= n_min:
            terms[position + shift[document[position]]] = grams + np.int32(len(all_names))
            shift = shift + runs[n]
            all_names += names
    return [TermBatch(terms, starts)], all_names


def _by_field(batches: list[TermBatch], names: list[str], fields: tuple[str, ...]) -> tuple[list[TermBatch], list[str]]:
    """Name the terms of fields ``field:term`` (those of the whole document keep their names); one row per document."""
    ids, indptr = _joined(batches)
    n_fields = len(fields)
    field = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32) % n_fields, np.diff(indptr)).astype(np.int32)
    terms, left, right = kernels.intern_pairs(ids, field)
    own = [names[a] if fields[b] == WHOLE else f"{fields[b]}:{names[a]}" for a, b in zip(left.tolist(), right.tolist())]
    return [TermBatch(terms, np.ascontiguousarray(indptr[::n_fields]))], own


def _distinct(batches: list[TermBatch], names: list[str]) -> tuple[list[TermBatch], list[str]]:
    """Merge terms of the same name: a token that contains a blank may equal two tokens joined."""
    index = {name: term for term, name in enumerate(dict.fromkeys(names))}
    if len(index) == len(names):
        return batches, names
    new = np.array([index[name] for name in names], dtype=np.int32)
    return [batch.renumbered(new) for batch in batches], list(index)


def _count(columns: Int32s, n_columns: int, batch: TermBatch) -> tuple[Int64s, Int32s, Int64s]:
    return kernels.count_terms(batch.ids, batch.indptr, batch.columns(columns), n_columns)


# ---- one text at a time ----------------------------------------------------------------------------------------------
# Stop words need no care where terms are words: they are in no vocabulary.


def _pattern_counter(analysis: Analysis, vocabulary: Mapping[str, int]) -> Callable[[str], CountedTerms]:
    """A function that counts the known matches of a regular expression in one text."""
    find = re.compile(PATTERNS.get(analysis.tokens, analysis.tokens)).findall

    def count(text: str) -> CountedTerms:
        found = Counter(find(text.lower() if analysis.lowercase else text))
        known = sorted((vocabulary[term], times) for term, times in found.items() if term in vocabulary)
        return np.array([c for c, _ in known], dtype=np.int32), np.array([n for _, n in known], dtype=np.float64)

    return count


def _stem_counter(analysis: Analysis, language: str, vocabulary: Mapping[str, int]) -> Callable[[str], CountedTerms]:
    """A function that counts the known stems of one text.

    The column of a word is looked up once and cached, since the words of a language repeat.
    """
    column_of: dict[str, int] = {}

    def look_up(spelled: list[str]) -> list[int]:
        """The columns of words some of which were not met before, −1 for those without one."""
        new = [word for word in spelled if word not in column_of]
        met = {
            word: -1 if word in analysis.stop_words else vocabulary.get(stemmed, -1)
            for word, stemmed in zip(new, stem(new, language), strict=True)
        }
        of_words = [met[word] if word in met else column_of[word] for word in spelled]
        if len(column_of) < MOST_WORDS:  # entries are never removed, so threads can share the cache
            column_of.update(met)
        return of_words

    def count(text: str) -> CountedTerms:
        ids, _, words = kernels.tokenize([text], analysis.tokens, analysis.lowercase)
        spelled = kernels.spelled(words)
        of_words = list(map(column_of.get, spelled))
        known = look_up(spelled) if None in of_words else of_words
        return _counted(np.array(known, dtype=np.int32)[ids])

    return count


def _count_as_batch(analysis: Analysis, vocabulary: Mapping[str, int], text: str) -> CountedTerms:
    """The known terms of one text, counted as those of a batch are."""
    terms = analysis.terms([text])
    find = vocabulary.get
    columns = np.array([find(name, -1) for name in terms.names], dtype=np.int32)
    return _counted(columns[_joined(terms.batches)[0]])


def _counted(of_tokens: Int32s) -> CountedTerms:
    """The distinct columns of tokens, ascending, and how often each is there; −1 is left out.

    The same as `numpy.unique` at half its cost.

    >>> [found.tolist() for found in _counted(np.array([7, -1, 3, 7], dtype=np.int32))]
    [[3, 7], [1.0, 2.0]]
    """
    columns = np.sort(of_tokens)
    columns = columns[columns.searchsorted(0) :]
    changes = np.ones(len(columns) + 1, dtype=np.bool_)
    np.not_equal(columns[1:], columns[:-1], out=changes[1:-1])
    starts = changes.nonzero()[0]
    return columns[starts[:-1]], np.diff(starts).astype(np.float64)
