"""Which labels a fast classifier takes for which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.splits import Split
from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel, unfitted_copy
from manylabel.models.score_kinds import best_label
from manylabel.progress import track

Hierarchy = Literal["none", "parents", "siblings"]


def confusion_percent(T: Csr, S: Csr) -> Csr:
    """M_ij: the percentage of the documents of label i that were given j though they do not have it, labels × labels.

    Of the documents with i in T, the share with j in S but not in T; the diagonal is 0, and so is the row of a label
    without documents. Source: Godbole & Sarawagi 2004, section 4.2, for one predicted label; documents of several
    labels count in the row of each.

    >>> T = Csr(np.array([[1, 0, 0]] * 3 + [[1, 1, 0]] + [[0, 1, 0]] * 2 + [[0, 0, 1]] * 2))
    >>> S = Csr(np.eye(3, dtype=int)[[0, 1, 1, 1, 1, 0, 2, 0]])
    >>> confusion_percent(T, S).toarray().round(2).tolist()
    [[0.0, 50.0, 0.0], [33.33, 0.0, 0.0], [50.0, 0.0, 0.0]]
    """
    truth, given = T.astype(np.float64), S.astype(np.float64)
    wrong = given - given.multiply(truth)
    documents = np.bincount(T.indices, minlength=T.shape[1])
    found = Csr(truth.T @ wrong)
    found.data *= np.repeat(100.0 / np.maximum(documents, 1), np.diff(found.indptr))
    found.eliminate_zeros()
    return found


def in_occurrences(X: Csr) -> Csr:
    """Weighted vectors in units of their mean stored value; counts as they are.

    Laplace smoothing adds one *occurrence* of every word. A word of a tf-idf vector of length 1 weighs about a tenth of
    that, and the smoothing would drown it: on Reuters, naive Bayes on such vectors finds the label of 66 % of held-out
    documents, of 84 % in these units, and of 83 % on counts.

    >>> in_occurrences(Csr(np.array([[0.1, 0.3]]))).toarray().round(6).tolist()
    [[0.5, 1.5]]
    """
    if X.nnz == 0 or np.array_equal(X.data, np.rint(X.data)):
        return X
    return Csr((X.data / X.data.mean(), X.indices, X.indptr), shape=X.shape)


def held_out_confusion(confuser: MultiLabelModel, X: Csr, Y: Csr, splits: Sequence[Split], multi: bool) -> Csr:
    """`confusion_percent` of documents the confuser did not see: of its best label, or with `multi` of its sets."""
    truth, given = [], []
    for train, test in track("Finding confusions", splits):
        fitted = unfitted_copy(confuser).fit(X[train], Y[train])
        for rows, scores in fitted.score_in_batches(Csr(X[test])):
            chosen = fitted.natural_decision(scores) if multi else best_label(scores)
            truth.append(Y[test[rows]])
            given.append(Csr(chosen.astype(np.int8)))
    if not truth:
        return Csr((Y.shape[1], Y.shape[1]))
    return confusion_percent(Csr(sparse.vstack(truth, format="csr")), Csr(sparse.vstack(given, format="csr")))


def related_labels(parents: npt.ArrayLike, hierarchy: Hierarchy) -> Csr:
    """1 for labels that a hierarchy makes near: parent and child, and with ``siblings`` children of one parent too.

    >>> related_labels([-1, 0, 0], "parents").toarray().tolist()
    [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
    >>> related_labels([-1, 0, 0], "siblings").toarray().tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    parent = np.asarray(parents, dtype=np.int64)
    child = np.flatnonzero(parent >= 0)
    shape = (len(parent), len(parent))
    under = Csr((np.ones(len(child)), (child, parent[child])), shape=shape)
    near: Any = under + under.T
    if hierarchy == "siblings":
        near = near + under @ under.T
    near = sparse.coo_array(near)
    apart = near.row != near.col
    return Csr((np.ones(apart.sum(), dtype=np.int8), (near.row[apart], near.col[apart])), shape=shape)


def confused(M: Csr, beta: float, forced: Csr | None) -> Csr:
    """1 where M_ij > β, or where the confusion of i with j is forced; labels × labels, the diagonal 0."""
    cells = sparse.coo_array(M)
    keep = cells.data > beta
    rows, columns = cells.row[keep], cells.col[keep]
    if forced is not None:
        if forced.shape != M.shape:
            raise DataError(f"The matrix of related labels is {forced.shape}, but there are {M.shape[0]} labels.")
        more = sparse.coo_array(forced)
        rows = np.concatenate([rows, more.row[more.data > 0]])
        columns = np.concatenate([columns, more.col[more.data > 0]])
    apart = rows != columns
    near = Csr((np.ones(apart.sum(), dtype=np.int64), (rows[apart], columns[apart])), shape=M.shape)
    near.sum_duplicates()
    near.data[:] = 1
    return near


def negatives_of_confused(Y: Csr, near: Csr) -> Csr:
    """What each label leaves out: negatives that carry a label it is confused with, documents × labels.

    A label that would be left without any negative leaves out nothing.

    >>> Y = Csr(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]]))
    >>> near = Csr(np.array([[0, 1, 0], [1, 0, 0], [1, 0, 0]]))
    >>> (negatives_of_confused(Y, near).toarray() == 0).T.astype(int).tolist()
    [[1, 0, 1, 0, 1], [0, 1, 1, 1, 1], [0, 1, 0, 1, 1]]
    """
    carriers = Csr(Y.astype(np.int64) @ near.T)
    carriers.data[:] = 1
    left_out = Csr(carriers - carriers.multiply(Y.astype(np.int64)))
    left_out.eliminate_zeros()
    negatives = Y.shape[0] - np.bincount(Y.indices, minlength=Y.shape[1])
    spared = np.bincount(left_out.indices, minlength=Y.shape[1]) >= negatives
    left_out.data[spared[left_out.indices]] = 0
    left_out.eliminate_zeros()
    return left_out.astype(np.int8)
