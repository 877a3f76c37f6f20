"""Audit of labels: which are probably missing and which probably wrong, from scores of documents the model did not see.

Judged are cells (a document and a label): every label that a document has, and for each label the documents without it
that come nearest to it, a few times as many as have it. Nothing of the size documents × labels is kept.

Two sources of evidence speak about a cell, both learned without the document: its terms, by a linear SVM of low cost
(0.1, so that it does not learn single wrong labels by heart), calibrated; and its other labels, by the views of
`manylabel.insight.label_evidence`. A logistic regression per label, drawn towards that of all labels together, combines
them into log-odds z, which rank the doubts:

    missing  P = ε p / (ε p + 1 − p),  p = 1/(1 + exp(−z)):  labels that the document lacks
    wrong    P = ε / (ε + (1 − ε) exp(z − z_0)),  z_0 the log-odds of the label's share of its cells:  labels it has

The likelihood ratio exp(z − z_0) of the second line makes rare labels safe: only a score that is lower than that of the
nearest documents without the label speaks against it. The rate ε of missing and of wrong labels is assumed: it cannot
be estimated from scores, and it does not change the order of missing, or of wrong, labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from manylabel.estimator import Csr, Floats, Ints
from manylabel.insight.cells import Cells, Judged, candidate_cells
from manylabel.insight.label_evidence import Bools, companions, same_others
from manylabel.models.base import MultiLabelModel

FOLDS = 5
COST = 0.1
"""The cost of the SVMs that judge; with the usual 1.0, documents with wrong labels shape the model."""
SHRINKAGE = 10.0
"""How strongly the slopes of each label are drawn towards those of all labels together."""
RATE = 0.02
"""The assumed share of the true labels that is missing, and of the assigned ones that is wrong."""
LEAST = 0.1
"""The least probability with which a correction is suggested."""
STEPS = 20
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class Doubts:
    """Cells of Y that are probably wrong, the surest first."""

    rows: Ints
    columns: Ints
    missing: Bools
    """True where the label is probably missing, False where it is probably wrong."""
    probability: Floats
    """That the correction is right."""

    def __len__(self) -> int:
        return len(self.rows)

    @classmethod
    def joined(cls, parts: Sequence[Doubts]) -> Doubts:
        """The doubts of all parts, the surest first."""
        probability = np.concatenate([part.probability for part in parts])
        order = np.argsort(-probability, kind="stable")
        rows, columns = (np.concatenate(one)[order] for one in ([p.rows for p in parts], [p.columns for p in parts]))
        return cls(rows, columns, np.concatenate([part.missing for part in parts])[order], probability[order])

    def first(self, count: int) -> Doubts:
        """The `count` surest doubts."""
        return Doubts(self.rows[:count], self.columns[:count], self.missing[:count], self.probability[:count])


def judge(model: MultiLabelModel, X: Csr, Y: Csr, seed: int = 0, folds: int = FOLDS) -> Judged:
    """The cells of Y that may be doubted, with their log-odds from terms and other labels."""
    cells, models, fold_of = candidate_cells(model, X, Y, seed, folds)
    if not len(cells.rows):
        return Judged(cells, np.zeros(0), models, fold_of)
    table = views(cells, Y)
    return Judged(cells, Combination.learned(table, cells.has).log_odds(table, cells), models, fold_of)


def views(cells: Cells, Y: Csr) -> Floats:
    """Cells × views: the evidence of terms and of other labels, and the bends of both."""
    found = companions(Y, cells.rows, cells.columns, cells.has)
    same, number = same_others(Y, cells.rows, cells.columns, cells.has)
    share = np.bincount(Y.indices, minlength=Y.shape[1])[cells.columns] / Y.shape[0]
    terms, labels = cells.by_terms, np.clip(cells.by_labels, -0.2, 1.2)
    repeated, same_log_odds = np.log1p(number), _log_odds(same)
    return np.column_stack(
        [
            terms, np.maximum(terms, 0.0), labels, labels**2, terms * labels,
            _log_odds(found.implied), found.likelihood, np.maximum(found.likelihood, 0.0),
            same_log_odds, same_log_odds * repeated, repeated,
            found.number == 0, np.log1p(found.number), _log_odds(share),
        ]
    )  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Combination:
    """How the views of a cell are combined: standardised, then by the logistic regression of its label.

    min Σ −t log p − (1 − t) log(1 − p) + ½ λ Σ_v (a_v − ā_v)²,  p = 1/(1 + exp(−b − Σ_v a_v x_v)),  ā of all cells
    """

    mean: Floats
    spread: Floats
    common: Floats
    """The slopes of all labels together, and their constant."""

    @classmethod
    def learned(cls, table: Floats, has: Bools) -> Combination:
        """Learn what all labels have in common from the views of all cells, or of a sample of them."""
        mean, spread = table.mean(axis=0), table.std(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        with_constant = np.column_stack([(table - mean) / spread, np.ones(len(table))])
        common = _logistic(with_constant, has.astype(np.float64), np.zeros(with_constant.shape[1]), 1.0)
        return cls(mean, spread, common)

    def log_odds(self, table: Floats, cells: Cells) -> Floats:
        """The log-odds of each cell; the cells of a label are all there, one after the other."""
        table = np.column_stack([(table - self.mean) / self.spread, np.ones(len(table))])
        has, found = cells.has.astype(np.float64), np.empty(len(table))
        starts = np.flatnonzero(np.diff(cells.columns, prepend=-1))
        for begin, end in zip(starts.tolist(), np.append(starts[1:], len(table)).tolist(), strict=True):
            part = table[begin:end]
            found[begin:end] = part @ _logistic(part, has[begin:end], self.common, SHRINKAGE)
        return found


def _logistic(table: Floats, has: Floats, centre: Floats, shrinkage: float) -> Floats:
    """Slopes, the last one of a constant that is hardly shrunk, by Newton steps halved until the loss falls."""
    strength = np.append(np.full(table.shape[1] - 1, shrinkage), 1e-3)

    def loss(at: Floats) -> float:
        value = table @ at
        return float((np.logaddexp(0.0, value) - has * value).sum() + 0.5 * (strength * (at - centre) ** 2).sum())

    at, now = centre.copy(), loss(centre)
    for _ in range(STEPS):
        p = expit(table @ at)
        gradient = table.T @ (p - has) + strength * (at - centre)
        curvature = (table * (p * (1 - p))[:, np.newaxis]).T @ table + np.diag(strength)
        step = np.linalg.solve(curvature, gradient)
        while (after := loss(at - step)) > now and np.abs(step).max() > 1e-6:
            step = step / 2
        if after > now - TOLERANCE:
            break
        at, now = at - step, after
    return at


def _log_odds(p: Floats) -> Floats:
    clipped = np.clip(p, 1e-6, 1 - 1e-6)
    return np.asarray(np.log(clipped) - np.log1p(-clipped))


def doubts(judged: Judged, Y: Csr, least: float = LEAST) -> Doubts:
    """The cells whose correction is right with a probability of at least `least`, the surest first.

    Labels of fewer than `LEAST_DOCUMENTS` documents are not judged. No label gets more missing documents than it has.
    """
    cells, z = judged.cells, judged.log_odds
    documents = np.bincount(Y.indices, minlength=Y.shape[1])
    with_label = np.bincount(cells.columns, cells.has, minlength=Y.shape[1])
    share = (with_label + 1) / (np.bincount(cells.columns, minlength=Y.shape[1]) + 2)
    probability = np.where(
        cells.has,
        wrong_probability(z - _log_odds(share)[cells.columns], RATE),
        missing_probability(z, RATE),
    )
    absent = np.flatnonzero(~cells.has)
    kept = absent[_at_most_documents(cells.columns[absent], probability[absent], documents)]
    chosen = np.concatenate([np.flatnonzero(cells.has), kept])
    chosen = chosen[np.argsort(-probability[chosen], kind="stable")]
    chosen = chosen[probability[chosen] >= least]
    return Doubts(cells.rows[chosen], cells.columns[chosen], ~cells.has[chosen], probability[chosen])


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
