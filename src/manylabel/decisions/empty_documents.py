"""Documents in which no term is known: which labels they get, and how rules learn from them."""

from __future__ import annotations

import numpy as np

from manylabel.decisions.base import DecisionRule, floor
from manylabel.estimator import Csr, Floats
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import Bools


def labels_empty_documents(model: MultiLabelModel, rule: DecisionRule | None) -> bool:
    """Whether documents without a known term get labels: if absent terms are evidence to the model, or if the rule
    has a guarantee, which counts every document.
    """
    return model.reads_absence or (rule is not None and rule.held_out_share > 0)


def decidable_scores(scores: Floats, empty: Bools, model: MultiLabelModel, rule: DecisionRule) -> Floats:
    """The scores, with every label impossible for empty documents, as `unlabelled_if_empty` decides them."""
    if not empty.any() or labels_empty_documents(model, rule):
        return scores
    return np.where(empty[:, np.newaxis], floor(model.score_kind), scores)


def unlabelled_if_empty(predicted: Csr, X: Csr, model: MultiLabelModel, rule: DecisionRule | None) -> Csr:
    """The predicted label sets, without those of documents in which no term is known.

    The scores of such a document say only how frequent the labels are. It keeps its labels where
    `labels_empty_documents`.
    """
    lengths = np.diff(X.indptr)
    if lengths.all() or labels_empty_documents(model, rule):
        return predicted
    kept = np.repeat(lengths > 0, np.diff(predicted.indptr))
    sizes = np.where(lengths > 0, np.diff(predicted.indptr), 0)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(predicted.indptr.dtype)
    return Csr((predicted.data[kept], predicted.indices[kept], indptr), shape=predicted.shape)
