"""Vectors in the search of the default: a trial in one fold, and the search without them; see docs/decisions/0029."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from manylabel.decisions.base import DecisionRule
from manylabel.decisions.combined import combine, name_members
from manylabel.decisions.scored import Scored
from manylabel.estimator import Csr, unfitted_copy
from manylabel.models.base import MultiLabelModel
from manylabel.models.out_of_fold import OutOfFold
from manylabel.strategies.weighted_member import WeightedMember

MUCH_VECTOR_WORK = 5e7
"""Documents × labels × dimensions from which on vectors are first tried in one fold. With less work that fold has few
documents, and chance decides what gains there."""


@dataclass(frozen=True, slots=True, eq=False)
class VectorTrial:
    """Whether vectors behind the terms help, by out-of-fold scores; and the same documents without them."""

    rule: DecisionRule
    Y: Csr
    documents: OutOfFold
    vectors: int
    """How many of the last columns of the documents are vectors."""

    @property
    def is_much(self) -> bool:
        """Whether models that read vectors take so much work that one fold is asked first."""
        n_documents, n_labels = self.Y.shape
        return float(n_documents) * n_labels * self.vectors > MUCH_VECTOR_WORK

    def gain_in_first_fold(self, terms: Scored, model: MultiLabelModel) -> float:
        """How much a stack of terms, vectors and names of labels gains over the model of the terms.

        Both are compared on the documents of the first fold, in which the stack is cross-fitted.
        """
        found = Scored.of_first_fold(model, self.Y, self.documents)
        rows, before = found.rows, terms.among(found.rows)
        assert isinstance(terms.model, WeightedMember)
        names = [
            Scored.of_first_fold(name, self.Y, self.documents) for name in name_members(terms.model, self.documents)
        ]
        stack = combine([before, found, *names], "stacked", self.rule, Csr(self.Y[rows]), self.documents.among(rows))
        return stack.gain - before.with_rule(self.rule, self.Y).gain

    @property
    def can_go_on(self) -> bool:
        """Whether scores of models that read terms alone are those of documents without vectors.

        False where terms are selected or weighted in each fold.
        """
        return self.documents.features is None

    def without_vectors(self, tried: Sequence[Scored]) -> tuple[list[Scored], OutOfFold]:
        """Models that read terms alone, as they are where X has no vectors, and the documents without vectors."""
        X = Csr(self.documents.X[:, : self.documents.X.shape[1] - self.vectors])
        return [self._of_terms(one, np.diff(X[one.rows].indptr) == 0) for one in tried], replace(self.documents, X=X)

    def _of_terms(self, one: Scored, empty: np.ndarray) -> Scored:
        """A model of the terms; with vectors, documents without a known term were not empty."""
        model = unfitted_copy(one.model).set_everywhere("vectors", 0).set_everywhere("reads", "both")
        found = replace(one, model=model, empty=empty)
        return found if np.array_equal(empty, one.empty) else found.with_rule(self.rule, self.Y)
