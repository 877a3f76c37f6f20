"""SVM-HF: SVMs on terms and on the labels that first SVMs predicted.

The label block of a document is γ in {−1, +1}^L, and nearly all of it is −1: written out, 600 labels would put 600
numbers beside the 60 terms of a document. A linear SVM only ever sees inner products, so the block may be turned in its
space by any rotation. In the unbalanced Haar basis γ = −1 + 2p has one coordinate for the constant part and about
log₂ L per label of the document; all inner products, norms and solutions stay the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.data.splits import iterative_stratification
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.models.base import MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for
from manylabel.models.linear_scores import scaled_rows
from manylabel.models.linear_svm import LinearSVM
from manylabel.models.retrained_svm import LINEAR
from manylabel.models.score_kinds import ScoreKind
from manylabel.models.tuning import (
    GRID,
    TUNED_FOR,
    VALIDATION,
    forced_labels,
    forced_sets,
    try_settings,
    validation_splits,
)
from manylabel.parameters import AnyOf, Constraint, Number, OneOf
from manylabel.progress import track
from manylabel.stored import Each, Part, Scalar, Sometimes, Stored, reals

Scaling = Literal["kernel", "literal", "literal_unit"]
ZeroText = Literal["keep", "unit"]

GRID_F = (1.0, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
UNTUNED = 0.7


class SVMHF(MultiLabelModel):
    """Margins of linear SVMs on terms *and* labels ("heterogeneous features").

    1. Train one SVM per label on unit text vectors d.   2. Predict the labels of every training document: γ_k = +1
    where the score is above 0, else −1; if none is, the greatest becomes +1.   3. Join both with relative weight f, z =
    (√f d, √((1 − f)/L) γ), of length 1.   4. Train the SVMs again on z. A new document goes the same way.

    The paper states the kernel K = f K_T + (1 − f) K_L, which takes the *roots* above (``scaling="kernel"``). Its prose
    scales the blocks by f and 1 − f: ``"literal"`` is (f d, (1 − f) γ) brought to length 1, ``"literal_unit"`` the same
    with γ/√L. They are the kernel at another f: f² / (f² + (1 − f)²), and f² / (f² + L (1 − f)²).

    `f` is a number, or "tuned": the value of `grid` with the greatest `metric` on a held-out split (`validation`: a
    share, or a number of folds), where the label sets are the positive scores or else the best one; of equals the
    first, and the grid begins with f = 1, the plain SVMs. Too few documents to hold any out: f = 0.7.
    `oof_folds` ≥ 2 takes the training documents' labels from SVMs that did not see them (0, the paper: from the SVMs
    trained on them). `rounds` repeats steps 2 to 4 on the newest SVMs (1, the paper).
    ``zero_text="unit"`` brings documents without known terms to length 1 too.

    Source: Godbole & Sarawagi 2004, section 3. Ours: a stage starts from the dual solution of the one before, and the
    label block is held in a rotated basis (`haar_basis`), which changes no inner product and so no solution. The
    splits use the `seed` of `model`.

    >>> X = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]])
    >>> Y = np.array([[1, 1], [1, 1], [0, 0], [0, 0]])
    >>> model = SVMHF(LinearSVM(C=10), f=0.5).fit(X, Y)
    >>> model.predict(X).tolist()
    [[1, 1], [1, 1], [0, 0], [0, 0]]
    >>> (model.label_coefficients() > 0).tolist()
    [[True, True], [True, True]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "model": LINEAR,
        "f": AnyOf(OneOf("tuned"), Number(low=0, high=1)),
        "scaling": OneOf("kernel", "literal", "literal_unit"),
        "zero_text": OneOf("keep", "unit"),
        "oof_folds": AnyOf(OneOf(0), Number(low=2, whole=True)),
        "rounds": Number(low=1, whole=True),
        "grid": GRID,
        "validation": VALIDATION,
        "metric": TUNED_FOR,
    }
    f_: float
    """The weight of the text used."""
    tried_: Floats
    """The metric of each value of the grid, where f was tuned."""
    stages_: list[LinearSVM]
    """The SVMs on terms, then those on terms and labels, one model per round."""

    learned: ClassVar[Mapping[str, Stored]] = {
        "tried_": Sometimes(reals(None)),
        "f_": Scalar(),
        "stages_": Each(Part(LinearSVM, "labels"), None),
    }

    def __init__(
        self,
        model: LinearSVM,
        f: float | Literal["tuned"] = "tuned",
        scaling: Scaling = "kernel",
        zero_text: ZeroText = "keep",
        oof_folds: int = 0,
        rounds: int = 1,
        grid: npt.ArrayLike = GRID_F,
        validation: float = 0.3,
        metric: str = "jaccard",
    ) -> None:
        self.model = model
        self.f = f
        self.scaling: Scaling = scaling
        self.zero_text: ZeroText = zero_text
        self.oof_folds = oof_folds
        self.rounds = rounds
        self.grid = grid
        self.validation = validation
        self.metric = metric

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """The kind of the SVM's scores."""
        return self.model.score_kind

    @property
    def chosen(self) -> dict[str, float]:
        """The weight of the text, where it was tuned."""
        return {"f": self.f_} if self.f == "tuned" else {}

    # --- learning ---------------------------------------------------------------------------------------------

    def learn(self, X: Csr, Y: Csr) -> None:
        """Tune f if requested, then train the stages on all documents."""
        self.f_ = self._tuned(X, Y) if self.f == "tuned" else float(self.f)
        first = self._svm_to_train().fit(X, Y)
        self.stages_ = [first, *self._later(first, X, Y, self.f_, self._predicted(first, X, Y))]
        if not self.model.keep_dual:
            for stage in self.stages_:
                stage.keep_dual = False
                del stage.dual_coef_

    def _svm_to_train(self) -> LinearSVM:
        return unfitted_copy(self.model).set_params(keep_dual=True)

    def _tuned(self, X: Csr, Y: Csr) -> float:
        grid = [float(value) for value in np.asarray(self.grid)]
        splits = validation_splits(Y, self.validation, self.model.seed)
        if not splits:
            return UNTUNED

        def predictions(train: Ints, test: Ints) -> Iterator[Csr]:
            X_train, Y_train, X_test = Csr(X[train]), Csr(Y[train]), Csr(X[test])
            first = self._svm_to_train().fit(X_train, Y_train)
            labels, latest = self._predicted(first, X_train, Y_train), first
            for f in grid:
                later = self._later(latest, X_train, Y_train, f, labels)
                latest = later[-1]
                yield forced_labels(self._scores([first, *later], X_test, f))

        trials = try_settings("Tuning f", grid, splits, Y, predictions, self.metric)
        self.tried_ = trials.measured
        return grid[trials.best]

    def _later(self, former: LinearSVM, X: Csr, Y: Csr, f: float, labels: Csr) -> list[LinearSVM]:
        """The models on terms and labels, one per round; each starts from the dual solution of the one before."""
        models = []
        for left in range(self.rounds, 0, -1):
            Z = self._join(X, labels, f)
            former = self._svm_to_train().fit(Z, Y, initial=former.dual_coef_)
            models.append(former)
            if left > 1:
                labels = self._predicted(former, Z, Y)
        return models

    def _predicted(self, model: LinearSVM, Z: Csr, Y: Csr) -> Csr:
        """Predicted labels of training documents: by the model trained on them, or by models that did not see them."""
        if self.oof_folds == 0 or Z.shape[0] < self.oof_folds:
            return forced_sets(model, Z)
        label_sets, rows = [], []
        folds = iterative_stratification(Y, self.oof_folds, self.model.seed)
        for train, test in track("Labelling documents out of fold", folds):
            # Where a solver starts does not change where it ends: the full solution is a short way from each fold's.
            fitted = self._svm_to_train().fit(Z[train], Y[train], initial=model.dual_coef_[train])
            label_sets.append(forced_sets(fitted, Csr(Z[test])))
            rows.append(test)
        return Csr(sparse.vstack(label_sets, format="csr")[np.argsort(np.concatenate(rows))])

    def _join(self, X: Csr, labels: Csr, f: float) -> Csr:
        return heterogeneous(X, labels, f, self.scaling, self.zero_text)

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """Scores from terms, labels predicted from them, then scores from terms and labels, once per round."""
        return self._scores(self.stages_, X, self.f_)

    def _scores(self, stages: list[LinearSVM], X: Csr, f: float) -> Floats:
        scores = stages[0].score_batch(X)
        for stage in stages[1:]:
            scores = stage.score_batch(self._join(X, forced_labels(scores), f))
        return scores

    def label_coefficients(self) -> Floats:
        """The last stage's weights on the label columns of z, labels × labels.

        Row k is the SVM of label k, column m its weight on γ_m: above 0 where label m raises the score of label k.
        """
        self.check_fitted()
        weights: Any = self.stages_[-1].weights_
        turned = weights[self.n_features_in_ :]
        plain: Any = haar_basis(self.n_labels_) @ turned.astype(np.float64)
        return np.asarray((plain if isinstance(plain, np.ndarray) else plain.toarray()).T)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the last stage's scores, labels × terms.

        The rest of a score is the bias and what the labels of the stage before add, which `label_evidence` returns.
        """
        document, wanted = asked_for(self, x, labels)
        Z = self._join(document, self._labels_read(document), self.f_)
        evidence = self.stages_[-1].evidence(Z, wanted)
        return Csr(evidence[:, : self.n_features_in_])

    def label_evidence(self, x: object) -> Floats:
        """What each label, predicted or not by the stage before, adds to the last stage's scores, labels × labels.

        With `evidence` and the bias of the last stage, rows add up to the scores.
        """
        document, _ = asked_for(self, x, None)
        squares = np.asarray(document.multiply(document).sum(axis=1)).reshape(-1)
        _, scale = block_scales(squares, self.n_labels_, self.f_, self.scaling, self.zero_text)
        predicted = self._labels_read(document).toarray()[0]
        return np.asarray(self.label_coefficients() * (scale[0] * np.where(predicted > 0, 1.0, -1.0)))

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of the last stage's scores of one document; absent labels of the stage before have evidence too."""
        document, wanted = asked_for(self, x, labels)
        total = self.score_batch(document)[0, wanted]
        intercept = self.stages_[-1].intercept_[wanted]
        return ScoreParts(self.evidence(document, wanted), total, intercept, Csr(self.label_evidence(document)[wanted]))

    def _labels_read(self, document: Csr) -> Csr:
        """The labels of a document that the last stage reads: those that the stage before predicts."""
        return forced_labels(self._scores(self.stages_[:-1], document, self.f_))


@lru_cache(maxsize=8)
def haar_basis(n_labels: int) -> Csr:
    """An orthogonal labels × coordinates matrix R with about log₂ L numbers per row, which is a label's unit vector.

    Coordinate 0 is the constant 1/√L. Every other one sets the a labels of one half of a range against the b of the
    other half: √(b / a(a + b)) for those, −√(a / b(a + b)) for these; ranges are halved until one label is left.

    >>> haar_basis(3).toarray().round(4).tolist()
    [[0.5774, 0.8165, 0.0], [0.5774, -0.4082, 0.7071], [0.5774, -0.4082, -0.7071]]
    """
    rows, columns, values = [np.arange(n_labels)], [np.zeros(n_labels, np.int64)], [np.full(n_labels, n_labels**-0.5)]
    ranges, coordinate = [(0, n_labels)], 0
    while ranges:
        begin, end = ranges.pop()
        if end - begin < 2:
            continue
        coordinate += 1
        middle = (begin + end) // 2
        a, b = middle - begin, end - middle
        rows.append(np.arange(begin, end))
        columns.append(np.full(a + b, coordinate))
        values.append(np.repeat([(b / (a * (a + b))) ** 0.5, -((a / (b * (a + b))) ** 0.5)], [a, b]))
        ranges += [(middle, end), (begin, middle)]
    cells = (np.concatenate(rows), np.concatenate(columns))
    return Csr(sparse.coo_array((np.concatenate(values), cells), shape=(n_labels, n_labels)).tocsr())


def block_scales(
    squares: Floats, n_labels: int, f: float, scaling: Scaling, zero_text: ZeroText
) -> tuple[Floats, Floats]:
    """The factors of the terms and of the labels of each document, from its squared length ‖d‖².

    kernel         √f d                √((1 − f)/L) γ                K = f K_T + (1 − f) K_L
    literal        f d / n             (1 − f) γ / n                 n makes the whole vector of length 1
    literal_unit   f d / n             (1 − f) γ / (n √L)            the same

    A document without known terms has length √(1 − f) under ``kernel``, or 1 with ``zero_text="unit"``.

    >>> [scale.round(6).tolist() for scale in block_scales(np.array([1.0, 0.0]), 3, 0.7, "kernel", "unit")]
    [[0.83666, 0.83666], [0.316228, 0.57735]]
    """
    if scaling == "kernel":
        terms, labels = np.full(len(squares), f**0.5), np.full(len(squares), ((1 - f) / n_labels) ** 0.5)
        if zero_text == "unit" and f < 1:
            labels[squares == 0] = n_labels**-0.5
        return terms, labels
    label = (1 - f) if scaling == "literal" else (1 - f) / n_labels**0.5
    length = np.sqrt(f**2 * squares + label**2 * n_labels)
    length[length == 0] = 1.0
    return f / length, label / length


def heterogeneous(X: Csr, P: Csr, f: float, scaling: Scaling = "kernel", zero_text: ZeroText = "keep") -> Csr:
    """The vectors z of terms and labels, documents × (terms + labels), label coordinates in the Haar basis.

    `P` holds 1 where γ is +1. Source: Godbole & Sarawagi 2004, section 3; the scaling is discussed in `SVMHF`.

    >>> X, P = Csr(np.array([[0.6, 0.8], [1.0, 0.0]])), Csr(np.array([[1, 0, 0], [0, 1, 0]]))
    >>> Z = heterogeneous(X, P, 0.7)
    >>> round(float((Z[[0]] @ Z[[1]].T).toarray()[0, 0]), 6)
    0.32
    """
    n_labels = P.shape[1]
    squares = np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).reshape(-1)
    terms, labels = block_scales(squares, n_labels, f, scaling, zero_text)
    turned = scaled_rows(Csr(P.astype(np.float64) @ haar_basis(n_labels)), 2 * labels)
    n = X.shape[0]
    constant = Csr((-labels * n_labels**0.5, np.zeros(n, np.int32), np.arange(n + 1)), shape=(n, n_labels))
    joined = Csr(sparse.hstack([scaled_rows(X, terms), turned + constant], format="csr"))
    joined.eliminate_zeros()
    return joined
