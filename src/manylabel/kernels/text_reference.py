"""The plain twin of every kernel: what each one computes, in Python and NumPy.

These functions are the definition. The compiled ones must return the same arrays for every input, and where
nothing was compiled these do the work.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]
Packed = tuple[npt.NDArray[np.uint8], Int64s, npt.NDArray[np.uint8]]
"""Words in one buffer, as compiled kernels keep them: bytes, where each word begins, 1 where a character takes 4."""
Words = list[str] | Packed
Tokens = tuple[Int32s, Int64s, Words]

_PATTERNS = {
    ("words", True): re.compile(r"\b\w\w+\b"),
    ("words", False): re.compile(r"\b\w\w+\b"),
    ("letters", True): re.compile(r"[a-z]+"),
    ("letters", False): re.compile(r"[A-Za-z]+"),
}
_WHITE_SPACES = re.compile(r"\s\s+")


def tokenize(texts: list[str], mode: str, lowercase: bool) -> Tokens:
    r"""Words as numbers: the token ids of all texts, where each text's ids begin, and the distinct tokens.

    Tokens are the matches of ``\b\w\w+\b`` (mode "words") or ``[a-z]+`` (mode "letters"; ``[A-Za-z]+``
    without lower-casing). Ids count up in order of first occurrence.

    >>> ids, starts, words = tokenize(["To be or", "", "be to"], "words", True)
    >>> ids.tolist(), starts.tolist(), words
    ([0, 1, 2, 1, 0], [0, 3, 3, 5], ['to', 'be', 'or'])
    """
    if (mode, bool(lowercase)) not in _PATTERNS:
        raise ValueError(f"mode must be 'words' or 'letters', not {mode!r}.")
    find = _PATTERNS[mode, bool(lowercase)].findall
    if lowercase:
        return _intern(texts, lambda text: find(text.lower()))
    return _intern(texts, find)


class WordCounter:
    """Count known words in one text: the places, ascending, of those of `words` that occur, and how often each does.

    >>> places, counts = WordCounter(["be", "not", "to"], "words", True).count("To be or to be")
    >>> places.tolist(), counts.tolist()
    ([0, 2], [2.0, 2.0])
    """

    def __init__(self, words: list[str], mode: str, lowercase: bool) -> None:
        tokenize([], mode, lowercase)  # refuses an unknown mode
        self._mode, self._lowercase = mode, lowercase
        self._place: dict[str, int] = {}
        for place, word in enumerate(words):
            if not word or word in self._place:
                raise ValueError(f"Word {place}, {word!r}, is empty or there twice.")
            self._place[word] = place

    def count(self, text: str) -> tuple[Int32s, npt.NDArray[np.float64]]:
        """The places of the words that occur, ascending, and how often each does."""
        ids, _, words = tokenize([text], self._mode, self._lowercase)
        known = [(self._place[word], number) for number, word in enumerate(spelled(words)) if word in self._place]
        counts = np.bincount(ids, minlength=len(words))
        places = np.array(sorted(known), dtype=np.int64).reshape(-1, 2)
        return places[:, 0].astype(np.int32), counts[places[:, 1]].astype(np.float64)


def character_ngrams(texts: list[str], n_min: int, n_max: int, within_words: bool) -> Tokens:
    """Runs of `n_min` to `n_max` characters as numbers, returned as `tokenize` returns tokens.

    Runs of white space are read as one blank. With `within_words`, a run stays inside a word, the word being
    padded with a blank on both sides; a word shorter than a run counts once.

    >>> character_ngrams(["ab  c"], 2, 2, False)[2], character_ngrams(["ab c"], 3, 4, True)[2]
    (['ab', 'b ', ' c'], [' ab', 'ab ', ' ab ', ' c '])
    """
    if n_min < 1 or n_max < n_min:
        raise ValueError(f"Character n-grams need 1 <= n_min <= n_max, not {n_min} and {n_max}.")
    runs = _runs_in_words if within_words else _runs
    return _intern(texts, lambda text: runs(_WHITE_SPACES.sub(" ", text), n_min, n_max))


def spelled(vocabulary: Words) -> list[str]:
    """The words as strings.

    >>> spelled((np.frombuffer(b"busroad", np.uint8), np.array([0, 3, 7]), np.zeros(2, np.uint8)))
    ['bus', 'road']
    """
    if isinstance(vocabulary, list):
        return vocabulary
    signs, starts, wide = vocabulary
    whole, ends = signs.tobytes(), starts.tolist()
    encodings = ("latin-1", "utf-32-le" if np.little_endian else "utf-32-be")
    return [
        whole[begin:end].decode(encodings[large], "surrogatepass")
        for begin, end, large in zip(ends[:-1], ends[1:], wide.tolist(), strict=True)
    ]


def merge_words(vocabularies: list[Words]) -> tuple[list[str], list[Int32s]]:
    """The distinct words of several lists in the order of code points, and the place in it of each list's words.

    >>> names, places = merge_words([["road", "bus"], ["late", "bus"]])
    >>> names, [place.tolist() for place in places]
    (['bus', 'late', 'road'], [[2, 0], [1, 0]])
    """
    lists = [spelled(vocabulary) for vocabulary in vocabularies]
    names = sorted(set().union(*lists))
    place = dict(zip(names, range(len(names)), strict=True))
    return names, [np.array([place[word] for word in words], dtype=np.int32) for words in lists]


def intern_tokens(documents: Iterable[Iterable[str]]) -> Tokens:
    """Number tokens that were split already, as `tokenize` numbers its own.

    >>> intern_tokens([["b", "a"], ["b"]])[0].tolist()
    [0, 1, 0]
    """
    return _intern(documents, lambda tokens: tokens)


def intern_pairs(left: Int32s, right: Int32s) -> tuple[Int32s, Int32s, Int32s]:
    """Number distinct pairs in order of first occurrence: each pair's id, and each id's left and right part.

    >>> [part.tolist() for part in intern_pairs(np.array([3, 1, 3], np.int32), np.array([5, 5, 5], np.int32))]
    [[0, 1, 0], [3, 1], [5, 5]]
    """
    if len(left) != len(right):
        raise ValueError(f"Pairs need equally many parts, not {len(left)} and {len(right)}.")
    keys = (left.astype(np.int64) << 32) | right.astype(np.int64)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    positions = first[order]
    return rank[inverse.reshape(-1)], left[positions], right[positions]


def count_terms(ids: Int32s, indptr: Int64s, columns: Int32s, n_columns: int) -> tuple[Int64s, Int32s, Int64s]:
    """Counts of each document's terms as the three arrays of a CSR matrix with sorted columns.

    ``columns[id]`` is the column of a term, or -1 for a term to leave out. Two terms may share a column.

    >>> ids, starts = np.array([0, 1, 0, 2], np.int32), np.array([0, 3, 4])
    >>> [part.tolist() for part in count_terms(ids, starts, np.array([1, 0, -1], np.int32), 2)]
    [[1, 2], [0, 1], [0, 2, 2]]
    """
    n_documents = len(indptr) - 1
    _check_bounds(ids, indptr, columns, n_columns)
    rows = np.repeat(np.arange(n_documents, dtype=np.int64), np.diff(indptr))
    found = columns[ids[indptr[0] : indptr[-1]]].astype(np.int64)
    kept = found >= 0
    cells, data = np.unique(rows[kept] * max(n_columns, 1) + found[kept], return_counts=True)
    row, column = np.divmod(cells, max(n_columns, 1))
    starts = np.zeros(n_documents + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=n_documents), out=starts[1:])
    return data.astype(np.int64), column.astype(np.int32), starts


def column_totals(indices: Int32s, data: Int64s, n_columns: int) -> tuple[Int64s, Int64s]:
    """Of each column of a CSR matrix how many cells it has, and their sum.

    >>> [part.tolist() for part in column_totals(np.array([2, 0, 2], np.int32), np.array([1, 4, 5]), 3)]
    [[1, 0, 2], [4, 0, 6]]
    """
    if len(indices) != len(data):
        raise ValueError(f"Cells need equally many columns and values, not {len(indices)} and {len(data)}.")
    if len(indices) and (indices.min() < 0 or indices.max() >= n_columns):
        raise IndexError("A column is out of bounds.")
    sums = np.zeros(n_columns, dtype=np.int64)
    np.add.at(sums, indices, data)
    return np.bincount(indices, minlength=n_columns).astype(np.int64), sums


def hash_terms(terms: list[str]) -> Int32s:
    """MurmurHash3 (32 bit, x86, seed 0) of each term's UTF-8 bytes, as a signed number; Appleby 2011.

    >>> hash_terms(["", "hello"]).tolist()
    [0, 613153351]
    """
    return np.array([_murmur(term.encode("utf-8", "surrogatepass")) for term in terms], dtype=np.uint32).view(np.int32)


def _intern(texts: Iterable[object], split: Callable[..., Iterable[str]]) -> Tokens:
    index: defaultdict[str, int] = defaultdict()
    index.default_factory = index.__len__
    indptr = [0]
    ids: list[int] = []
    for text in texts:
        ids.extend([index[token] for token in split(text)])
        indptr.append(len(ids))
    return np.array(ids, dtype=np.int32), np.array(indptr, dtype=np.int64), list(index)


def _runs(text: str, n_min: int, n_max: int) -> list[str]:
    return [
        text[start : start + n] for n in range(n_min, min(n_max, len(text)) + 1) for start in range(len(text) - n + 1)
    ]


def _runs_in_words(text: str, n_min: int, n_max: int) -> list[str]:
    runs: list[str] = []
    for word in text.split():
        padded = f" {word} "
        for n in range(n_min, n_max + 1):
            runs.extend(padded[start : start + n] for start in range(max(len(padded) - n, 0) + 1))
            if len(padded) <= n:
                break
    return runs


def _check_bounds(ids: Int32s, indptr: Int64s, columns: Int32s, n_columns: int) -> None:
    if len(indptr) == 0 or indptr[0] < 0 or indptr[-1] > len(ids):
        raise IndexError("The documents' starts are out of bounds.")
    if (np.diff(indptr) < 0).any():
        raise IndexError("The documents' starts must not fall.")
    inside = ids[indptr[0] : indptr[-1]]
    if len(inside) and (inside.min() < 0 or inside.max() >= len(columns) or columns[inside].max() >= n_columns):
        raise IndexError("A term's number or its column is out of bounds.")


def _murmur(data: bytes) -> int:
    mask, h = 0xFFFFFFFF, 0
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        h ^= _scramble(int.from_bytes(data[start : start + 4], "little"))
        h = ((h << 13) | (h >> 19)) & mask
        h = (h * 5 + 0xE6546B64) & mask
    if len(data) > whole:
        h ^= _scramble(int.from_bytes(data[whole:], "little"))
    h ^= len(data)
    h = ((h ^ (h >> 16)) * 0x85EBCA6B) & mask
    h = ((h ^ (h >> 13)) * 0xC2B2AE35) & mask
    return h ^ (h >> 16)


def _scramble(k: int) -> int:
    k = (k * 0xCC9E2D51) & 0xFFFFFFFF
    k = ((k << 15) | (k >> 17)) & 0xFFFFFFFF
    return (k * 0x1B873593) & 0xFFFFFFFF
