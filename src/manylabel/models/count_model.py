"""Naive Bayes and its relatives: a formula on a table of term counts per label.

The tables are additive: they are counted in pieces and merged in any order, so that `fit`, `partial_fit` and `merge`
give the same model. A document with several labels counts once per label, which is the replication of Vilar, Castro &
Sanchis 2004 written as a matrix product, N_cw = YᵀX.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError
from manylabel.kernels.label_tables import count_terms_by
from manylabel.models.base import DocumentScorer, MultiLabelModel
from manylabel.models.evidence import LOG_JOINT, ScoreParts, asked_for, linear_evidence
from manylabel.models.exported import ExportedScores, LinearBlock
from manylabel.models.inputs import check_piece, merged_shell
from manylabel.models.linear_scores import LinearScores, linear_scores
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.smoothing import Discount, DiscountMethod, counts_of_counts, discount
from manylabel.stored import Either, Flag, Matrix, Maybe, Scalar, Sometimes, Stored, amounts, wholes


@dataclass(frozen=True, slots=True)
class LabelTermCounts:
    """Term counts of a corpus by label. The tables of two parts add up to the table of the whole.

    >>> X = Csr(np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]], dtype=float))
    >>> Y = Csr(np.array([[1, 0], [0, 1], [1, 1], [0, 0]]))
    >>> table = count(X, Y)
    >>> table.label_documents.tolist(), table.label_terms.toarray().tolist()
    ([2, 2], [[3.0, 1.0, 1.0], [1.0, 3.0, 1.0]])
    >>> table.labelled_terms.tolist(), table.unlabelled_terms.tolist()
    ([3.0, 3.0, 2.0], [0.0, 0.0, 3.0])
    """

    label_documents: Ints
    """N_c: documents that carry the label."""
    label_terms: Csr
    """N_cw: occurrences of each term in the documents of each label, labels × terms."""
    labelled_terms: Floats
    """Occurrences of each term in documents with a label, each document once."""
    unlabelled_terms: Floats
    """Occurrences of each term in documents without a label."""
    labelled_documents: int
    unlabelled_documents: int

    @property
    def replicated_terms(self) -> Floats:
        """Σ_c N_cw: occurrences of each term, a document counted once per label."""
        return np.asarray(self.label_terms.sum(axis=0), dtype=np.float64)

    @property
    def label_totals(self) -> Floats:
        """N_c+: the term occurrences in each label's documents."""
        return np.asarray(self.label_terms.sum(axis=1), dtype=np.float64)

    def with_unlabelled_class(self) -> LabelTermCounts:
        """The table with one class more, made of the documents without a label."""
        last = self.unlabelled_terms
        terms = np.flatnonzero(last)
        table = self.label_terms
        extended = Csr(
            (
                np.concatenate([table.data, last[terms]]),
                np.concatenate([table.indices, terms]),
                np.concatenate([table.indptr, [table.nnz + len(terms)]]),
            ),
            shape=(table.shape[0] + 1, table.shape[1]),
        )
        documents = np.append(self.label_documents, self.unlabelled_documents)
        return LabelTermCounts(
            documents,
            extended,
            self.labelled_terms + last,
            np.zeros_like(last),
            self.labelled_documents + self.unlabelled_documents,
            0,
        )

    def times(self, weight: float) -> LabelTermCounts:
        """The table of the same documents, each counted `weight` times; document counts become fractions."""
        return LabelTermCounts(**{item.name: getattr(self, item.name) * weight for item in fields(self)})

    def __add__(self, other: LabelTermCounts) -> LabelTermCounts:
        return merge(self, other)

    def as_learned(self) -> dict[str, Any]:
        """The tables under the names a model keeps them by (with a trailing underscore)."""
        return {f"{item.name}_": getattr(self, item.name) for item in fields(self)}

    @classmethod
    def from_learned(cls, state: Any) -> LabelTermCounts:
        """The tables a model keeps, as attributes; the reverse of `as_learned`."""
        return cls(**{item.name: getattr(state, f"{item.name}_") for item in fields(cls)})


def count(X: Csr, Y: Csr) -> LabelTermCounts:
    """Count the terms of X by the labels of Y: N_c, N_cw = YᵀX, and those of unlabelled documents."""
    label_terms = count_terms_by(Y, X)
    sizes = np.diff(Y.indptr)
    unlabelled = sizes == 0
    by_term = X.T
    labelled = np.asarray(by_term @ (~unlabelled).astype(np.float64))
    without = np.asarray(by_term @ unlabelled.astype(np.float64)) if unlabelled.any() else np.zeros(X.shape[1])
    return LabelTermCounts(
        label_documents=np.bincount(Y.indices, minlength=Y.shape[1]).astype(np.int64),
        label_terms=label_terms,
        labelled_terms=labelled,
        unlabelled_terms=without,
        labelled_documents=int(len(sizes) - unlabelled.sum()),
        unlabelled_documents=int(unlabelled.sum()),
    )


def merge(first: LabelTermCounts, second: LabelTermCounts) -> LabelTermCounts:
    """The table of both parts together; associative and commutative (exactly so for whole counts)."""
    if first.label_terms.shape != second.label_terms.shape:
        raise DataError(
            f"Tables of {first.label_terms.shape} and {second.label_terms.shape} labels × terms cannot be "
            "merged. Count both with the same labels and the same vocabulary."
        )
    label_terms = Csr(first.label_terms + second.label_terms)
    label_terms.sort_indices()
    return LabelTermCounts(
        first.label_documents + second.label_documents,
        label_terms,
        first.labelled_terms + second.labelled_terms,
        first.unlabelled_terms + second.unlabelled_terms,
        first.labelled_documents + second.labelled_documents,
        first.unlabelled_documents + second.unlabelled_documents,
    )


class CountModel(MultiLabelModel):
    """Naive Bayes in any form: `formula` turns the table of counts into linear scores.

    The tables are kept with the model, so that `partial_fit` and `merge` give the same model as `fit` on
    all documents.
    """

    needs_counts: ClassVar[bool] = True
    weighs_documents: ClassVar[bool] = True
    b: DiscountMethod | float
    counts: str

    discount_: float
    discount_is_fallback_: bool
    label_terms_: Csr | None = None
    """The term counts of each label, labels × terms; None before the first documents."""
    counts_of_counts_: Ints | None = None
    """Pairs of r and n_r, if they were passed to `fit`."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "discount_": Sometimes(Scalar()),
        "discount_is_fallback_": Sometimes(Flag()),
        "counts_of_counts_": Sometimes(Maybe(wholes(None, None))),
        "label_documents_": Either(wholes("labels"), amounts("labels")),  # sums of weights, where documents are weighed
        "label_terms_": Sometimes(Maybe(Matrix("labels", "counted", low=0))),
        "labelled_terms_": Sometimes(amounts("counted"), "label_terms_"),
        "unlabelled_terms_": Sometimes(amounts("counted"), "label_terms_"),
        "labelled_documents_": Sometimes(Scalar(low=0), "label_terms_"),
        "unlabelled_documents_": Sometimes(Scalar(low=0), "label_terms_"),
        **linear_scores("terms"),
    }

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """The linear scores that follow from a table of counts."""
        raise NotImplementedError

    # --- counting -----------------------------------------------------------------------------------------

    def fit(self, X: object, Y: object, *, counts_of_counts: Mapping[int, int] | None = None) -> Self:
        """Learn from counts `X` and labels `Y`.

        `counts_of_counts` maps r to n_r, the number of terms with total count r, counted before rare terms
        were pruned from the vocabulary: pruning removes the terms of count 1 that the discount b is estimated
        from.
        """
        features, targets = self.check_training(X, Y)
        self._keep_counts_of_counts(counts_of_counts)
        self.learn(features, targets.Y)
        return self

    def fit_weighted(self, X: object, Y: object, weights: npt.ArrayLike) -> Self:
        """Learn from counts, those of each document multiplied by its weight: weight 2 counts a document twice."""
        features, targets = self.check_training(X, Y)
        given = np.asarray(weights, dtype=np.float64)
        parts = (
            self.count(Csr(features[rows]), Csr(targets.Y[rows])).times(weight)
            for weight in np.unique(given).tolist()
            for rows in (np.flatnonzero(given == weight),)
        )
        self._learn_table(reduce(merge, parts))
        return self

    def fit_table(self, table: LabelTermCounts, *, counts_of_counts: Mapping[int, int] | None = None) -> Self:
        """Learn from a table of counts: the same model as `fit` on the documents that were counted."""
        self.check_parameters()
        self.forget()
        self.note_shape(table.label_terms.shape[1], table.label_terms.shape[0])
        self._keep_counts_of_counts(counts_of_counts)
        self._learn_table(table)
        return self

    def learn(self, X: Csr, Y: Csr) -> None:
        """Count, then apply the formula."""
        self._learn_table(self.count(X, Y))

    def count(self, X: Csr, Y: Csr) -> LabelTermCounts:
        """The additive table that `formula` reads: the terms of X by the labels of Y."""
        return count(X, Y)

    @property
    def is_additive(self) -> bool:
        """True: the tables of pieces add up."""
        return True

    def partial_fit(
        self,
        X: object,
        Y: object,
        classes: npt.ArrayLike | None = None,
        *,
        counts_of_counts: Mapping[int, int] | None = None,
    ) -> Self:
        """Learn from more documents; pieces in any order give the same model as `fit` on all of them.

        `classes` names all classes of a 1-D `y` and is needed with the first piece only.
        """
        first = self.label_terms_ is None
        features, targets = check_piece(self, X, Y, classes, first=first)
        if first:
            self._keep_counts_of_counts(counts_of_counts)
        piece = self.count(features, targets.Y)
        self._learn_table(piece if first else merge(self.table, piece))
        return self

    def merge(self, other: Self) -> Self:
        """A new model, the same as one fitted on the documents of both."""
        merged = merged_shell(self, other)
        given, others = (_or_none_given(model.counts_of_counts_) for model in (self, other))
        if not np.array_equal(given, others):
            raise DataError(
                "The models were fitted with different counts of counts, which do not add up. Fit both with those "
                "of the whole corpus, or with none."
            )
        if self.counts_of_counts_ is not None:
            merged.counts_of_counts_ = self.counts_of_counts_
        merged._learn_table(merge(self.table, other.table))
        return merged

    @property
    def counts_labels(self) -> bool:
        """Whether the table is kept: always but for prototypes with zones, see `Rocchio`."""
        return self.label_terms_ is not None

    def regrouped(self, groups: Csr) -> Self:
        """The model of other labels, whose counts are sums of those of groups of these."""
        made, table = unfitted_copy(self), self.table
        made.n_features_in_, made.n_labels_ = self.n_features_in_, groups.shape[0]
        made.classes_, made.label_form_ = np.arange(groups.shape[0]), self.label_form_
        if self.counts_of_counts_ is not None:
            made.counts_of_counts_ = self.counts_of_counts_
        label_terms = Csr(groups.astype(np.float64) @ table.label_terms)
        label_terms.sort_indices()
        documents = groups.astype(table.label_documents.dtype) @ table.label_documents
        made._learn_table(replace(table, label_documents=documents, label_terms=label_terms))
        return made

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> MultiLabelModel:
        """Count again; the discount stays where it was estimated before rare terms were pruned."""
        known = self.counts_of_counts_
        given = {} if known is None else {"counts_of_counts": dict(known.tolist())}
        return unfitted_copy(self).fit(X, Y, **{**given, **facts})

    @property
    def table(self) -> LabelTermCounts:
        """The counts this model was learned from."""
        return LabelTermCounts.from_learned(self)

    def _learn_table(self, table: LabelTermCounts) -> None:
        self.restore(table.as_learned() | self.formula(table).as_learned())

    def _keep_counts_of_counts(self, given: Mapping[int, int] | None) -> None:
        if given is not None:
            self.counts_of_counts_ = np.array(sorted(given.items()), dtype=np.int64).reshape(-1, 2)

    # --- the discount -------------------------------------------------------------------------------------

    def estimate_discount(self, table: LabelTermCounts, totals: Floats) -> float:
        """The discount b from counts of counts: passed to `fit`, of term totals, or of each class's counts."""
        if self.counts_of_counts_ is not None:
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
        """The amounts that enter the formula for terms with such counts; here the counts themselves."""
        return counts

    def _read(self, X: Csr) -> Csr:
        return Csr((self.amounts(X.data), X.indices, X.indptr), shape=X.shape)

    def document_scorer(self) -> DocumentScorer:
        """A scorer that reads the weights of the document's terms only."""
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
        """The scores of documents: `finish_scores` of the linear scores."""
        return self.finish_scores(self.linear(self._read(X)))

    def finish_scores(self, linear: Floats) -> Floats:
        """The scores computed from the linear scores; here they are the same."""
        return linear

    @property
    def is_exportable(self) -> bool:
        """True: every formula gives linear scores."""
        return True

    def exported_scores(self) -> ExportedScores:
        """The linear scores, from which posteriors are computed if the scores are posteriors."""
        is_posterior = self.score_kind is ScoreKind.POSTERIOR
        return ExportedScores((LinearBlock.of(self.linear, is_posterior=is_posterior),), (self.score_kind,))

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the linear scores of some labels (default: all), labels × terms.

        Intercept and evidence add up to `log_joint`: to the scores themselves, or, where these are posteriors, to the
        log p(c) p(x|c) they are made of.
        """
        document, wanted = asked_for(self, x, labels)
        return linear_evidence(self.linear, self._read(document), wanted)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's linear scores, from which posteriors are computed."""
        document, wanted = asked_for(self, x, labels)
        linear = self.linear
        return ScoreParts(
            self.evidence(document, wanted),
            self.log_joint(document)[0, wanted],
            linear.intercept[wanted],
            quantity=LOG_JOINT if self.score_kind is ScoreKind.POSTERIOR else "score",
        )


def _or_none_given(counts: Ints | None) -> Ints:
    return np.zeros((0, 2), dtype=np.int64) if counts is None else counts
