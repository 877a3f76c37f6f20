"""What may be asked of a fitted model when its labels or its documents change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from manylabel.estimator import Csr, Estimator, Ints

if TYPE_CHECKING:
    from manylabel.models.base import MultiLabelModel


class ChangingModel(Estimator):
    """The part of `MultiLabelModel` that makes other models of a fitted one; each method has a default."""

    def of_labels(self, columns: Ints) -> MultiLabelModel:
        """The fitted model with some of its labels, in this order; their scores stay as they are.

        A method with a column per label takes these columns. Any other keeps all that it learned inside.
        """
        from manylabel.models.label_columns import LabelColumns

        whole = cast("MultiLabelModel", self)
        if np.array_equal(columns, np.arange(whole.n_labels_)):
            return whole
        return LabelColumns.of(whole).of_labels(columns)

    def beside(self, other: MultiLabelModel) -> MultiLabelModel:
        """The fitted model with the labels of another one behind its own. Only if `independent_labels`."""
        from manylabel.models.label_columns import LabelColumns

        return LabelColumns.of(cast("MultiLabelModel", self), other)

    @property
    def counts_labels(self) -> bool:
        """Whether the fitted model keeps counts by label: then there are `regrouped` and `partial_fit`."""
        return False

    def regrouped(self, groups: Csr) -> Self:
        """The fitted model of other labels, each with the counts of some of these; only if `counts_labels`.

        `groups` is new labels × labels, 0 and 1. A new label without any is one that no document has so far. A document
        with several labels of a group counts once for each.
        """
        raise NotImplementedError

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> MultiLabelModel:
        """A model with the same settings, fitted to other documents with the same terms, which it weighs as this one.

        Labels may be others: `columns` holds for each label of Y the column it has here, −1 for a new one. A method
        that can start from an earlier solution starts from that of these columns.
        """
        from manylabel.estimator import unfitted_copy

        return unfitted_copy(cast("MultiLabelModel", self)).fit(X, Y, **facts)
