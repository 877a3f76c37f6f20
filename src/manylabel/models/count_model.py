"""Models that are a formula on a table of counts: learned at once, in pieces, or by merging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.kernels.label_tables import score_one
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.counting import LabelTermCounts, count, merge
from manylabel.models.inputs import check_features, check_targets
from manylabel.models.linear_scores import LinearScores
from manylabel.models.smoothing import Discount, DiscountMethod, counts_of_counts, discount

_TABLES = tuple(f"{name}_" for name in LabelTermCounts.__dataclass_fields__)


class CountModel(MultiLabelModel):
    """Naive Bayes in any form: `formula` turns the table of counts into linear scores.

    The tables are kept with the model, so that `partial_fit` and `merge` give exactly what `fit` on
    everything would.
    """

    needs_counts: ClassVar[bool] = True
    wants: ClassVar[frozenset[str]] = frozenset({"counts_of_counts"})
    b: DiscountMethod | float
    counts: str

    discount_: float
    discount_is_fallback_: bool
    counts_of_counts_: Ints

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """The scores this table of counts gives."""
        raise NotImplementedError

    # --- counting -----------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, *, counts_of_counts: Mapping[int, int] | None = None) -> Self:
        """Learn from counts `X` and labels `Y`.

        `counts_of_counts` maps r to n_r, the number of words with total count r, counted before rare words
        were pruned from the vocabulary: pruning removes the words of count 1 that the discount b is estimated
        from.
        """
        features, targets = self.check_training(X, Y)
        self._keep_counts_of_counts(counts_of_counts)
        self.learn(features, targets.Y)
        return self

    def learn(self, X: Csr, Y: Csr) -> None:
        """Count, then apply the formula."""
        self._learn_table(self.count(X, Y))

    def count(self, X: Csr, Y: Csr) -> LabelTermCounts:
        """The additive table this method is a formula of: the words of X by the labels of Y."""
        return count(X, Y)

    def partial_fit(
        self,
        X: object,
        Y: object,
        classes: npt.ArrayLike | None = None,
        *,
        counts_of_counts: Mapping[int, int] | None = None,
    ) -> Self:
        """Learn from more documents; pieces in any order give what `fit` on all of them gives.

        `classes` names all classes of a 1-D `y` and is needed with the first piece only.
        """
        first = not hasattr(self, "label_terms_")
        if first:
            self.check_parameters()
        features = check_features(self, X, reset=first, non_negative=True)
        if classes is None and not first and self.label_form_ == "single":
            classes = self.classes_
        known = None if classes is None else np.unique(np.asarray(classes))
        targets = check_targets(self, Y, features.shape[0], known)
        if first:
            if targets.form == "single" and classes is None:
                raise DataError(
                    "classes must be passed on the first call to partial_fit when y is one class a document."
                )
            self.note_targets(targets)
            self._keep_counts_of_counts(counts_of_counts)
        elif not np.array_equal(targets.classes, self.classes_):
            raise DataError(
                "`classes` is not the same as on the last call to partial_fit: "
                f"{targets.classes!r}, not {self.classes_!r}."
            )
        piece = self.count(features, targets.Y)
        self._learn_table(piece if first else merge(self.table, piece))
        return self

    def merge(self, other: Self) -> Self:
        """A new model that knows what both know, as if it had been fitted on the documents of both."""
        self.check_fitted()
        other.check_fitted()
        if self.get_params() != other.get_params() or not np.array_equal(self.classes_, other.classes_):
            raise DataError("Only models with the same parameters, labels and vocabulary can be merged.")
        given, others = (model.learned_state().get("counts_of_counts_") for model in (self, other))
        if not np.array_equal(_or_none_given(given), _or_none_given(others)):
            raise DataError(
                "The models were given different counts of counts, which do not add up. Fit both with those of "
                "the whole corpus, or with none."
            )
        merged = type(self)(**self.get_params(deep=False))
        if given is not None:
            merged.counts_of_counts_ = given
        merged.n_features_in_, merged.n_labels_ = self.n_features_in_, self.n_labels_
        merged.classes_, merged.label_form_ = self.classes_, self.label_form_
        merged._learn_table(merge(self.table, other.table))
        return merged

    @property
    def table(self) -> LabelTermCounts:
        """The counts this model was learned from."""
        return LabelTermCounts.from_learned({name: getattr(self, name) for name in _TABLES})

    def _learn_table(self, table: LabelTermCounts) -> None:
        learned: dict[str, Any] = table.as_learned() | self.formula(table).as_learned()
        for name, value in learned.items():
            setattr(self, name, value)

    def _keep_counts_of_counts(self, given: Mapping[int, int] | None) -> None:
        if given is not None:
            self.counts_of_counts_ = np.array(sorted(given.items()), dtype=np.int64).reshape(-1, 2)

    # --- the discount -------------------------------------------------------------------------------------

    def estimate_discount(self, table: LabelTermCounts, totals: Floats) -> float:
        """The discount b from counts of counts: given to `fit`, of word totals, or of each class's counts."""
        if hasattr(self, "counts_of_counts_"):
            n_r = dict(self.counts_of_counts_.tolist())
        else:
            n_r = counts_of_counts(totals if self.counts == "marginal" else table.label_terms.data)
        estimate: Discount = discount(n_r, self.b)
        self.discount_, self.discount_is_fallback_ = estimate.b, estimate.is_fallback
        return estimate.b

    # --- scoring ------------------------------------------------------------------------------------------

    @property
    def linear(self) -> LinearScores:
        """The learned scores as a low-rank plus sparse linear model."""
        self.check_fitted()
        return LinearScores.from_learned(self)

    def document_scorer(self) -> DocumentScorer | None:
        """Background and difference of the document's terms only; None where a method scores in its own way."""
        if type(self).score_batch is not CountModel.score_batch:
            return None
        linear, finish = self.linear, self.finish_scores
        table = (linear.difference.indptr, linear.difference.indices, linear.difference.data)

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            scores = np.zeros(len(linear.intercept))
            score_one(terms, values, *table, scores)
            scores += (values @ linear.background[terms]) @ linear.loadings
            scores += linear.intercept
            finished: Floats = finish(scores[np.newaxis])[0]
            return finished

        return score

    def score_batch(self, X: Csr) -> Floats:
        """The linear scores intercept + X · weights, finished."""
        return self.finish_scores(self.linear(X))

    def finish_scores(self, linear: Floats) -> Floats:
        """What a method makes of the linear scores; here they are the scores."""
        return linear


def _or_none_given(counts: Ints | None) -> Ints:
    return np.zeros((0, 2), dtype=np.int64) if counts is None else counts
