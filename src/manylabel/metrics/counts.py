"""Counts per label and per document, from which every metric of predicted label sets is computed.

`Y_true` and `Y_pred` are 0/1 matrices, documents × labels; T and S are the true and the predicted label set of a
document. Counts of batches can be added, so that a corpus of any size is evaluated batch by batch; no dense documents ×
labels matrix is ever built.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Ints, as_csr
from manylabel.exceptions import DataError
from manylabel.wording import counted

LabelMatrix: TypeAlias = "sparse.sparray | sparse.spmatrix | npt.ArrayLike"


@dataclass(frozen=True, slots=True, eq=False)
class LabelCounts:
    """Per label: true positives (tp), false positives (fp), false negatives (fn) and true negatives (tn).

    >>> counts = LabelCounts(tp=[10, 90], fp=[40, 110], fn=[10, 10], tn=[940, 790])
    >>> counts.pooled.tp, counts.pooled.fp, counts.pooled.fn, counts.pooled.tn
    (array([100]), array([150]), array([20]), array([1730]))
    >>> (counts + counts).tp
    array([ 20, 180])
    """

    tp: Ints
    fp: Ints
    fn: Ints
    tn: Ints

    def __post_init__(self) -> None:
        for name in ("tp", "fp", "fn", "tn"):
            object.__setattr__(self, name, np.atleast_1d(np.asarray(getattr(self, name), dtype=np.int64)))
        if not self.tp.shape == self.fp.shape == self.fn.shape == self.tn.shape:
            raise DataError(
                "Label counts need one number per label in each of tp, fp, fn and tn, "
                f"not {self.tp.size}, {self.fp.size}, {self.fn.size} and {self.tn.size} numbers."
            )

    def __len__(self) -> int:
        return int(self.tp.size)

    def __add__(self, other: LabelCounts) -> LabelCounts:
        if len(self) != len(other):
            raise DataError(
                f"Counts of {counted(len(self), 'label')} cannot be added to counts of {counted(len(other), 'label')}."
            )
        return LabelCounts(self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn)

    @property
    def true(self) -> Ints:
        """The number of documents with each label as a true label: tp + fn."""
        return self.tp + self.fn

    @property
    def predicted(self) -> Ints:
        """The number of documents with each label as a predicted label: tp + fp."""
        return self.tp + self.fp

    @property
    def pooled(self) -> LabelCounts:
        """The sum of the counts of all labels, as the counts of one label, from which micro averages are computed."""
        return LabelCounts(*(np.array([count.sum()]) for count in (self.tp, self.fp, self.fn, self.tn)))


@dataclass(frozen=True, slots=True, eq=False)
class DocumentCounts:
    """Per document: the number of right labels |T ∩ S|, true labels |T| and predicted labels |S|, of `labels` in all.

    >>> first = DocumentCounts(right=[1], true=[2], predicted=[1], labels=3)
    >>> second = DocumentCounts(right=[1], true=[1], predicted=[2], labels=3)
    >>> DocumentCounts.concatenate([first, second]).predicted
    array([1, 2])
    """

    right: Ints
    true: Ints
    predicted: Ints
    labels: int

    def __post_init__(self) -> None:
        for name in ("right", "true", "predicted"):
            object.__setattr__(self, name, np.atleast_1d(np.asarray(getattr(self, name), dtype=np.int64)))
        if not self.right.shape == self.true.shape == self.predicted.shape:
            raise DataError(
                "Document counts need one number per document in each of right, true and predicted, "
                f"not {self.right.size}, {self.true.size} and {self.predicted.size} numbers."
            )

    def __len__(self) -> int:
        return int(self.right.size)

    @classmethod
    def concatenate(cls, counts: Iterable[DocumentCounts]) -> DocumentCounts:
        """The counts of several batches of documents, in order."""
        batches = list(counts)
        widths = sorted({batch.labels for batch in batches})
        if len(widths) != 1:
            raise DataError(
                "Batches of document counts must have one number of labels in common, "
                f"but there are {len(batches)} batches with {widths} labels."
            )
        return cls(
            np.concatenate([batch.right for batch in batches]),
            np.concatenate([batch.true for batch in batches]),
            np.concatenate([batch.predicted for batch in batches]),
            widths[0],
        )

    @property
    def labelled(self) -> DocumentCounts:
        """The counts of the documents with at least one true label."""
        keep = self.true > 0
        return DocumentCounts(self.right[keep], self.true[keep], self.predicted[keep], self.labels)


def label_counts(Y_true: LabelMatrix, Y_pred: LabelMatrix) -> LabelCounts:
    """tp, fp, fn and tn per label.

    >>> counts = label_counts([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]])
    >>> counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), counts.tn.tolist()
    ([1, 1, 0], [0, 0, 1], [0, 1, 0], [1, 0, 1])
    """
    true, predicted = _pair(Y_true, Y_pred)
    documents, labels = true.shape
    n_true, n_predicted, tp = (_per_column(Y, labels) for Y in (true, predicted, true.multiply(predicted).tocsr()))
    return LabelCounts(tp, n_predicted - tp, n_true - tp, documents - n_true - n_predicted + tp)


def document_counts(Y_true: LabelMatrix, Y_pred: LabelMatrix) -> DocumentCounts:
    """|T ∩ S|, |T| and |S| per document.

    >>> counts = document_counts([[1, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 1]])
    >>> counts.right.tolist(), counts.true.tolist(), counts.predicted.tolist(), counts.labels
    ([1, 1], [2, 1], [1, 2], 3)
    """
    true, predicted = _pair(Y_true, Y_pred)
    both = true.multiply(predicted).tocsr()
    return DocumentCounts(np.diff(both.indptr), np.diff(true.indptr), np.diff(predicted.indptr), true.shape[1])


def indicator(Y: LabelMatrix, name: str = "Y") -> Csr:
    """Y as a CSR array of ones, without stored zeros, columns sorted; other values than 0 and 1 raise an error.

    The input is never changed. The result shares its storage if it already has this form.

    >>> indicator([[0, 1], [0, 0]]).indices
    array([1], dtype=int32)
    """
    matrix: Any = Csr(as_csr(Y if sparse.issparse(Y) else _table(Y, name)))
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    ones = matrix.data == 1
    if not ones.all():
        if not (ones | (matrix.data == 0)).all():
            odd = matrix.data[~ones & (matrix.data != 0)][0]
            raise DataError(
                f"{name} must hold 0 and 1 only, but holds {odd.item()!r}.",
                remedy="Convert scores to label sets with a decision rule first.",
            )
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    result = Csr((np.ones(matrix.nnz, dtype=np.int8), matrix.indices, matrix.indptr), shape=matrix.shape)
    result.has_canonical_format = True
    return result


def _table(Y: LabelMatrix, name: str) -> npt.NDArray[Any]:
    """Y as an array of two dimensions; lists of labels are an error that names what makes a table of them."""
    try:
        table = np.asarray(Y)
    except ValueError:  # lists of different lengths
        table = np.array(None, dtype=object)
    if table.dtype.kind in "US" or (table.dtype.kind == "O" and table.ndim != 2):
        raise DataError(
            f"{name} must be a table of documents × labels that holds 0 and 1, not lists of labels.",
            remedy="manylabel.data.label_matrix(labels, names) makes one of them; names are all labels.",
        )
    if table.ndim != 2:
        raise DataError(
            f"{name} must be a table of documents × labels, not an array of {table.ndim} dimension(s).",
            remedy="For a single column of 0 and 1, use y.reshape(-1, 1).",
        )
    return table


def _pair(Y_true: LabelMatrix, Y_pred: LabelMatrix) -> tuple[Any, Any]:
    true, predicted = indicator(Y_true, "Y_true"), indicator(Y_pred, "Y_pred")
    if true.shape != predicted.shape:
        raise DataError(
            "Y_true and Y_pred must have the same documents and labels, "
            f"but have shapes {true.shape} and {predicted.shape}."
        )
    return true, predicted


def _per_column(matrix: Any, columns: int) -> Ints:
    return np.bincount(matrix.indices, minlength=columns).astype(np.int64)
