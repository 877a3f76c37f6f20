"""One two-class multinomial naive Bayes a label, all learned from one table of counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.estimator import Floats
from manylabel.models.count_model import CountModel
from manylabel.models.counting import LabelTermCounts
from manylabel.models.linear_scores import LinearScores, by_term
from manylabel.models.rest_discounting import absolute_log_ratio
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.smoothing import DISCOUNT, SMOOTHING, DiscountMethod
from manylabel.parameters import Constraint, Number, OneOf


class BinaryNaiveBayes(CountModel):
    """Log-odds of each label on its own: a two-class multinomial naive Bayes, the label against the rest.

    s_k = log p(k)/(1 − p(k)) + Σ_w x_w log p(w|k)/p(w|rest of k),   P_k(x) = 1/(1 + exp(−s_k))

    p(k) is the share of documents with the label, the rest of k all documents without it, each document used
    once. `predict` gives the labels with P_k ≥ 0.5. Source: Vilar, Castro & Sanchis 2004, section 3.

    Both sides are smoothed with one discount b and one unigram p(w) (``smoothing="absolute"``; `b`, `counts`
    and `unigram` as in `MultinomialNaiveBayes`, the unigram counting each document once by default) or by
    adding α. `unlabelled` says what documents without a label are for: only the unigram and the estimate of b
    (``"smoothing"``), negatives of every label too (``"negative"``), or nothing (``"ignore"``). Of a single
    label the documents without it are all there is to tell it from: with ``"smoothing"`` they are its negatives.
    A label without positives has P = 0 (−∞), one carried by every document P = 1 (+∞).

    The counts of the rest are the total minus the label's own, so one table serves all labels, and a label
    costs only the words it was seen with; see `manylabel.models.rest_discounting`.

    >>> X = np.array([[2, 0, 1], [0, 2, 1], [1, 1, 0], [0, 0, 3]])
    >>> Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    >>> model = BinaryNaiveBayes(smoothing="laplace", unlabelled="negative").fit(X, Y)
    >>> model.predict_proba(X).round(6).tolist()
    [[0.901112, 0.201995], [0.201995, 0.901112], [0.771429, 0.771429], [0.083515, 0.083515]]
    """

    score_kind = ScoreKind.LOG_ODDS
    wants: ClassVar[frozenset[str]] = frozenset({"counts_of_counts"})
    independent_labels = True
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "smoothing": SMOOTHING,
        "b": DISCOUNT,
        "counts": OneOf("marginal", "class"),
        "unigram": OneOf("documents", "replicated"),
        "alpha": Number(low=0, open_low=True),
        "unlabelled": OneOf("smoothing", "negative", "ignore"),
    }

    def __init__(
        self,
        smoothing: Literal["absolute", "laplace", "lidstone"] = "absolute",
        b: DiscountMethod | float = "upper",
        counts: Literal["marginal", "class"] = "marginal",
        unigram: Literal["documents", "replicated"] = "documents",
        alpha: float = 1.0,
        unlabelled: Literal["smoothing", "negative", "ignore"] = "smoothing",
    ) -> None:
        self.smoothing = smoothing
        self.b = b
        self.counts = counts
        self.unigram = unigram
        self.alpha = alpha
        self.unlabelled = unlabelled

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """Prior log-odds plus the log-ratio of both sides' word probabilities."""
        only_label = len(table.label_documents) == 1 and self.unlabelled == "smoothing"
        negatives_too = self.unlabelled == "negative" or only_label
        n_documents = table.labelled_documents + (table.unlabelled_documents if negatives_too else 0)
        total = table.labelled_terms + table.unlabelled_terms if negatives_too else table.labelled_terms
        with np.errstate(divide="ignore", invalid="ignore"):
            log_odds = np.log(table.label_documents) - np.log(n_documents - table.label_documents)
        log_odds = np.where(table.label_documents == 0, -np.inf, log_odds)
        if self.smoothing == "absolute":
            unigram = self._unigram_counts(table)
            b = self.estimate_discount(table, unigram)
            return absolute_log_ratio(table.label_terms, total, unigram, b, log_odds)
        return _lidstone_log_ratio(table, total, self.alpha, log_odds)

    def _unigram_counts(self, table: LabelTermCounts) -> Floats:
        counts = table.replicated_terms if self.unigram == "replicated" else table.labelled_terms
        return counts if self.unlabelled == "ignore" else counts + table.unlabelled_terms


def _lidstone_log_ratio(table: LabelTermCounts, total: Floats, alpha: float, log_odds: Floats) -> LinearScores:
    """The log-ratio of both sides under Lidstone smoothing, as background plus sparse difference.

    log (N_kw + α)/(R_kw + α) + log (R_k+ + αV)/(N_k+ + αV),   R = total − N
    """
    counts, positive = table.label_terms, table.label_totals
    rest = np.maximum(total.sum() - positive, 0.0)
    mass = alpha * len(total)
    seen, all_seen = counts.data, total[counts.indices]
    # log (N + α)(T + α) / (α (T − N + α)), what a word adds over one never seen with the label, as log1p(… − 1)
    values = np.log1p(seen * (all_seen + 2 * alpha) / (alpha * (np.maximum(all_seen - seen, 0.0) + alpha)))
    return LinearScores(
        intercept=log_odds,
        background=np.column_stack([np.ones(len(total)), np.log(alpha) - np.log(total + alpha)]),
        loadings=np.vstack([np.log(rest + mass) - np.log(positive + mass), np.ones(len(positive))]),
        difference=by_term(values, counts),
    )
