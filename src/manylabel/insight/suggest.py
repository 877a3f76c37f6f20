"""Which documents to label next: uncertain ones, with labels that are rare so far, different from each other.

Each candidate document has a value: the sum over labels of the entropy of its probability, divided by the fourth root
of the label's documents so far (plus 1), so that rare labels count more. Documents are chosen one by one. The value of
a candidate is multiplied by 1 − its largest cosine with a document chosen before, so that a batch does not ask the same
question again; near-duplicates of chosen documents are left out.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.neighbour_model import unit_vectors

RARITY = 0.25
"""The power of a label's documents by which its uncertainty is divided: 0 treats all labels alike."""


def document_values(probabilities: Floats, label_documents: npt.ArrayLike) -> Floats:
    """The value of labelling each document, from documents × labels probabilities and the labels' documents so far.

    >>> document_values(np.array([[0.5, 0.0], [0.0, 0.5], [1.0, 0.0]]), [99, 0]).round(3).tolist()
    [0.219, 0.693, 0.0]
    """
    p = np.clip(probabilities, 1e-12, 1 - 1e-12)
    entropy = -p * np.log(p) - (1 - p) * np.log1p(-p)
    found = entropy @ (np.asarray(label_documents, dtype=np.float64) + 1.0) ** -RARITY
    return np.where(found < 1e-9, 0.0, found)


def choose_documents(values: Floats, X: Csr, count: int, groups: npt.ArrayLike | None = None) -> Ints:
    """Up to `count` documents in the order in which they are chosen; `groups` numbers near-duplicates alike.

    >>> X = Csr(np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0]]))
    >>> choose_documents(np.array([1.0, 0.9, 0.5]), X, 2).tolist()
    [0, 2]
    """
    unit = unit_vectors(X)
    group = np.arange(X.shape[0]) if groups is None else np.asarray(groups)
    nearest, open_ = np.zeros(X.shape[0]), np.ones(X.shape[0], dtype=np.bool_)
    chosen: list[int] = []
    while len(chosen) < count and open_.any():
        best = int(np.argmax(np.where(open_, values * (1.0 - nearest), -1.0)))
        chosen.append(best)
        open_ &= group != group[best]
        similar = unit @ unit[[best]].toarray().reshape(-1)
        nearest = np.maximum(nearest, np.clip(similar, 0.0, 1.0))
    return np.array(chosen, dtype=np.int64)
