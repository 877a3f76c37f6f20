"""Models that are learned from one additive table: the documents with each value of each term, by label."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel
from manylabel.models.inputs import check_piece, merged_shell
from manylabel.models.value_counts import STORED_TABLE, ValueTable, tabulate
from manylabel.stored import Stored


class ValueTableModel(MultiLabelModel):
    """A model that counts the values of terms and learns from the counts, at once or in pieces.

    Subclasses implement `learn_table` and may implement `check_columns`. `is_additive` declares that the table is all
    that they learn from. `keep_counts` keeps it, so that `partial_fit` can add to it and `merge` can add two of them.
    """

    target: Literal["labels", "classes"]
    keep_counts: bool

    table_values_: Csr | None = None
    """The values of the kept table of counts; None where counts were not kept."""

    learned: ClassVar[Mapping[str, Stored]] = {**STORED_TABLE}

    def check_columns(self, n_columns: int, n_labels: int) -> None:
        """Raise an error where the parameters do not fit the number of columns and labels."""

    def learn_table(self, table: ValueTable, X: Csr, Y: Csr) -> None:
        """Learn from the counted values; the documents themselves may be read only where not `is_additive`."""
        raise NotImplementedError

    def learn(self, X: Csr, Y: Csr) -> None:
        """Count the values, then learn from the table."""
        self.check_columns(X.shape[1], Y.shape[1])
        table, X, Y = self._tabulate(X, Y)
        if self.keep_counts and self.is_additive:
            table = table.condensed()
            self.restore(table.as_learned())
        self.learn_table(table, X, Y)

    def count(self, X: Csr, Y: Csr) -> ValueTable:
        """The table of the values of X by the labels of Y."""
        return self._tabulate(X, Y)[0].condensed()

    def fit_table(self, table: ValueTable) -> Self:
        """Learn from a table: the same model as `fit` on the documents that were counted; only without refinement."""
        n_terms, n_labels = table.values.shape[1], table.label_rows.shape[0]
        self.check_parameters()
        self.check_columns(n_terms, n_labels)
        self.forget()
        self.note_shape(n_terms, n_labels)
        if self.keep_counts:
            self.restore(table.as_learned())
        X, Y = (Csr(np.zeros((0, width))) for width in (n_terms, n_labels))
        self.learn_table(table, X, Y)
        return self

    def _tabulate(self, X: Csr, Y: Csr) -> tuple[ValueTable, Csr, Csr]:
        """The counted values, and the documents they were counted in; for classes, only those with a label."""
        if self.target == "labels":
            return tabulate(X, Y, np.ones(X.shape[0])), X, Y
        labelled = np.diff(Y.indptr) > 0
        X, Y = Csr(X[labelled]), Csr(Y[labelled])
        return tabulate(X, Y, np.diff(Y.indptr).astype(np.float64)), X, Y

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """``partial_fit(X, Y, classes=None)``: learn from more documents; only without refinement.

        Pieces in any order give the same model as `fit` on all of them. The counts are always kept.
        """
        if not self.is_additive:
            raise AttributeError(
                f"{type(self).__name__} with refine='cll' cannot learn in pieces: every step of the refinement "
                "reads all documents. Use refine='none'."
            )
        return self._partial_fit

    def _partial_fit(self, X: object, Y: object, classes: npt.ArrayLike | None = None) -> Self:
        first = not self.is_fitted
        if not first and self.table_values_ is None:
            raise DataError(f"{type(self).__name__} has kept no counts to add to. Fit it with keep_counts=True.")
        features, targets = check_piece(self, X, Y, classes, first=first)
        self.check_columns(features.shape[1], targets.Y.shape[1])
        piece, X, Y = self._tabulate(features, targets.Y)
        table = piece.condensed() if first else ValueTable.from_learned(self) + piece
        self.restore(table.as_learned())
        self.learn_table(table, X, Y)
        return self

    def merge(self, other: Self) -> Self:
        """A new model, the same as one fitted on the documents of both."""
        merged = merged_shell(self, other)
        if self.table_values_ is None or other.table_values_ is None:
            raise DataError(
                f"{type(self).__name__}: only models that kept their counts can be merged. Fit both with "
                "keep_counts=True and refine='none'."
            )
        table = ValueTable.from_learned(self) + ValueTable.from_learned(other)
        X, Y = (Csr(np.zeros((0, width))) for width in (self.n_features_in_, self.n_labels_))
        merged.restore(table.as_learned())
        merged.learn_table(table, X, Y)
        return merged
