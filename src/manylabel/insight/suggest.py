"""Which documents to label next: uncertain ones, with labels that are rare so far, different from each other.

Each candidate document has a value: the sum over labels of the entropy of its probability, divided by the label's
documents so far (plus 1), so that rare labels count more. Documents are chosen one by one. Each chosen document counts
for its labels by their probabilities, as if it were labelled, so that a batch is spread over labels. The value of a
candidate is multiplied by 1 − its largest cosine with a document chosen before, so that a batch does not ask the same
question again; near-duplicates of chosen documents are left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.neighbour_model import unit_vectors

CANDIDATES = 20
"""For each document of a batch, this many of the greatest values are candidates, at least 1,000 in all."""
MOST_PROBABILITIES = 1 << 24
"""The most probabilities of candidates that are kept: with very many labels there are fewer candidates."""


def entropies(probabilities: Floats) -> Floats:
    """The entropy of each probability, in nats."""
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    return np.asarray(-p * np.log(p) - (1 - p) * np.log1p(-p))


def document_values(probabilities: Floats, label_documents: npt.ArrayLike) -> Floats:
    """The value of labelling each document, from documents × labels probabilities and the labels' documents so far.

    >>> document_values(np.array([[0.5, 0.0], [0.0, 0.5], [1.0, 0.0]]), [9, 0]).round(3).tolist()
    [0.069, 0.693, 0.0]
    """
    found = entropies(probabilities) @ (1.0 / (np.asarray(label_documents, dtype=np.float64) + 1.0))
    return np.where(found < 1e-9, 0.0, found)


def best_candidates(values: Floats, count: int, n_labels: int) -> Ints:
    """The documents among which a batch of `count` is chosen: those of the greatest values, the greatest first."""
    most = min(max(CANDIDATES * count, 1000), max(count, MOST_PROBABILITIES // max(n_labels, 1)))
    return np.argsort(-values, kind="stable")[:most]


def choose_documents(
    probabilities: Floats, label_documents: npt.ArrayLike, X: Csr, count: int, groups: npt.ArrayLike | None = None
) -> Ints:
    """Up to `count` documents in the order in which they are chosen; `groups` numbers near-duplicates alike.

    >>> P = np.array([[0.5, 0.0], [0.5, 0.0], [0.0, 0.4]])
    >>> choose_documents(P, [0, 0], Csr(np.eye(3)), 2).tolist()  # the first counts as half a document of its label
    [0, 2]
    """
    unit, uncertainty = unit_vectors(X), entropies(probabilities)
    documents = np.asarray(label_documents, dtype=np.float64) + 1.0
    group = np.arange(X.shape[0]) if groups is None else np.asarray(groups)
    nearest, open_ = np.zeros(X.shape[0]), np.ones(X.shape[0], dtype=np.bool_)
    chosen: list[int] = []
    while len(chosen) < count and open_.any():
        values = (uncertainty @ (1.0 / documents)) * (1.0 - nearest)
        best = int(np.argmax(np.where(open_, values, -1.0)))
        chosen.append(best)
        documents = documents + probabilities[best]
        open_ &= group != group[best]
        similar = unit @ unit[[best]].toarray().reshape(-1)
        nearest = np.maximum(nearest, np.clip(similar, 0.0, 1.0))
    return np.array(chosen, dtype=np.int64)
