"""Words that make a good first keyword rule for each label."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.progress import track

CANDIDATES = 50
"""How many of the best single words of a label are tried in its rule."""


def suggest_keywords(X: Csr, Y: Csr, most: int = 6, min_documents: int = 2) -> Csr:
    """Labels × terms: for each label up to `most` words, numbered 1, 2 … in the order they were chosen.

    A rule "a OR b OR …" starts empty and is given, again and again, the word that raises its F1 on the documents most,
    among the words that are best alone; it ends when none does. A word must occur in `min_documents` documents of
    the label, or in all of them where it has fewer. Ties go to the lower column. A label without a document has no
    words.

    >>> X = Csr([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    >>> suggest_keywords(X, Csr([[1, 0], [1, 0], [0, 1], [0, 1]])).toarray().tolist()
    [[1, 0, 0], [0, 1, 0]]
    """
    present = Csr((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)
    present.eliminate_zeros()
    by_term, by_label = sparse.csc_array(present), sparse.csc_array(Y)
    frequency = np.diff(by_term.indptr).astype(np.float64)
    together = Csr(Y.T.astype(np.float64) @ present)
    rows: list[Ints] = []
    for label in track("Suggesting keywords", range(Y.shape[1])):
        carriers = by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]
        start, stop = together.indptr[label], together.indptr[label + 1]
        terms, shared = together.indices[start:stop], together.data[start:stop]
        enough = shared >= min(min_documents, len(carriers))
        terms, shared = terms[enough], shared[enough]
        alone = 2 * shared / (frequency[terms] + len(carriers))
        best = terms[np.lexsort((terms, -alone))[:CANDIDATES]]
        rows.append(_greedy(by_term, np.sort(best), carriers.astype(np.int64), most))
    indptr = np.cumsum([0, *map(len, rows)])
    order = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(1, len(row) + 1) for row in rows)])
    terms = np.concatenate([np.zeros(0, dtype=np.int64), *rows])
    chosen = Csr((order, terms, indptr), shape=(Y.shape[1], X.shape[1]))
    chosen.sort_indices()
    return chosen


def _greedy(by_term: sparse.csc_array, candidates: Ints, carriers: Ints, most: int) -> Ints:
    """The words of one label's rule, in the order they raise its F1."""
    occurs = Csr(by_term[:, candidates].T)
    wanted = np.zeros(by_term.shape[0])
    wanted[carriers] = 1.0
    missed = np.ones(by_term.shape[0])
    chosen: list[int] = []
    hits, given, best = 0.0, 0.0, 0.0
    while len(chosen) < min(most, len(candidates)):
        new_hits, new_given = occurs @ (wanted * missed), occurs @ missed
        f1: Floats = 2 * (hits + new_hits) / (given + new_given + len(carriers))
        word = int(f1.argmax())
        if f1[word] <= best:
            break
        best, hits, given = float(f1[word]), hits + float(new_hits[word]), given + float(new_given[word])
        missed[occurs.indices[occurs.indptr[word] : occurs.indptr[word + 1]]] = 0.0
        chosen.append(word)
    return candidates[chosen].astype(np.int64)
