"""Linear support vector machines and logistic regression, one label against the rest, all labels at once."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.deadline import Deadline
from manylabel.estimator import Csr, Floats, Ints, unfitted_copy
from manylabel.exceptions import DataError, ManylabelWarning
from manylabel.kernels.label_tables import score_one
from manylabel.kernels.score_batches import batch_scores
from manylabel.models import label_axis
from manylabel.models.base import Columns, DocumentScorer, MultiLabelModel
from manylabel.models.evidence import ScoreParts, asked_for, evidence_table
from manylabel.models.exported import ExportedScores, LinearBlock
from manylabel.models.inputs import check_weights
from manylabel.models.score_kinds import Bools, ScoreKind, sigmoid
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf, Satisfies
from manylabel.stored import Either, Matrix, Sometimes, Stored, reals, singles, wholes
from manylabel.wording import counted, there_are

_POSITIVE = Number(low=0, open_low=True)
_COSTS = AnyOf(
    _POSITIVE, Satisfies("one such number for each label", lambda v: isinstance(v, (list, tuple, np.ndarray)))
)

TRIAL_TOL = 0.03
"""The tolerance of a trial. It takes a third less time than 0.001; up to 2 of 288,000 decisions on Reuters differ."""

SMALL_DUAL = 0.001
"""The share of C below which a dual coefficient is not worth starting from."""

MANY_WEIGHTS, PRUNED_SHARE = 1 << 24, 0.2
"""Terms × labels from which small weights are dropped, and the share of the norm that they may have."""


class LinearSVM(MultiLabelModel):
    """Margins w·x + b of one linear classifier per label, each trained against the rest of the documents.

    min ½‖w‖² + C Σ_i c_i loss(y_i (w·x_i + b)),   c_i = J for the label's positives, 1 for all others

    squared_hinge   max(0, 1 − m)²          hinge   max(0, 1 − m)          logistic   log(1 + e^−m): scores are log-odds

    A label without positives scores −1, one without negatives +1, with w = 0; as log-odds −∞ and +∞.

    Parameters
    ----------
    loss : the loss of a margin m, see above.
    C, J : the cost of errors, and by how much those of positives cost more; numbers, or one number for each label.
        `sample_weight` of `fit` multiplies C document by document.
    bias, intercept_scaling : "regularised" (a constant feature of the value `intercept_scaling`, which adds
        ½ (b / scaling)² to the objective, as LIBLINEAR), "free" (not in the objective, as SVM-light) or "none".
    tol : the largest violation of the optimality conditions at the end, in units of the margin. From 1e-5 on the solver
        computes in single precision.
    max_iter : the largest number of epochs, per label.
    seed, n_jobs : the seed of the order of documents; the number of threads, on which the result does not depend.
    keep_dual : keep the dual coefficients α as `dual_coef_` (documents × labels). ``fit(..., initial=α)`` starts from
        them, with another C, after other exclusions, or with documents appended.
    warm_start : keep them, and start from them in the next `fit`.
    prune : drop each label's smallest weights, as long as their norm is at most this share of ‖w‖; no score of a
        document of length 1 changes by more. "auto" is 0.2 from 2²⁴ terms × labels on, which keeps a tenth of the
        weights or less, and 0 below (docs/decisions/0021).

    Source: Godbole & Sarawagi 2004, section 2; Manning, Raghavan & Schütze 2008, chapter 15; the solver is described in
    `manylabel.kernels.linear_reference`.

    >>> X, Y = np.array([[3.0], [2.0], [0.0]]), np.array([[1], [0], [0]])
    >>> model = LinearSVM(loss="hinge", C=1e3, bias="free", tol=1e-6, max_iter=10_000).fit(X, Y)
    >>> model.coef_.round(4).tolist(), model.intercept_.round(4).tolist()
    ([[2.0]], [-5.0])
    """

    independent_labels = True
    starts_warm = True
    trial_settings: ClassVar[Mapping[str, Any]] = {"tol": TRIAL_TOL}
    additive_scores = True
    weighs_documents = True
    learns_labels_apart = True
    wants: ClassVar[frozenset[str]] = frozenset({"deadline"})
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "loss": OneOf("squared_hinge", "hinge", "logistic"),
        "C": _COSTS,
        "J": _COSTS,
        "bias": OneOf("regularised", "free", "none"),
        "intercept_scaling": _POSITIVE,
        "tol": _POSITIVE,
        "max_iter": Number(low=1, whole=True),
        "seed": Number(low=0, whole=True),
        "n_jobs": AnyOf(OneOf(None, -1), Number(low=1, whole=True)),
        "keep_dual": FLAG,
        "warm_start": FLAG,
        "prune": AnyOf(OneOf("auto"), Number(low=0, high=1)),
    }

    weights_: Csr | npt.NDArray[Any]
    """Terms × labels, sparse or dense, whichever is smaller."""
    intercept_: Floats
    n_iter_: Ints
    dual_coef_: Csr

    learned: ClassVar[Mapping[str, Stored]] = {
        "weights_": Either(singles("terms", "labels"), Matrix("terms", "labels", ("f4", "f8"))),
        "intercept_": reals("labels"),
        "n_iter_": wholes("labels"),
        "dual_coef_": Sometimes(Matrix("labels", None)),
    }

    def __init__(
        self,
        loss: Literal["squared_hinge", "hinge", "logistic"] = "squared_hinge",
        C: float | npt.ArrayLike = 1.0,
        J: float | npt.ArrayLike = 1.0,
        bias: Literal["regularised", "free", "none"] = "regularised",
        intercept_scaling: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 1000,
        seed: int = 0,
        n_jobs: int | None = None,
        keep_dual: bool = False,
        warm_start: bool = False,
        prune: float | Literal["auto"] = "auto",
    ) -> None:
        self.loss = loss
        self.C = C
        self.J = J
        self.bias = bias
        self.intercept_scaling = intercept_scaling
        self.tol = tol
        self.max_iter = max_iter
        self.seed = seed
        self.n_jobs = n_jobs
        self.keep_dual = keep_dual
        self.warm_start = warm_start
        self.prune: float | Literal["auto"] = prune

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds for the logistic loss, margins otherwise."""
        return ScoreKind.LOG_ODDS if self.loss == "logistic" else ScoreKind.MARGIN

    # --- learning ---------------------------------------------------------------------------------------------

    def fit(
        self,
        X: object,
        Y: object = None,
        sample_weight: npt.ArrayLike | None = None,
        excluded: object = None,
        initial: object = None,
        *,
        y: object = None,
        deadline: Deadline | None = None,
    ) -> Self:
        """Learn one classifier per label; `y` is scikit-learn's name for `Y`.

        `excluded` (documents × labels, 0 and 1) marks documents that a label leaves out unless they carry it. `initial`
        (documents × labels) holds the dual coefficients to start from; its documents are the first ones of `X`. The
        `deadline` is checked while the SVMs are trained.
        """
        former = initial
        if former is None and self.warm_start:
            former = self.learned_state().get("dual_coef_")
        features, targets = self.check_training(X, y if Y is None else Y)
        weights = None if sample_weight is None else check_weights(sample_weight, features.shape[0], "LinearSVM")
        fits = former is not None and _fits(former, targets.Y.shape)
        if initial is not None and not fits:
            found, wanted = np.shape(cast(Any, initial)), there_are(targets.Y.shape[0], "document")
            more = f"(it may have fewer) and {counted(targets.Y.shape[1], 'label')}"
            raise DataError(f"LinearSVM: initial has shape {found}, but {wanted} {more}.")
        self.learn(features, targets.Y, weights, _table(excluded), _table(former) if fits else None, deadline)
        return self

    def fit_weighted(self, X: object, Y: object, weights: npt.ArrayLike) -> Self:
        """Learn with C multiplied by the weight of each document."""
        return self.fit(X, Y, sample_weight=weights)

    def fit_with_costs(self, X: Csr, Y: Csr, costs: Floats) -> Self:
        """Learn with J multiplied by `costs`, label by label."""
        self.J = np.asarray(self.J, dtype=np.float64) * costs
        return self.fit(X, Y)

    def fit_excluding(self, X: Csr, Y: Csr, excluded: Csr) -> Self:
        """Learn each label without the documents that are excluded for it."""
        return self.fit(X, Y, excluded=excluded)

    def fit_after(self, other: LinearSVM | None, X: Csr, Y: Csr, **facts: Any) -> Self:
        """Learn, starting from the dual solution of another `LinearSVM`; the own one is kept for the next."""
        self.keep_dual = True
        return self.fit(X, Y, initial=None if other is None else other.dual_coef_, **facts)

    def fit_keeping(self, X: Csr, Y: Csr, **facts: Any) -> Csr:
        """Learn, and return the dual coefficients; the model keeps them only where its settings say so."""
        fitted = unfitted_copy(self).set_params(keep_dual=True).fit(X, Y, **facts)
        kept = self.keep_dual or self.warm_start
        self.restore({name: one for name, one in fitted.learned_state().items() if kept or name != "dual_coef_"})
        return fitted.dual_coef_

    def refit(self, X: Csr, Y: Csr, columns: Ints, **facts: Any) -> Self:
        """Learn from other documents, starting from the dual solution that the weights of known labels imply."""
        known = np.flatnonzero(columns >= 0)
        fresh, former = unfitted_copy(self), self.of_labels(columns[known])
        for name in ("C", "J"):
            costs = np.asarray(self.get_params()[name], dtype=np.float64)
            if costs.ndim:  # a new label has the middle one
                fresh.set_params(**{name: np.where(columns >= 0, costs[columns], np.median(costs))})
        if not len(known):
            return fresh.fit(X, Y, **facts)
        dual = former.implied_dual(X, Csr(Y[:, known]))
        initial = Csr((dual.data, known[dual.indices], dual.indptr), shape=Y.shape)
        return fresh.fit(X, Y, initial=initial, **facts)

    def implied_dual(self, X: Csr, Y: Csr) -> Csr:
        """The dual coefficients that go with the margins m of documents at the optimum.

        squared_hinge   2 C max(0, 1 − m)        logistic   C/(1 + eᵐ)        hinge   C where m < 1

        Coefficients below C/1000 are left out: the solver finds them as fast.
        """
        C, J = (np.broadcast_to(np.asarray(one, dtype=np.float64), Y.shape[1]) for one in (self.C, self.J))
        found = []
        for rows, scores in self.score_in_batches(X):
            positive = Y[rows].toarray() > 0
            slack = 1 - np.nan_to_num(np.where(positive, scores, -scores))
            if self.loss == "logistic":
                share = sigmoid(slack - 1)
            else:
                share = 2 * np.maximum(slack, 0.0) if self.loss == "squared_hinge" else (slack > 0).astype(np.float64)
            share[share < SMALL_DUAL] = 0
            found.append(Csr(share * np.where(positive, C * J, C)))
        return Csr(sparse.vstack(found, format="csr"))

    def learn(
        self,
        X: Csr,
        Y: Csr,
        weights: Floats | None = None,
        excluded: Csr | None = None,
        initial: Csr | None = None,
        deadline: Deadline | None = None,
    ) -> None:
        """Learn from checked data; the arguments are those of `fit`."""
        many = X.shape[1] * Y.shape[1] >= MANY_WEIGHTS
        prune = (PRUNED_SHARE if many else 0.0) if self.prune == "auto" else float(self.prune)
        from manylabel.kernels.linear_solvers import fit_linear  # predicting starts faster without the solvers

        found = fit_linear(
            X, Y, loss=self.loss, C=np.asarray(self.C, dtype=np.float64), J=np.asarray(self.J, dtype=np.float64),
            bias=self.bias, intercept_scaling=self.intercept_scaling, tol=self.tol, max_iter=self.max_iter,
            seed=self.seed, n_jobs=self.n_jobs, sample_weight=weights, excluded=excluded, initial=initial,
            keep_dual=self.keep_dual or self.warm_start, prune=prune, deadline=deadline,
        )  # fmt: skip
        self.weights_ = found.weights
        self.keep_intercept(found.intercept, found.epochs, found.converged)
        if self.keep_dual or self.warm_start:
            self.dual_coef_ = found.dual

    def keep_intercept(self, intercept: Floats, epochs: Ints, converged: Bools) -> None:
        """Keep the intercepts and epochs of all labels; warn of labels that did not converge."""
        self.intercept_, self.n_iter_ = intercept, epochs
        if self.loss == "logistic":
            # A label that never varied is certain; the ±1 of a margin would be a probability of 0.73.
            self.intercept_ = np.where(epochs == 0, np.copysign(np.inf, intercept), intercept)
        if late := int(np.count_nonzero(~converged)):
            warnings.warn(
                f"LinearSVM: {late} of {counted(len(converged), 'label was', 'labels were')} not within "
                f"tol={self.tol:g} after max_iter={self.max_iter} epochs. Raise max_iter, or lower C, or "
                "scale the documents to unit length.",
                ManylabelWarning,
                stacklevel=4,
            )

    # --- some of the labels -------------------------------------------------------------------------------------------

    def for_labels(self, labels: Ints) -> Self:
        """An unfitted copy for some of the labels: of costs that differ by label, theirs."""
        costs = {"C": np.asarray(self.C, dtype=np.float64), "J": np.asarray(self.J, dtype=np.float64)}
        return unfitted_copy(self).set_params(**{name: values[labels] for name, values in costs.items() if values.ndim})

    def joined(self, models: Sequence[Self], n_features: int, columns: Sequence[Columns] | None = None) -> Self:
        """One SVM with the labels of several, without dual coefficients, which belong to one fit."""
        whole, tables = unfitted_copy(self), [sparse.csc_array(one.weights_) for one in models]
        terms = [table.indices if columns is None else columns[at][table.indices] for at, table in enumerate(tables)]
        sizes = np.concatenate([np.diff(table.indptr) for table in tables]) if tables else np.zeros(0, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        narrow = starts[-1] <= np.iinfo(np.int32).max  # SciPy widens all indices to the wider of both
        cells = np.concatenate([np.zeros(0, dtype=np.float32), *(table.data for table in tables)])
        places = np.concatenate([np.zeros(0, dtype=np.int32), *terms])
        by_label = Csr((cells, places, starts.astype(np.int32) if narrow else starts), shape=(len(sizes), n_features))
        weights = Csr(by_label.T.tocsr())
        in_all = weights.shape[0] * weights.shape[1] * weights.dtype.itemsize
        dense = in_all < weights.data.nbytes + weights.indices.nbytes + weights.indptr.nbytes
        whole.weights_ = weights.toarray() if dense else weights
        whole.intercept_ = np.concatenate([np.zeros(0), *(one.intercept_ for one in models)])
        whole.n_iter_ = np.concatenate([np.zeros(0, dtype=np.int64), *(one.n_iter_ for one in models)])
        whole.note_shape(n_features, len(sizes))
        return whole

    def of_labels(self, columns: Ints) -> Self:
        """The SVMs of some labels: their weights, and of costs that differ by label, theirs."""
        taken = label_axis.of_labels(self, columns)
        return self.for_labels(columns).restore(taken.learned_state())

    def beside(self, other: MultiLabelModel) -> MultiLabelModel:
        """The SVMs of both, without dual coefficients."""
        if not isinstance(other, LinearSVM):
            return super().beside(other)
        pair, both = (self, other), unfitted_copy(self)
        for name in ("C", "J"):
            costs = [np.asarray(one.get_params()[name], dtype=np.float64) for one in pair]
            if any(cost.ndim for cost in costs):
                whole = [np.broadcast_to(cost, one.n_labels_) for cost, one in zip(costs, pair, strict=True)]
                both.set_params(**{name: np.concatenate(whole)})
        return both.joined(pair, self.n_features_in_)

    # --- scoring ----------------------------------------------------------------------------------------------

    def score_batch(self, X: Csr) -> Floats:
        """X · weights + intercept, summed in double precision."""
        scores = batch_scores(X, self.weights_, self.n_jobs)
        scores += self.intercept_
        return scores

    def scores_of_label(self, X: Csr, label: int) -> Floats:
        """X · weights + intercept of one label."""
        column: Any = self.weights_[:, [label]]
        weights = column if isinstance(column, np.ndarray) else column.toarray()
        return np.asarray(X @ weights.ravel().astype(np.float64) + self.intercept_[label], dtype=np.float64)

    def document_scorer(self) -> DocumentScorer:
        """A scorer that reads the weights of the document's terms only; the sums are those of `score_batch`."""
        weights, intercept = self.weights_, self.intercept_
        table: tuple[Any, Any, Any] = (None, None, weights)
        if not isinstance(weights, np.ndarray):
            table = (weights.indptr, weights.indices, weights.data)

        def score(terms: npt.NDArray[np.int32], values: Floats) -> Floats:
            scores = np.zeros(len(intercept))
            score_one(terms, values, *table, scores)
            return scores + intercept

        return score

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term of one document adds to the scores of some labels (default: all), labels × terms.

        The summands x_w w_kw of the scores; with the intercept they add up to them.
        """
        document, wanted = asked_for(self, x, labels)
        rows: Any = self.weights_[document.indices][:, wanted]
        weights = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return evidence_table(document, document.data * weights.T.astype(np.float64))

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores: intercept plus weights times values."""
        document, wanted = asked_for(self, x, labels)
        total = self.score_batch(document)[0, wanted]
        return ScoreParts(self.evidence(document, wanted), total, self.intercept_[wanted])

    @property
    def is_exportable(self) -> bool:
        """True: the scores are X · weights + intercept."""
        return True

    def exported_scores(self) -> ExportedScores:
        """The weights and the intercept."""
        return ExportedScores((LinearBlock(self.intercept_, self.weights_),), (self.score_kind,))

    @property
    def coef_(self) -> Csr | npt.NDArray[Any]:
        """The weights in the layout of scikit-learn, labels × terms."""
        self.check_fitted()
        if isinstance(self.weights_, np.ndarray):
            return self.weights_.T
        return Csr(self.weights_.T.tocsr())


def _fits(table: object, shape: tuple[int, int]) -> bool:
    """Whether a table of an earlier fit has the same labels and no more documents."""
    found = np.shape(cast(Any, table))
    return len(found) == 2 and found[0] <= shape[0] and found[1] == shape[1]


def _table(table: Any) -> Csr | None:
    if table is None:
        return None
    found = Csr(table)
    if found.nnz and (not np.isfinite(found.data).all() or found.data.min() < 0):
        raise DataError("LinearSVM: excluded and initial must hold numbers that are at least 0, documents × labels.")
    return found
