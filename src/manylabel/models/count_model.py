"""Models that are a formula on a table of counts: learned at once, in pieces, or by merging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.counting import LabelTermCounts, count, merge
from manylabel.models.evidence import asked_for, linear_evidence
from manylabel.models.linear_scores import LinearScores
from manylabel.models.pieces import check_piece, merged_shell
from manylabel.models.smoothing import Discount, DiscountMethod, counts_of_counts, discount

_TABLES = tuple(f"{name}_" for name in LabelTermCounts.__dataclass_fields__)


class CountModel(MultiLabelModel):
    """Naive Bayes in any form: `formula` turns the table of counts into linear scores.

    The tables are kept with the model, so that `partial_fit` and `merge` give exactly what `fit` on
    everything would.
    """

    needs_counts: ClassVar[bool] = True
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
        features, targets = check_piece(self, X, Y, classes, first=first)
        if first:
            self._keep_counts_of_counts(counts_of_counts)
        piece = self.count(features, targets.Y)
        self._learn_table(piece if first else merge(self.table, piece))
        return self

    def merge(self, other: Self) -> Self:
        """A new model that knows what both know, as if it had been fitted on the documents of both."""
        merged = merged_shell(self, other)
        given, others = (model.learned_state().get("counts_of_counts_") for model in (self, other))
        if not np.array_equal(_or_none_given(given), _or_none_given(others)):
            raise DataError(
                "The models were given different counts of counts, which do not add up. Fit both with those of "
                "the whole corpus, or with none."
            )
        if given is not None:
            merged.counts_of_counts_ = given
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

    def amounts(self, counts: Floats) -> Floats:
        """What a word that occurs so often counts for; here, as often as it occurs."""
        return counts

    def _read(self, X: Csr) -> Csr:
        return Csr((self.amounts(X.data), X.indices, X.indptr), shape=X.shape)

    def document_scorer(self) -> DocumentScorer:
        """Background and difference of the document's terms only."""
        linear = self.linear

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            finished: Floats = self.finish_scores(linear.of_document(terms, self.amounts(values))[np.newaxis])[0]
            return finished

        return score

    def log_joint(self, X: object) -> Floats:
        """The linear scores intercept + X · weights: log p(c) p(x|c) of classes, up to a constant of the document, or
        the log-odds of labels.
        """
        return self.linear(self._read(self.features(X)))

    def score_batch(self, X: Csr) -> Floats:
        """The linear scores, finished."""
        return self.finish_scores(self.linear(self._read(X)))

    def finish_scores(self, linear: Floats) -> Floats:
        """What a method makes of the linear scores; here they are the scores."""
        return linear

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each word of one document adds to the linear scores of some labels (default: all), labels × terms.

        Intercept and evidence add up to `log_joint`: to the scores themselves, or, where these are posteriors, to the
        log p(c) p(x|c) they are made of.
        """
        document, wanted = asked_for(self, x, labels)
        return linear_evidence(self.linear, self._read(document), wanted)


def _or_none_given(counts: Ints | None) -> Ints:
    return np.zeros((0, 2), dtype=np.int64) if counts is None else counts
