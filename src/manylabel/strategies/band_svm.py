"""BandSVM: SVMs trained again without the negatives near their hyperplane."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.models.base import row_batches
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.retrained_svm import LINEAR, RetrainedSVM
from manylabel.models.score_kinds import Bools
from manylabel.models.tuning import GRID, TUNED_FOR, VALIDATION, Trials, forced_sets, try_settings, validation_splits
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.stored import Sometimes, Stored, reals, wholes
from manylabel.strategies.two_class import carriers
from manylabel.wording import counted

Distance = Literal["geometric", "functional"]
Side = Literal["both", "one"]
Unit = Literal["distance", "quantile"]

GRIDS = {
    ("functional", "distance"): (0.0, 0.1, 0.25, 0.5, 0.75, 1.0),
    ("geometric", "distance"): (0.0, 0.0025, 0.005, 0.01, 0.025, 0.05),
    ("functional", "quantile"): (0.0, 0.001, 0.0025, 0.005, 0.01, 0.02),
    ("geometric", "quantile"): (0.0, 0.001, 0.0025, 0.005, 0.01, 0.02),
}
"""The bands that are tried, first none. Those of the other units reach about as far on tf-idf vectors as those of the
functional distance, in which 1 is the margin."""


class BandSVM(RetrainedSVM):
    """Margins of linear SVMs whose negatives within a band around the hyperplane were removed.

    1. Train one SVM per label.   2. For each, remove the *negatives* whose distance from its hyperplane is at most
    `band`, and train it again on the rest, starting from the first solution. Positives are never removed.

    distance   ``geometric`` |w·d + b| / ‖w‖, or ``functional`` |w·d + b| (1 is the margin)
    side     ``both`` sides of the plane, or ``one``: all negatives beyond −band, those far on the wrong side too
    unit     ``distance``, or ``quantile``: `band` is the share of the negatives, nearest first, that it removes

    `band` is a number, one number for each label, or "tuned": the value of `grid` (None: see `GRIDS`) with the greatest
    `metric` on a held-out split (`validation`: a share, or a number of folds), of equals the first. `per_label` tunes
    each label's band by its own F1; a label with fewer than `min_positives` held-out documents takes the common one.
    Too few documents to hold any out: band 0. At least `min_neg` negatives stay, the farthest ones; an SVM that is
    constant (w = 0) is left alone.

    Source: Godbole & Sarawagi 2004, section 4.1, who leave distance and side open. Splits use the `seed` of `model`.

    >>> svm = LinearSVM(loss="hinge", C=1e3, bias="free", tol=1e-6, max_iter=10_000)
    >>> model = BandSVM(svm, band=0.6).fit(np.array([[3.0], [2.0], [0.0]]), np.array([[1], [0], [0]]))
    >>> model.model_.coef_.round(4).tolist(), model.model_.intercept_.round(4).tolist()
    ([[0.6667]], [-1.0])
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": LINEAR,
        "band": AnyOf(OneOf("tuned"), Number(low=0), GRID),
        "distance": OneOf("geometric", "functional"),
        "side": OneOf("both", "one"),
        "unit": OneOf("distance", "quantile"),
        "min_neg": Number(low=1, whole=True),
        "grid": AnyOf(OneOf(None), GRID),
        "per_label": FLAG,
        "min_positives": Number(low=1, whole=True),
        "validation": VALIDATION,
        "metric": TUNED_FOR,
    }
    bands_: Floats
    """The band of each label."""
    tried_: Floats
    """The metric of each value of the grid, where the band was tuned."""
    removed_: Ints
    """How many negatives each label left out."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "tried_": Sometimes(reals(None)),
        "bands_": reals("labels"),
        "removed_": wholes("labels"),
    }

    def __init__(
        self,
        model: LinearSVM,
        band: float | npt.ArrayLike | Literal["tuned"] = "tuned",
        distance: Distance = "geometric",
        side: Side = "both",
        unit: Unit = "distance",
        min_neg: int = 1,
        grid: npt.ArrayLike | None = None,
        per_label: bool = False,
        min_positives: int = 5,
        validation: float = 0.3,
        metric: str = "jaccard",
    ) -> None:
        self.model = model
        self.band = band
        self.distance: Distance = distance
        self.side: Side = side
        self.unit: Unit = unit
        self.min_neg = min_neg
        self.grid = grid
        self.per_label = per_label
        self.min_positives = min_positives
        self.validation = validation
        self.metric = metric

    @property
    def chosen(self) -> dict[str, float]:
        """The band, where one was tuned for all labels."""
        return {"band": float(self.bands_[0])} if isinstance(self.band, str) and not self.per_label else {}

    def learn(self, X: Csr, Y: Csr) -> None:
        """Tune the band if requested; train, remove negatives, train again."""
        tuned = isinstance(self.band, str)
        self.bands_ = self._tuned(X, Y) if tuned else self._given(Y.shape[1])
        if self.unit == "quantile" and self.bands_.max() > 1:
            raise ParameterError(f"BandSVM: a quantile is a number from 0 to 1, not {self.bands_.max():g}.")
        first = self.svm_to_train().fit(X, Y)
        trained, left_out = self._again(first, first, X, Y, self.bands_)
        self.removed_ = np.bincount(left_out.indices, minlength=Y.shape[1]).astype(np.int64)
        self.keep(trained)

    def _given(self, n_labels: int) -> Floats:
        bands = np.asarray(self.band, dtype=np.float64)
        if bands.shape not in ((), (n_labels,)) or (bands < 0).any():
            raise ParameterError(
                f"BandSVM: band must be one number of at least 0, or one for each of the {counted(n_labels, 'label')}, "
                f"not {self.band!r}."
            )
        return np.broadcast_to(bands, n_labels).copy()

    def _tuned(self, X: Csr, Y: Csr) -> Floats:
        grid = np.asarray(GRIDS[self.distance, self.unit] if self.grid is None else self.grid, dtype=np.float64)
        splits = validation_splits(Y, self.validation, self.model.seed)
        if not splits:
            return np.zeros(Y.shape[1])

        def predictions(train: Ints, test: Ints) -> Iterator[Csr]:
            X_train, Y_train, X_test = Csr(X[train]), Csr(Y[train]), Csr(X[test])
            first = latest = self.svm_to_train().fit(X_train, Y_train)
            for band in grid:
                latest, _ = self._again(first, latest, X_train, Y_train, np.full(Y.shape[1], band))
                yield forced_sets(latest, X_test)

        trials: Trials = try_settings("Tuning the band", grid.tolist(), splits, Y, predictions, self.metric)
        self.tried_ = trials.measured
        return grid[trials.best_per_label(self.min_positives)] if self.per_label else grid[[trials.best] * Y.shape[1]]

    def _again(self, first: LinearSVM, start: LinearSVM, X: Csr, Y: Csr, bands: Floats) -> tuple[LinearSVM, Csr]:
        """SVMs trained from `start` without the negatives in the bands of `first`; and what each left out."""
        left_out = band_negatives(first, X, Y, bands, self.distance, self.side, self.unit, self.min_neg)
        return self.svm_to_train().fit(X, Y, excluded=left_out, initial=start.dual_coef_), left_out


def weight_norms(model: LinearSVM) -> Floats:
    """‖w‖ of each label's SVM."""
    weights: Any = model.weights_
    double = weights.astype(np.float64)
    squares = double**2 if isinstance(double, np.ndarray) else double.power(2)
    return np.asarray(np.sqrt(squares.sum(axis=0)), dtype=np.float64).reshape(-1)


def label_distances(model: LinearSVM, X: Csr, distance: Distance) -> Iterator[tuple[slice, Floats]]:
    """Signed distances of all documents from the hyperplanes of a batch of labels, within the memory budget.

    (w·d + b)/‖w‖ (geometric) or w·d + b (functional); 0 where w = 0 and there is no hyperplane.
    """
    weights: Any = model.weights_
    if not isinstance(weights, np.ndarray):
        weights = weights.tocsc()
    norms = weight_norms(model)
    for labels in row_batches(model.n_labels_, X.shape[0]):
        products: Any = X @ weights[:, labels].astype(np.float64)
        scores = (products if isinstance(products, np.ndarray) else products.toarray()) + model.intercept_[labels]
        if distance == "geometric":
            scores = np.divide(scores, norms[labels], out=np.zeros_like(scores), where=norms[labels] > 0)
        yield labels, scores


def in_band(distances: Floats, negative: Bools, band: float, side: Side, unit: Unit, min_neg: int) -> Bools:
    """Which documents one label leaves out: its negatives within `band` of the hyperplane.

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
    model: LinearSVM, X: Csr, Y: Csr, bands: Floats, distance: Distance, side: Side, unit: Unit, min_neg: int
) -> Csr:
    """1 where a label leaves a document out, documents × labels; a label with w = 0 leaves out nothing."""
    trained = weight_norms(model) > 0
    by_label = sparse.csc_array(Y)
    columns = []
    for labels, distances in label_distances(model, X, distance):
        left_out = np.zeros(distances.shape, dtype=np.bool_)
        for place, label in enumerate(range(labels.start, labels.stop)):
            if not trained[label]:
                continue
            negative, band = ~carriers(by_label, label), float(bands[label])
            left_out[:, place] = in_band(distances[:, place], negative, band, side, unit, min_neg)
        columns.append(sparse.csc_array(left_out.astype(np.int8)))
    return Csr(sparse.hstack(columns, format="csr"))
