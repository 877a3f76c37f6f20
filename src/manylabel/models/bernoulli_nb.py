"""Multivariate Bernoulli naive Bayes: documents as the presence and absence of every term."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar, Literal

import numpy as np

from manylabel.estimator import Csr, Floats, rows_of_cells
from manylabel.models.count_model import CountModel, LabelTermCounts
from manylabel.models.exported import ExportedScores
from manylabel.models.linear_scores import LinearScores, by_term
from manylabel.models.score_kinds import ScoreKind, posteriors_of_seen
from manylabel.models.smoothing import class_log_prior
from manylabel.parameters import Constraint, Number, OneOf


class BernoulliNaiveBayes(CountModel):
    """Naive Bayes on the presence and the absence of every term of the vocabulary.

    s_c = log p(c) + Σ_{w in x} log P_cw + Σ_{w not in x} log(1 − P_cw),   P_cw = (df_cw + α)/(N_c + 2α)

    df_cw is the number of documents of c with the term. 2 is the number of values of a presence, however many classes
    there are. Source: Manning, Raghavan & Schütze 2008, section 13.3, with α = 1.

    ``target="labels"`` (default) sets each label against the rest: scores are log-odds, and `predict` returns the
    labels with P ≥ 0.5. A label without documents has P = 0, one of all documents P = 1. ``"classes"`` returns
    posteriors over the labels as classes, a document with several labels counting once per label. `unlabelled` chooses
    whether documents without a label are negatives of every label or left out.

    An empty document is not without evidence: every term is absent from it. `evidence` compares the presence of a term
    with its absence.

    The sum over absent terms is Σ_w log(1 − P_cw), the same for all documents, minus its part for the terms present.
    For terms that never occur with a label, the rest of the label depends on df_w alone, so these terms are grouped by
    df_w, and the cost of a label depends on the terms it occurs with.

    >>> X = np.array([[2, 1, 0, 0, 0, 0], [2, 0, 1, 0, 0, 0], [1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 1]])
    >>> model = BernoulliNaiveBayes(target="classes").fit(X, ["yes", "yes", "yes", "no"])
    >>> model.predict_proba([[3, 0, 0, 0, 1, 1]]).round(6).tolist()
    [[0.808933, 0.191067]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "target": OneOf("labels", "classes"),
        "alpha": Number(low=0, open_low=True),
        "unlabelled": OneOf("negative", "ignore"),
    }
    reads_absence = True
    intercept_: Floats

    def __init__(
        self,
        target: Literal["labels", "classes"] = "labels",
        alpha: float = 1.0,
        unlabelled: Literal["negative", "ignore"] = "negative",
    ) -> None:
        self.target = target
        self.alpha = alpha
        self.unlabelled = unlabelled

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds of each label, or posteriors over the classes."""
        return ScoreKind.LOG_ODDS if self.target == "labels" else ScoreKind.POSTERIOR

    def count(self, X: Csr, Y: Csr) -> LabelTermCounts:
        """The number of documents with each term, by label."""
        return super().count(presence(X), Y)

    def amounts(self, counts: Floats) -> Floats:
        """Ones: a term counts once, however often it occurs."""
        return np.ones_like(counts)

    def formula(self, table: LabelTermCounts) -> LinearScores:
        """The scores as a linear model of presence, with the sum over absent terms in the intercept."""
        if self.target == "classes":
            return _classes(table, self.alpha)
        negatives_too = self.unlabelled == "negative"
        n_documents = table.labelled_documents + (table.unlabelled_documents if negatives_too else 0)
        df = table.labelled_terms + table.unlabelled_terms if negatives_too else table.labelled_terms
        return _against_rest(table, df, float(n_documents), self.alpha)

    def exported_scores(self) -> ExportedScores:
        """The linear scores of the presence of terms."""
        found = super().exported_scores()
        return replace(found, blocks=(replace(found.blocks[0], values="presence"),))

    def finish_scores(self, linear: Floats) -> Floats:
        """Log-odds of each label, or posteriors over the classes."""
        return linear if self.target == "labels" else posteriors_of_seen(linear, self.intercept_)


def presence(X: Csr) -> Csr:
    """X with 1 in place of every stored value."""
    return Csr((np.ones(X.nnz), X.indices, X.indptr), shape=X.shape)


def _classes(table: LabelTermCounts, alpha: float) -> LinearScores:
    """Scores over classes: background log α/(N_c + α) of terms never seen with the class; difference elsewhere."""
    df, N_c = table.label_terms, table.label_documents.astype(np.float64)
    label = rows_of_cells(df)
    unseen = np.log(alpha) - np.log(N_c + alpha)
    present = np.log(df.data + alpha) - np.log(N_c[label] - df.data + alpha) - unseen[label]
    absent = np.log(N_c[label] - df.data + alpha) - np.log(N_c[label] + alpha)
    base = df.shape[1] * (np.log(N_c + alpha) - np.log(N_c + 2 * alpha))
    base += np.bincount(label, weights=absent, minlength=len(N_c))
    background = np.ones((df.shape[1], 1))
    return LinearScores(class_log_prior(N_c) + base, background, unseen[np.newaxis], by_term(present, df))


def _against_rest(table: LabelTermCounts, df: Floats, n_documents: float, alpha: float) -> LinearScores:
    """The log-odds of presence in the label minus those in the rest, terms grouped by their document frequency."""
    counts, N_k = table.label_terms, table.label_documents.astype(np.float64)
    R_k = n_documents - N_k
    label, seen, word = rows_of_cells(counts), counts.data, counts.indices
    values, group, sizes = np.unique(df, return_inverse=True, return_counts=True)
    d = values[:, np.newaxis]

    def rest_present(d: Floats, R: Floats) -> Floats:
        return np.asarray(np.log(d + alpha) - np.log(np.maximum(R - d, 0.0) + alpha))

    def rest_absent(d: Floats, R: Floats) -> Floats:
        return np.asarray(np.log(np.maximum(R - d, 0.0) + alpha) - np.log(R + 2 * alpha))

    unseen = np.log(alpha) - np.log(N_k + alpha) - rest_present(d, R_k)
    unseen_absent = np.log(N_k + alpha) - np.log(N_k + 2 * alpha) - rest_absent(d, R_k)
    N, R, rest = N_k[label], R_k[label], df[word] - seen
    present = np.log(seen + alpha) - np.log(N - seen + alpha) - rest_present(rest, R)
    absent = np.log(N - seen + alpha) - np.log(N + 2 * alpha) - rest_absent(rest, R)
    base = sizes @ unseen_absent
    base += np.bincount(label, weights=absent - unseen_absent[group[word], label], minlength=len(N_k))
    with np.errstate(divide="ignore", invalid="ignore"):
        log_odds = np.where(N_k == 0, -np.inf, np.log(N_k) - np.log(R_k))
    n_terms = len(df)
    background = Csr((np.ones(n_terms), group.ravel(), np.arange(n_terms + 1)), shape=(n_terms, len(values)))
    difference = by_term(present - unseen[group[word], label], counts)
    return LinearScores(log_odds + base, background, unseen, difference)
