"""Audit of labels: which are probably missing and which probably wrong, from scores of documents the model did not see.

Two views of a document judge each of its labels: its terms, by a linear SVM of low cost (0.1, so that it does not learn
single wrong labels by heart), and its other labels, by ridge regression. Both are learned in folds, on other documents,
and combined by logistic regression (`stacked`). The resulting log-odds z of a label rank the doubts:

    missing  P = ε p / (ε p + 1 − p),  p = 1/(1 + exp(−z)):  labels that the document lacks
    wrong    P = ε / (ε + (1 − ε) exp(z − z_0)),  z_0 the log-odds of the label's share:  labels that it has

The likelihood ratio exp(z − z_0) of the second line makes rare labels safe: their p is always small, and only a score
that is lower than that of a document at random speaks against the label. The rate ε of missing and of wrong labels is
assumed: it cannot be estimated from scores, and it does not change the order of missing, or of wrong, labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from manylabel.data.splits import Split, iterative_stratification
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.base import MultiLabelModel, unfitted_copy
from manylabel.progress import track
from manylabel.strategies.stacking import stacked

FOLDS = 5
COST = 0.1
"""The cost of the SVMs that judge; with the usual 1.0, documents with wrong labels shape the model."""
RIDGE = 0.05
"""How much the variance of each label is raised in the regression on the other labels."""
LEAST_DOCUMENTS = 5
"""Labels of fewer documents are not judged: nothing can be learned about them."""
RATE = 0.02
"""The assumed share of the true labels that is missing, and of the assigned ones that is wrong."""
LEAST = 0.1
"""The least probability with which a correction is suggested."""


@dataclass(frozen=True, slots=True, eq=False)
class Doubts:
    """Cells of Y that are probably wrong, the surest first."""

    rows: Ints
    columns: Ints
    missing: np.ndarray[Any, np.dtype[np.bool_]]
    """True where the label is probably missing, False where it is probably wrong."""
    probability: Floats
    """That the correction is right."""

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, count: int) -> Doubts:
        """The surest ones."""
        return Doubts(self.rows[:count], self.columns[:count], self.missing[:count], self.probability[:count])


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The log-odds of every label of every document, and the models of the folds, which explain them."""

    log_odds: Floats
    """Documents × labels."""
    by_terms: Floats
    """The same by terms alone."""
    models: Sequence[MultiLabelModel]
    fold_of: Ints
    """For each document the number of the model that did not see it."""


def judge(model: MultiLabelModel, X: Csr, Y: Csr, seed: int = 0, folds: int = FOLDS) -> Judged:
    """Log-odds of all labels from both views, each learned without the document."""
    splits = iterative_stratification(Y, min(folds, X.shape[0]), seed)
    scores, fold_of = np.empty(Y.shape), np.zeros(X.shape[0], dtype=np.int64)
    models = []
    for number, (train, test) in enumerate(track("Judging labels by terms", splits)):
        models.append(unfitted_copy(model).fit(Csr(X[train]), Csr(Y[train])))
        scores[test] = open_scores(models[-1].scores(Csr(X[test])), model.score_kind)
        fold_of[test] = number
    calibrated = np.clip(Calibration("logistic").fit(scores, Y).transform(scores), 1e-9, 1 - 1e-9)
    by_terms = np.log(calibrated) - np.log1p(-calibrated)
    views = np.stack([by_terms, by_other_labels(Y, splits)])
    return Judged(stacked(views, Y, 1.0)(views), by_terms, models, fold_of)


def by_other_labels(Y: Csr, splits: Sequence[Split]) -> Floats:
    """Each label predicted from the other labels of the document by ridge regression, learned in the other folds.

    All regressions follow from one inverse: with Θ = (K + λ diag K)⁻¹, K the covariance of the labels, the weight of
    label m in the regression of label l is −Θ_ml/Θ_ll.
    """
    predicted = np.empty(Y.shape)
    for train, test in track("Judging labels by other labels", splits):
        A: Any = Y[train].astype(np.float64)
        mean = np.asarray(A.sum(axis=0)).reshape(-1) / len(train)
        K = (A.T @ A).toarray() / len(train) - np.outer(mean, mean)
        theta = np.linalg.inv(K + np.diag(RIDGE * np.diag(K) + 1e-6))
        weights = -theta / np.diag(theta)
        np.fill_diagonal(weights, 0.0)
        predicted[test] = Y[test].astype(np.float64) @ weights + (mean - mean @ weights)
    return predicted


def doubts(log_odds: Floats, Y: Csr, least: float = LEAST, least_documents: int = LEAST_DOCUMENTS) -> Doubts:
    """The cells whose correction is right with a probability of at least `least`, the surest first.

    Labels of fewer than `least_documents` documents are left out. No label gets more missing documents than it has.
    """
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    judged = documents >= least_documents
    share = np.clip(documents / max(Y.shape[0], 1), 1e-9, 1 - 1e-9)
    has = Y.toarray() > 0
    ratio = np.where(has, log_odds - (np.log(share) - np.log1p(-share)), np.inf)[has & judged]
    given = np.argwhere(has & judged)
    absent = np.argwhere(~has & judged)
    z = log_odds[absent[:, 0], absent[:, 1]]
    wrong, missing = wrong_probability(ratio, RATE), missing_probability(z, RATE)
    kept = _at_most_documents(absent[:, 1], missing, documents)
    cells = np.vstack([given, absent[kept]])
    is_missing = np.concatenate([np.zeros(len(given), dtype=np.bool_), np.ones(len(kept), dtype=np.bool_)])
    probability = np.concatenate([wrong, missing[kept]])
    order = np.argsort(-probability, kind="stable")
    order = order[probability[order] >= least]
    return Doubts(cells[order, 0], cells[order, 1], is_missing[order], probability[order])


def wrong_probability(log_ratio: Floats, rate: float) -> Floats:
    """P that an assigned label is wrong, from the log-likelihood ratio of its score.

    >>> wrong_probability(np.array([0.0, -5.0]), 0.02).round(3).tolist()
    [0.02, 0.752]
    """
    return np.asarray(expit(np.log(rate) - np.log1p(-rate) - log_ratio))


def missing_probability(log_odds: Floats, rate: float) -> Floats:
    """P that a label is missing, from its log-odds.

    >>> missing_probability(np.array([0.0, 5.0]), 0.02).round(3).tolist()
    [0.02, 0.748]
    """
    return np.asarray(expit(np.log(rate) + log_odds))


def _at_most_documents(columns: Ints, probability: Floats, documents: Ints) -> Ints:
    """The numbers of the surest missing cells, of each label up to as many as it has documents."""
    order = np.lexsort((-probability, columns))
    starts = np.searchsorted(columns[order], np.arange(len(documents)))
    rank = np.arange(len(order)) - starts[columns[order]]
    return np.asarray(order[rank < documents[columns[order]]])


def doubted_documents(found: Doubts, Y: Csr) -> Ints:
    """Documents all of whose labels are probably wrong and that probably lack none: no label explains them."""
    shape: Any = Y.shape
    sure = found.probability >= 0.5
    doubted = np.bincount(found.rows[sure & ~found.missing], minlength=shape[0])
    sizes = np.diff(Y.indptr)
    lacking = np.isin(np.arange(shape[0]), found.rows[sure & found.missing])
    return np.flatnonzero((sizes > 0) & (doubted == sizes) & ~lacking)
