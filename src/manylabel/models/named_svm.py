"""Linear SVMs to whose weights the words of label names were added."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from manylabel.estimator import Csr, Ints
from manylabel.models.linear_svm import LinearSVM
from manylabel.stored import Matrix, Sometimes, Stored


class NamedSVM(LinearSVM):
    """A `LinearSVM` with weights that documents taught and weights that label names add.

    w = w_documents + w_names

    `weights_` is the sum, so that documents are scored, explained and exported as by any linear model. The part of the
    names is kept beside it (`added_`): `refit` learns the part of the documents anew and adds the names again.

    >>> X, Y = Csr([[1.0, 0.0], [0.0, 1.0]]), Csr([[1, 0], [0, 1]])
    >>> svm = LinearSVM().fit(X, Y)
    >>> named = NamedSVM.of(svm, Csr([[2.0, 0.0], [0.0, 0.0]]))
    >>> (named.score_batch(X) - svm.score_batch(X)).round(6).tolist()
    [[2.0, 0.0], [0.0, 0.0]]
    """

    added_: Csr
    """The weights that names add, terms × labels."""

    learned: ClassVar[Mapping[str, Stored]] = {
        **LinearSVM.learned,
        "added_": Sometimes(Matrix("terms", "labels")),
    }

    @classmethod
    def of(cls, svm: LinearSVM, names: Csr) -> Self:
        """A fitted SVM with the weights of names, labels × the first terms."""
        named, weights = cls(**svm.get_params(deep=False)).restore(svm.learned_state()), svm.weights_
        table = Csr(names.T.tocsr())
        further = np.full(weights.shape[0] - table.shape[0], table.nnz, dtype=table.indptr.dtype)
        added = Csr((table.data, table.indices, np.concatenate([table.indptr, further])), shape=weights.shape)
        named.added_, named.weights_ = added, _sum(weights, added)
        return named

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> Self:
        """See `LinearSVM.refit`; known labels keep the weights of their names, new ones have none."""
        state = self.learned_state()
        names = state.pop("added_", Csr(self.weights_.shape))
        documents = {**state, "weights_": _sum(self.weights_, Csr(-names))}
        plain = LinearSVM(**self.get_params(deep=False)).restore(documents).refit(X, Y, columns, **facts)
        known = np.flatnonzero(columns >= 0)
        cells = np.ones(len(known), dtype=np.int8), (known, columns[known])
        return self.of(plain, Csr(Csr(cells, shape=(len(columns), self.n_labels_)) @ names.T))


def _sum(weights: Any, added: Csr) -> Any:
    """Weights as they are stored, with more of them."""
    total = weights + added
    if isinstance(weights, np.ndarray):
        return np.asarray(total).astype(weights.dtype)
    return Csr(total, dtype=weights.dtype)
