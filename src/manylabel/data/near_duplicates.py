"""Near-duplicates: documents that share nearly all they say, and those of them that stand on both sides of a split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from manylabel.data.given import as_matrix, length_of
from manylabel.data.similar_sets import different_sets, run_sets, similar_sets, term_sets
from manylabel.estimator import Floats, Ints

WORDS = 5
"""How many words in a row are compared; a shorter text is compared as a whole."""
LEAST = 0.8
"""The Jaccard similarity of runs of words from which texts are near-duplicates: two words changed in a hundred pass."""
LEAST_OF_TERMS = 0.9
"""The same for ready-made counts, where a changed word changes one term and not five runs of words."""


@dataclass(frozen=True, slots=True, eq=False)
class NearDuplicates:
    """Which documents are near-duplicates of which.

    Documents with the very same runs of words count as one: `kind_of` numbers the different ones, `first` and `second`
    are pairs of different ones that are near-duplicates, `similarity` says how near.
    """

    kind_of: Ints
    first: Ints
    second: Ints
    similarity: Floats

    @property
    def n_pairs(self) -> int:
        """How many pairs of documents are near-duplicates; copies of the same text are pairs too."""
        sizes = self._sizes()
        return int((sizes * (sizes - 1) // 2).sum() + (sizes[self.first] * sizes[self.second]).sum())

    @property
    def n_documents(self) -> int:
        """How many documents are a near-duplicate of some other."""
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

    The similarity is Jaccard's, |A ∩ B| / |A ∪ B|. Of ready-made counts, the sets of terms are compared. Documents
    without a word are like no other.

    Nothing is sampled or missed: two sets that similar share one of the |A| − ⌈least · |A|⌉ + 1 rarest members of each,
    so only documents that do are compared. Most runs of words occur once, which makes the cost nearly linear.

    Source: the prefix filter of Chaudhuri, Ganti & Kaushik 2006 and Bayardo, Ma & Srikant 2007, section 3; shingles
    and their resemblance: Broder 1997. Min-wise hashing, Broder's, was left aside since it would miss some pairs.

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
    # every kind is also as similar as can be to itself
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
