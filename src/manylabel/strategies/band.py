"""The negatives that lie near a hyperplane."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from scipy import sparse

from manylabel.estimator import Csr, Floats
from manylabel.models.base import row_batches
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.score_kinds import Bools

Distance = Literal["geometric", "functional"]
Side = Literal["both", "one"]
Unit = Literal["distance", "quantile"]


def weight_norms(machine: LinearSVM) -> Floats:
    """‖w‖ of each label."""
    weights: Any = machine.weights_
    squares = (
        weights.astype(np.float64) ** 2 if isinstance(weights, np.ndarray) else weights.astype(np.float64).power(2)
    )
    return np.asarray(np.sqrt(squares.sum(axis=0)), dtype=np.float64).reshape(-1)


def label_distances(machine: LinearSVM, X: Csr, distance: Distance) -> Iterator[tuple[slice, Floats]]:
    """Signed distances of all documents from some labels' hyperplanes at a time, within the memory budget.

    (w·d + b)/‖w‖ (geometric) or w·d + b (functional); 0 where w = 0 and there is no hyperplane.
    """
    weights: Any = machine.weights_
    if not isinstance(weights, np.ndarray):
        weights = weights.tocsc()
    norms = weight_norms(machine)
    for labels in row_batches(machine.n_labels_, X.shape[0]):
        part: Any = X @ weights[:, labels].astype(np.float64)
        scores = (part if isinstance(part, np.ndarray) else part.toarray()) + machine.intercept_[labels]
        if distance == "geometric":
            scores = np.divide(scores, norms[labels], out=np.zeros_like(scores), where=norms[labels] > 0)
        yield labels, scores


def in_band(distances: Floats, negative: Bools, band: float, side: Side, unit: Unit, min_neg: int) -> Bools:
    """Which documents one label leaves out: its negatives within `band` of the plane.

    side ``both``: |distance| ≤ band; ``one``: distance ≥ −band, those far on the wrong side too. unit ``quantile``:
    the band is as wide as the distance of the ⌊band · n⌋-th nearest of n negatives. If fewer than `min_neg` negatives
    would remain, the farthest stay (ties: the first).

    >>> distances, negative = np.array([-0.2, -1.6, 0.24, 0.1]), np.array([True, True, True, False])
    >>> in_band(distances, negative, 0.25, "both", "distance", 1).tolist()
    [True, False, True, False]
    >>> in_band(distances, negative, 0.34, "both", "quantile", 1).tolist()
    [True, False, False, False]
    """
    near = np.abs(distances)
    if unit == "quantile":
        nth = int(np.floor(band * np.count_nonzero(negative)))
        band = float(np.partition(near[negative], nth - 1)[nth - 1]) if nth else 0.0
    inside = negative & ((near <= band) if side == "both" else (distances >= -band))
    missing = min_neg - np.count_nonzero(negative & ~inside)
    if missing > 0:
        rows = np.flatnonzero(inside)
        farness = near[rows] if side == "both" else -distances[rows]
        inside[rows[np.argsort(-farness, kind="stable")[:missing]]] = False
    return inside


def band_negatives(
    machine: LinearSVM, X: Csr, Y: Csr, bands: Floats, distance: Distance, side: Side, unit: Unit, min_neg: int
) -> Csr:
    """What each label leaves out, documents × labels; a label whose machine is constant (w = 0) leaves out nothing."""
    trained = weight_norms(machine) > 0
    by_label = sparse.csc_array(Y)
    columns = []
    for labels, distances in label_distances(machine, X, distance):
        left_out = np.zeros(distances.shape, dtype=np.bool_)
        for place, label in enumerate(range(labels.start, labels.stop)):
            if not trained[label]:
                continue
            negative = np.ones(X.shape[0], dtype=np.bool_)
            negative[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = False
            band = float(bands[label])
            left_out[:, place] = in_band(distances[:, place], negative, band, side, unit, min_neg)
        columns.append(sparse.csc_array(left_out.astype(np.int8)))
    return Csr(sparse.hstack(columns, format="csr"))
