"""Linear scores s = intercept + X · W of documents, with the weights W (terms × labels) stored in few numbers.

The weights of naive Bayes have no zeros. They are, though, the sum of a matrix of very low rank (the weights of terms
that never occurred with a label) and a sparse one (the terms that did). So the cost of a label depends on the terms it
occurred with alone:

    W = background · loadings + difference

`LinearScores` stores this form, `DenseScores` a dense W.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.kernels.label_tables import score_one
from manylabel.kernels.score_batches import batch_scores
from manylabel.stored import Either, Matrix, Stored, reals


@dataclass(frozen=True, slots=True)
class LinearScores:
    """A linear model of documents × labels scores whose weights are low-rank plus sparse."""

    intercept: Floats
    """One number per label; ±∞ for a label that is never or always predicted."""
    background: Floats | Csr
    """Terms × components, of which there are few; sparse where each term belongs to one of many groups."""
    loadings: Floats
    """Components × labels."""
    difference: Csr
    """Terms × labels; stored only where the term occurred with the label."""

    def __call__(self, X: Csr) -> Floats:
        """The scores intercept + X · (background · loadings + difference), documents × labels.

        They are added in the order of `of_document`, without BLAS, so that both agree to the bit.
        """
        scores = batch_scores(X, self.difference)
        if isinstance(self.background, np.ndarray):
            # The intercept as one more row of the loadings: one pass over the scores instead of two.
            part = np.column_stack([batch_scores(X, self.background), np.ones(X.shape[0])])
            return batch_scores(part, np.vstack([self.loadings, self.intercept]), onto=scores)
        groups = Csr(X @ self.background)
        groups.sort_indices()
        scores = batch_scores(groups, self.loadings, onto=scores)
        scores += self.intercept
        return scores

    def of_document(self, terms: npt.NDArray[np.int32], values: Floats) -> Floats:
        """The scores of one document given as its terms and values, by gathering the rows of its terms."""
        table, scores = self.difference, np.zeros(len(self.intercept))
        score_one(terms, values, table.indptr, table.indices, table.data, scores)
        part, background = np.zeros(len(self.loadings)), self.background
        if isinstance(background, np.ndarray):
            score_one(terms, values, None, None, background, part)
            rows = np.arange(len(part), dtype=np.int32)
        else:
            score_one(terms, values, background.indptr, background.indices, background.data, part)
            rows = np.flatnonzero(part).astype(np.int32)
        score_one(rows, part[rows], None, None, self.loadings, scores)
        scores += self.intercept
        return scores

    def weights(self, terms: Ints, labels: Ints) -> Floats:
        """The weights of some terms for some labels: what one occurrence adds to the score."""
        chosen = self.difference[terms][:, labels].toarray()
        return np.asarray(self.background[terms] @ self.loadings[:, labels] + chosen, dtype=np.float64)

    def as_learned(self) -> dict[str, Any]:
        """The arrays under the names a model keeps them by."""
        return {f"{item.name}_": getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_learned(cls, state: Any) -> LinearScores:
        """The arrays a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(**{item.name: getattr(state, f"{item.name}_") for item in fields(cls)})


@dataclass(frozen=True, slots=True)
class DenseScores:
    """A linear model of documents × labels scores, intercept + X · W, whose weights W are dense."""

    intercept: Floats
    dense_weights: Floats
    """Terms × labels."""

    def __call__(self, X: Csr) -> Floats:
        """The scores, documents × labels."""
        return np.asarray(X @ self.dense_weights + self.intercept, dtype=np.float64)

    def of_document(self, terms: npt.NDArray[np.int32], values: Floats) -> Floats:
        """The scores of one document given as its terms and values, by gathering the rows of its terms."""
        scores = np.zeros(len(self.intercept))
        score_one(terms, values, None, None, self.dense_weights, scores)
        scores += self.intercept
        return scores

    def weights(self, terms: Ints, labels: Ints) -> Floats:
        """The weights of some terms for some labels."""
        return np.asarray(self.dense_weights[np.ix_(terms, labels)])

    def as_learned(self) -> dict[str, Any]:
        """The arrays under the names a model keeps them by."""
        return {"intercept_": self.intercept, "dense_weights_": self.dense_weights}

    @classmethod
    def from_learned(cls, state: Any) -> DenseScores:
        """The arrays a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(state.intercept_, state.dense_weights_)


def linear_scores(cells: str) -> dict[str, Stored]:
    """What a model stores of `LinearScores`, whose rows are `cells`."""
    return {
        "intercept_": reals("labels"),
        "background_": Either(reals(cells, "ranks"), Matrix(cells, "ranks")),
        "loadings_": reals("ranks", "labels"),
        "difference_": Matrix(cells, "labels"),
    }


def by_term(values: Floats, pattern: Csr) -> Csr:
    """Values on the pattern of a labels × terms table, as terms × labels without stored zeros."""
    kept = values != 0
    if kept.all():
        return Csr(Csr((values, pattern.indices, pattern.indptr), shape=pattern.shape).T.tocsr())
    indptr = np.concatenate([[0], np.cumsum(kept)])[pattern.indptr]
    return Csr(Csr((values[kept], pattern.indices[kept], indptr), shape=pattern.shape).T.tocsr())


def scaled_rows(table: Csr, factors: Floats) -> Csr:
    """The table with each row multiplied by a factor."""
    return Csr((table.data * np.repeat(factors, np.diff(table.indptr)), table.indices, table.indptr), shape=table.shape)
