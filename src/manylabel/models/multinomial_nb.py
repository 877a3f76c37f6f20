"""Multinomial naive Bayes over labels, smoothed by absolute discounting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints, rows_of_cells
from manylabel.models.count_model import CountModel, LabelTermCounts
from manylabel.models.linear_scores import LinearScores, by_term
from manylabel.models.score_kinds import ScoreKind, posteriors_of_seen
from manylabel.models.smoothing import (
    DISCOUNT,
    SMOOTHING,
    DiscountMethod,
    Prior,
    class_log_prior,
    counts_of_counts,
    label_log_odds,
)
from manylabel.parameters import FLAG, Constraint, Number, OneOf


class MultinomialNaiveBayes(CountModel):
    """Posterior probabilities p(c|x) of the labels by multinomial naive Bayes on replicated documents.

    p(c|x) ∝ p(c) Π_w p(w|c)^{x_w}

    A document with several labels counts once per label. `predict` returns the one best label; a decision rule
    such as `AccumulatedPosterior` returns a set. Source: Vilar, Castro & Sanchis 2004, section 3, eq. 10-25.

    Smoothing of p(w|c):

    absolute            max(0, (N_cw − b)/N_c+) + p(w) M_c, with p(w) the unigram (`unigram`, `unigram_docs`)
                        and b from counts of counts (`b`; see `manylabel.models.smoothing.discount`) of word
                        totals (``counts="marginal"``) or of each class's own counts (``"class"``)
    laplace, lidstone   (N_cw + α)/(N_c+ + α V); two names of one formula

    The unigram counts each labelled document once per label (``"replicated"``) or once (``"documents"``), and
    documents without a label not at all (``"labelled"``) or too (``"all"``); words it never saw are left out
    of every document. `prior` is the share of the (replicated) documents, that share with one document added
    to each class seen (``"add-one"``), or uniform; a label never seen has prior 0 under each. `no_class` adds
    a class made of the documents without label: where it comes first, the whole row of posteriors is 0;
    elsewhere it is taken out and the row scaled to 1.

    Deviations: the equations print one b while calling another "the upper bound"; see `discount`.

    >>> counts = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
    >>> model = MultinomialNaiveBayes(smoothing="laplace").fit(counts, ["yes", "yes", "yes", "no"])
    >>> model.predict_proba([[3, 0, 0, 0, 1, 1]]).round(6).tolist()
    [[0.310241, 0.689759]]
    >>> model.predict([[3, 0, 0, 0, 1, 1]]).tolist()
    ['yes']
    """

    score_kind = ScoreKind.POSTERIOR
    wants: ClassVar[frozenset[str]] = frozenset({"counts_of_counts"})
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "smoothing": SMOOTHING,
        "b": DISCOUNT,
        "counts": OneOf("marginal", "class"),
        "unigram": OneOf("replicated", "documents"),
        "unigram_docs": OneOf("labelled", "all"),
        "alpha": Number(low=0, open_low=True),
        "prior": OneOf("documents", "add-one", "uniform"),
        "no_class": FLAG,
    }
    intercept_: Floats

    def __init__(
        self,
        smoothing: Literal["absolute", "laplace", "lidstone"] = "absolute",
        b: DiscountMethod | float = "upper",
        counts: Literal["marginal", "class"] = "marginal",
        unigram: Literal["replicated", "documents"] = "replicated",
        unigram_docs: Literal["labelled", "all"] = "labelled",
        alpha: float = 1.0,
        prior: Prior = "documents",
        no_class: bool = False,
    ) -> None:
        self.smoothing = smoothing
        self.b = b
        self.counts = counts
        self.unigram = unigram
        self.unigram_docs = unigram_docs
        self.alpha = alpha
        self.prior: Prior = prior
        self.no_class = no_class

    def counts_of_counts(self, counts: Csr, Y: Csr) -> dict[int, int] | None:
        """How many terms occur r times; with ``unigram_docs="all"`` unlabelled documents count once."""
        copies = np.diff(Y.indptr)
        return counts_of_counts(counts.T @ (np.maximum(copies, 1) if self.unigram_docs == "all" else copies))

    def prior_log_odds(self, label_documents: npt.ArrayLike, n_documents: int) -> Floats:
        """The log-odds of each label before a document is read, by `prior`."""
        return label_log_odds(label_documents, n_documents, self.prior)

    # --- the formula --------------------------------------------------------------------------------------

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """The joint score log p(c) + Σ_w x_w log p(w|c) as background plus sparse difference."""
        unigram = self._unigram_counts(table)
        if self.no_class:
            table = table.with_unlabelled_class()
        log_prior = class_log_prior(table.label_documents, self.prior)
        if self.smoothing == "absolute":
            b = self.estimate_discount(table, unigram)
            return _absolute(table.label_terms, log_prior, unigram, b)
        return _lidstone(table.label_terms, log_prior, self.alpha)

    def _unigram_counts(self, table: LabelTermCounts) -> Floats:
        counts = table.replicated_terms if self.unigram == "replicated" else table.labelled_terms
        return counts + table.unlabelled_terms if self.unigram_docs == "all" or self.no_class else counts

    # --- scoring ------------------------------------------------------------------------------------------

    def finish_scores(self, linear: Floats) -> Floats:
        """Posterior probabilities of the labels from the joint log-probabilities."""
        shares = posteriors_of_seen(linear, self.intercept_)
        return _without_last(shares) if self.no_class else shares

    @property
    def is_exportable(self) -> bool:
        """Whether there is no class of documents without a label, which is taken out again after scoring."""
        return not self.no_class

    def decision_function(self, X: object) -> Floats:
        """The posteriors; for a single-label problem of two classes, the log-odds of the second."""
        self.check_fitted()
        if not self.is_two_class or self.no_class:
            return super().decision_function(X)
        joint = self.log_joint(X)
        return np.asarray(joint[:, 1] - joint[:, 0])

    def term_log_probabilities(self, labels: Ints | None = None) -> Floats:
        """Dense log p(w|c), labels × terms: for inspecting a few labels, not for scoring."""
        chosen = np.arange(self.n_labels_) if labels is None else np.asarray(labels)
        return self.linear.weights(np.arange(self.n_features_in_), chosen).T


def _absolute(counts: Csr, log_prior: Floats, unigram_counts: Floats, b: float) -> LinearScores:
    """Linear scores under absolute discounting, as background plus sparse difference.

    log p(w|c) = log p(w) + log M_c + log(1 + (N_cw − b)⁺ / (N_c+ p(w) M_c)), the last term only where N_cw >
    0
    """
    known = unigram_counts > 0
    p = unigram_counts / max(unigram_counts.sum(), 1e-300)
    taken = np.asarray(Csr((np.minimum(b, counts.data), counts.indices, counts.indptr), shape=counts.shape).sum(axis=1))
    total = np.asarray(counts.sum(axis=1))
    taken = np.where(total > 0, taken, 1.0)  # N_c+ M_c; a class without words: M_c = 1, so that p(w|c) = p(w)
    values = np.log1p(np.maximum(0.0, counts.data - b) / (p[counts.indices] * taken[rows_of_cells(counts)]))
    log_p = np.log(np.where(known, p, 1.0))
    return LinearScores(
        intercept=log_prior,
        background=np.column_stack([known.astype(np.float64), log_p]),
        loadings=np.vstack([np.log(taken / np.where(total > 0, total, 1.0)), np.ones(len(total))]),
        difference=by_term(values, counts),
    )


def _lidstone(counts: Csr, log_prior: Floats, alpha: float) -> LinearScores:
    """Linear scores under Lidstone smoothing, as background plus sparse difference.

    log p(w|c) = log α/(N_c+ + αV) + log(1 + N_cw/α), the last term only where N_cw > 0
    """
    n_terms = counts.shape[1]
    total = np.asarray(counts.sum(axis=1))
    return LinearScores(
        intercept=log_prior,
        background=np.ones((n_terms, 1)),
        loadings=(np.log(alpha) - np.log(total + alpha * n_terms))[np.newaxis, :],
        difference=by_term(np.log1p(counts.data / alpha), counts),
    )


def _without_last(shares: Floats) -> Floats:
    """Posteriors without the pseudo label (last column): 0 where it comes first, else scaled to sum to 1."""
    kept = shares[:, :-1].copy()
    # Ties go to the lowest index, so the last column comes first only where it is strictly the largest.
    empty = shares[:, -1] > kept.max(axis=1, initial=0.0)
    kept[empty] = 0.0
    total = kept.sum(axis=1, keepdims=True)
    return np.asarray(kept / np.where(total == 0, 1.0, total), dtype=np.float64)
