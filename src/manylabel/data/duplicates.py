"""Near-duplicates: documents that share nearly all their words, and test documents with one in training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.documents import as_matrix, is_measured, length_of
from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels import text as kernels

WORDS = 5
"""How many consecutive words are compared; a shorter text is compared as a whole."""
LEAST = 0.8
"""The least Jaccard similarity of near-duplicate texts; two changed words in a hundred are allowed."""
LEAST_OF_TERMS = 0.9
"""The same for ready-made counts, where a changed word changes one term and not five runs of words."""


@dataclass(frozen=True, slots=True, eq=False)
class NearDuplicates:
    """Which documents are near-duplicates of which.

    Documents with the very same runs of words count as one: `kind_of` numbers the different ones, `first` and `second`
    are pairs of different ones that are near-duplicates, `similarity` is their Jaccard similarity.
    """

    kind_of: Ints
    first: Ints
    second: Ints
    similarity: Floats

    @property
    def n_pairs(self) -> int:
        """The number of pairs of documents that are near-duplicates, copies of the same text included."""
        sizes = self._sizes()
        return int((sizes * (sizes - 1) // 2).sum() + (sizes[self.first] * sizes[self.second]).sum())

    @property
    def n_documents(self) -> int:
        """The number of documents that are a near-duplicate of another one."""
        sizes = self._sizes()
        touched = sizes > 1
        touched[self.first] = touched[self.second] = True
        return int(sizes[touched].sum())

    def groups(self) -> Ints:
        """The group of each document: documents linked by near-duplicates, directly or through others, share one.

        >>> near_duplicates(["one two three", "something else", "One, two, three!"]).groups().tolist()
        [0, 1, 0]
        """
        kinds = self._sizes().size
        links = sparse.coo_array((np.ones(self.first.size), (self.first, self.second)), shape=(kinds, kinds))
        from scipy.sparse import csgraph  # brings in all of SciPy's solvers: a tenth of a second of every start

        return np.asarray(csgraph.connected_components(links, directed=False)[1][self.kind_of], dtype=np.int64)

    def _sizes(self) -> Ints:
        return np.bincount(self.kind_of, minlength=1).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Straddling:
    """The test documents that have a near-duplicate in training, each with the most similar one (the first of such)."""

    test: Ints
    train: Ints
    similarity: Floats


def near_duplicates(documents: Any, *, words: int = WORDS, least: float | None = None) -> NearDuplicates:
    """All pairs of documents whose sets of runs of `words` words have a similarity of `least` or more.

    The similarity is Jaccard's, |A ∩ B| / |A ∪ B|. Of ready-made counts, the sets of terms are compared; of
    measurements (`is_measured`), the single values. Documents without words are near-duplicates of none.

    Nothing is sampled or missed: two sets that similar share one of the |A| − ⌈least · |A|⌉ + 1 rarest members of each,
    so only documents that do are compared. Most runs of words occur once, which makes the cost nearly linear.

    Source: the prefix filter of Chaudhuri, Ganti & Kaushik 2006 and Bayardo, Ma & Srikant 2007, section 3; shingles
    and their resemblance: Broder 1997. Broder's min-wise hashing is not used because it misses some pairs.

    >>> texts = ["the bus was late again on monday", "a hole in the road", "The bus was late again on Monday!"]
    >>> found = near_duplicates(texts)
    >>> found.n_pairs, found.n_documents
    (1, 2)
    """
    matrix = as_matrix(documents)
    sets = run_sets(documents, words) if matrix is None else term_sets(matrix)
    threshold = (LEAST if matrix is None else LEAST_OF_TERMS) if least is None else least
    kind_of, kinds = different_sets(sets)
    first, second, similarity = similar_sets(kinds, threshold)
    return NearDuplicates(kind_of, first, second, similarity)


def straddling(train: Any, test: Any, *, words: int = WORDS, least: float | None = None) -> Straddling:
    """The test documents of a split that are near-duplicates of training documents: see `near_duplicates`.

    >>> found = straddling(["a hole in the road", "the bus was late"], ["where is my bin", "The bus was late."])
    >>> found.test.tolist(), found.train.tolist()
    ([1], [1])
    """
    one, other = as_matrix(train), as_matrix(test)
    both: Any = [*train, *test] if one is None or other is None else sparse.vstack([one, other], format="csr")
    n_train = length_of(train)
    found = near_duplicates(both, words=words, least=least)
    kinds = int(found.kind_of.max(initial=-1)) + 1
    nobody = found.kind_of.size
    trained = np.full(kinds, nobody)
    np.minimum.at(trained, found.kind_of[:n_train], np.arange(n_train))
    # every kind has similarity 1 to itself
    here = np.concatenate([np.arange(kinds), found.first, found.second])
    there = np.concatenate([np.arange(kinds), found.second, found.first])
    similarity = np.concatenate([np.ones(kinds), found.similarity, found.similarity])
    usable = trained[there] < nobody
    here, there, similarity = here[usable], there[usable], similarity[usable]
    order = np.lexsort((trained[there], -similarity, here))
    kinds_found, place = np.unique(here[order], return_index=True)
    best = np.full(kinds, -1)
    best[kinds_found] = order[place]
    chosen = best[found.kind_of[n_train:]]
    rows = np.flatnonzero(chosen >= 0).astype(np.int64)
    return Straddling(rows, trained[there[chosen[rows]]].astype(np.int64), similarity[chosen[rows]])


PIECE = 1 << 22
"""How many numbers are processed at a time, so that memory stays bounded."""
ROUNDING = 1e-9

Marks = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """One set per document: `shared` has the members that others may have too, as ones; `alone` counts the others."""

    shared: Csr
    alone: Ints

    @property
    def sizes(self) -> Ints:
        """The number of members of each set."""
        return self.alone + np.diff(self.shared.indptr)

    def rows(self, chosen: Ints) -> Sets:
        """The sets of the documents in the rows `chosen`."""
        return Sets(Csr(self.shared[chosen]), self.alone[chosen])


def term_sets(matrix: Csr) -> Sets:
    """The terms of each document of a count matrix; of measurements, which have all columns, the single values.

    >>> term_sets(Csr(np.array([[2, 0, 1], [0, 0, 0]]))).sizes.tolist()
    [2, 0]
    """
    if is_measured(matrix):
        values = np.unique(matrix.data, return_inverse=True)[1].astype(np.int64)
        cells, members = np.unique(values * matrix.shape[1] + matrix.indices, return_inverse=True)
        matrix = Csr((np.ones(matrix.nnz), members, matrix.indptr), shape=(matrix.shape[0], len(cells)))
    clean = Csr((matrix.data != 0, matrix.indices, matrix.indptr), shape=matrix.shape).astype(np.int32)
    clean.sum_duplicates()
    clean.eliminate_zeros()
    clean.data = np.ones_like(clean.data)
    return Sets(clean, np.zeros(matrix.shape[0], dtype=np.int64))


def run_sets(texts: Sequence[Any], words: int) -> Sets:
    """The runs of so many words in each text; a shorter text is one run, an empty one has none.

    A run is known by 64 bits, a polynomial in random marks of its words: in ten million different runs, the chance that
    any two are taken for one is one in 400,000. A run whose leading bits occur once is in no other text; most runs
    are, and need not be sorted.

    >>> run_sets(["to be or not to be", "Or not", ""], words=2).sizes.tolist()
    [4, 1, 0]
    """
    plain = [text if isinstance(text, str) else "\n".join(text.values()) for text in texts]
    ids, begins, _ = kernels.tokenize(plain, "words", True)
    document, marks = _run_marks(ids, np.asarray(begins, dtype=np.int64), words)
    bits = max(marks.size, 1).bit_length() + 2
    bucket = (marks >> np.uint64(64 - bits)).astype(np.int64)
    lone = np.bincount(bucket, minlength=1)[bucket] == 1
    alone = np.bincount(document[lone], minlength=len(plain)).astype(np.int64)
    different, column = np.unique(marks[~lone], return_inverse=True)
    ones = np.ones(column.size, dtype=np.int32)
    matrix = Csr((ones, (document[~lone], column.reshape(-1))), shape=(len(plain), different.size))
    return Sets(term_sets(matrix).shared, alone)


def _run_marks(ids: npt.NDArray[np.int32], begins: Ints, words: int) -> tuple[Ints, Marks]:
    """The document and the mark of each run of words."""
    lengths = np.diff(begins)
    document = np.repeat(np.arange(lengths.size), lengths)
    place = np.arange(ids.size)
    left = begins[1:][document] - place  # words from here to the end of the text
    starts = (left >= words) | (place == begins[:-1][document])
    place, left, document = place[starts], left[starts], document[starts]
    end = int(ids.max(initial=-1)) + 1
    random = np.random.default_rng(0).integers(1, 2**64, size=end + 1, dtype=np.uint64)
    following = np.append(ids, np.full(words, end, dtype=np.int32))
    short = left < words
    marks = random[ids[place]]
    for step in range(1, words):
        word = following[place + step]
        word[short & (left <= step)] = end
        # odd multiplier of Knuth's linear congruential generator MMIX; sums wrap around at 2⁶⁴
        marks = marks * np.uint64(6364136223846793005) + random[word]
    return document, marks


def different_sets(sets: Sets) -> tuple[Ints, Sets]:
    """The number of each document's set among the different ones, in order of first occurrence, and these.

    Equal sets are found by two sums of random marks of their members. A set with a member of its own equals no other,
    and an empty set is not equal to another empty one, since nothing is known about it.
    """
    matrix, n = sets.shared, sets.shared.shape[0]
    marks = np.random.default_rng(0).integers(0, 2**63, size=(2, matrix.shape[1]), dtype=np.uint64)
    keys = np.zeros((3, n), dtype=np.uint64)
    full = np.flatnonzero(np.diff(matrix.indptr))
    for row in range(2 if full.size else 0):
        keys[row, full] = np.add.reduceat(marks[row, matrix.indices], matrix.indptr[full])
    unlike = (sets.alone > 0) | (np.diff(matrix.indptr) == 0)
    keys[2, unlike] = np.flatnonzero(unlike) + 1
    order = np.lexsort(keys)
    changes = np.append(True, (np.diff(keys[:, order].astype(np.int64), axis=1) != 0).any(axis=0))[:n]
    first = np.minimum.reduceat(order, np.flatnonzero(changes)) if n else order
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    kind_of = np.empty(n, dtype=np.int64)
    kind_of[order] = rank[np.cumsum(changes) - 1]
    return kind_of, sets.rows(np.sort(first))


def similar_sets(sets: Sets, least: float) -> tuple[Ints, Ints, Floats]:
    """All pairs of sets with a Jaccard similarity |A ∩ B| / |A ∪ B| of at least `least`, and that similarity.

    Two sets that similar share one of the |A| − ⌈least · |A|⌉ + 1 rarest members of each: only those are compared.

    Source: the prefix filter of Chaudhuri, Ganti & Kaushik 2006; Bayardo, Ma & Srikant 2007, section 3.

    >>> sets = term_sets(Csr(np.array([[1, 1, 1, 1, 0], [0, 0, 1, 0, 1], [1, 1, 1, 0, 0]])))
    >>> [column.tolist() for column in similar_sets(sets, 0.7)]
    [[0], [2], [0.75]]
    """
    prefixes, sizes = _rarest(sets, least), sets.sizes
    rows = np.flatnonzero(np.diff(prefixes.indptr))
    having = np.bincount(prefixes.indices, minlength=prefixes.shape[1])
    work = np.cumsum(prefixes @ having)[rows] // PIECE
    transposed = Csr(prefixes.T)
    pairs: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    for piece in np.split(rows, np.flatnonzero(np.diff(work)) + 1):
        meeting = sparse.coo_array(prefixes[piece] @ transposed)
        one, other = piece[meeting.coords[0]], meeting.coords[1].astype(np.int64)
        small, large = np.minimum(sizes[one], sizes[other]), np.maximum(sizes[one], sizes[other])
        fits = (one < other) & (small >= least * large - ROUNDING)
        pairs.append(_verified(sets, one[fits], other[fits], least))
    first, second, similarity = (np.concatenate(columns) for columns in zip(*pairs, strict=True))
    order = np.lexsort((second, first))
    return first[order], second[order], similarity[order]


def _rarest(sets: Sets, least: float) -> Csr:
    """The |A| − ⌈least · |A|⌉ + 1 rarest members of each set, without those that no other set has."""
    matrix, sizes = sets.shared, sets.sizes
    having = np.bincount(matrix.indices, minlength=matrix.shape[1])
    row = np.repeat(np.arange(sizes.size), np.diff(matrix.indptr))
    prefix = sizes - np.ceil(least * sizes - ROUNDING).astype(np.int64) + 1
    alone = sets.alone + np.bincount(row[having[matrix.indices] == 1], minlength=sizes.size)
    # a prefix of members that no other set has matches no other prefix
    alive = (alone < prefix)[row] & (having[matrix.indices] > 1)
    row, column = row[alive], matrix.indices[alive]
    order = np.lexsort((column, having[column], row))
    row, column = row[order], column[order]
    begin = np.append(0, np.cumsum(np.bincount(row, minlength=sizes.size)))
    inside = np.arange(row.size) - begin[row] < (prefix - alone)[row]
    ones = np.ones(int(inside.sum()), dtype=np.int32)
    return Csr((ones, (row[inside], column[inside])), shape=matrix.shape)


def _verified(sets: Sets, one: Ints, other: Ints, least: float) -> tuple[Ints, Ints, Floats]:
    """The pairs with a similarity of at least `least`, and their similarity."""
    sizes, matrix = sets.sizes, sets.shared
    similarity = np.zeros(one.size)
    step = max(PIECE // max(int(sizes.max(initial=1)), 1), 1)
    for start in range(0, one.size, step):
        a, b = one[start : start + step], other[start : start + step]
        shared = np.asarray(matrix[a].multiply(matrix[b]).sum(axis=1)).ravel()
        similarity[start : start + step] = shared / (sizes[a] + sizes[b] - shared)
    near = similarity >= least - ROUNDING
    return one[near].astype(np.int64), other[near].astype(np.int64), similarity[near]
