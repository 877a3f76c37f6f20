"""Evidence: what each word of one document adds to the scores of some labels, as a labels × terms table."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel


def asked_for(model: MultiLabelModel, x: object, labels: npt.ArrayLike | None) -> tuple[Csr, Ints]:
    """The one document and the labels (default: all) that evidence is wanted for, checked."""
    document = model.features(x)
    if document.shape[0] != 1:
        raise DataError(f"evidence explains one document at a time, but {document.shape[0]} were given.")
    wanted = np.arange(model.n_labels_) if labels is None else np.atleast_1d(np.asarray(labels, dtype=np.int64))
    if len(wanted) and (wanted.min() < 0 or wanted.max() >= model.n_labels_):
        raise DataError(f"evidence was asked for a label out of bounds: they count from 0 to {model.n_labels_ - 1}.")
    return document, wanted


def evidence_table(document: Csr, values: Floats) -> Csr:
    """Values for labels × stored words of a document as labels × terms.

    >>> evidence_table(Csr(np.array([[0, 2, 0, 1]])), np.array([[0.5, 0.0], [-1.0, 2.0]])).toarray().tolist()
    [[0.0, 0.5, 0.0, 0.0], [0.0, -1.0, 0.0, 2.0]]
    """
    indptr = np.arange(len(values) + 1) * document.nnz
    return Csr((values.reshape(-1), np.tile(document.indices, len(values)), indptr), (len(values), document.shape[1]))
