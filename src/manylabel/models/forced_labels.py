"""The label sets of one-vs-others machines: every positive score, or the best one where there is none."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import best_label


def forced_labels(scores: Floats) -> Csr:
    """{ k : score_k > 0 }, and where no score is positive the label of the greatest (ties: lowest index); 0/1 CSR.

    Source: Godbole & Sarawagi 2004, section 5.5. A score of exactly 0 counts as negative.

    >>> forced_labels(np.array([[0.3, -0.2, 0.1], [-0.5, -0.1, -0.9], [-1.0, 0.0, 0.0]])).toarray().tolist()
    [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    """
    chosen = scores > 0
    empty = ~chosen.any(axis=1)
    chosen[empty] = best_label(scores[empty])
    return Csr(chosen.astype(np.int8))


def forced_sets(model: MultiLabelModel, X: Csr) -> Csr:
    """`forced_labels` of checked documents by a fitted model, in batches bounded in memory."""
    none = Csr(np.zeros((0, model.n_labels_), dtype=np.int8))
    parts = [forced_labels(scores) for _, scores in model.score_in_batches(X)]
    return Csr(sparse.vstack([none, *parts], format="csr"))
