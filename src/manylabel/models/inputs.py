"""Checks of what users pass to `fit`, `partial_fit`, `merge` and `predict`: X becomes canonical CSR, Y 0/1 CSR.

Sparse input is checked here, without scikit-learn; dense input is checked the way scikit-learn checks it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Floats, as_csr
from manylabel.exceptions import DataError, UnsupportedError
from manylabel.wording import counted, there_are

if TYPE_CHECKING:
    from manylabel.models.base import MultiLabelModel

LabelForm = Literal["sparse", "dense", "single"]
AnyModel = TypeVar("AnyModel", bound="MultiLabelModel")


@dataclass(frozen=True, slots=True)
class Targets:
    """Y as 0/1 CSR, the class values of its columns, and its original form, in which predictions are returned.

    `classes` holds the class values of a 1-D `y` (form ``single``: one column per class), otherwise 0 … L − 1.
    """

    Y: Csr
    classes: npt.NDArray[Any]
    form: LabelForm


def check_features(owner: MultiLabelModel, X: object, *, reset: bool, non_negative: bool) -> Csr:
    """X as canonical CSR of finite float64; `reset` stores its width, otherwise the width is checked."""
    checked = _check_sparse(owner, X, reset) if sparse.issparse(X) else _check_dense(owner, X, reset)
    if non_negative and checked.nnz and checked.data.min() < 0:
        raise DataError(
            f"Negative values in data passed to {type(owner).__name__}: counts of terms must not be negative.",
            remedy="Give counts, or use a method for any numbers: auto, svm, knn.",
        )
    return checked


def _check_dense(owner: MultiLabelModel, X: object, reset: bool) -> Csr:
    from sklearn.utils.validation import validate_data

    try:
        return Csr(validate_data(owner, X, reset=reset, accept_sparse="csr", dtype=np.float64))
    except ValueError as error:
        if "could not convert string to float" not in str(error):
            raise
    raise DataError(
        f"{type(owner).__name__} reads numbers, but X holds texts.",
        remedy="Give texts to TextClassifier, or turn them into a matrix with manylabel.features.Vectorizer first.",
    )


def _check_sparse(owner: MultiLabelModel, X: Any, reset: bool) -> Csr:
    name = type(owner).__name__
    if X.ndim != 2:
        raise DataError(f"{name} needs a documents × terms matrix, not an array of {X.ndim} dimensions.")
    if X.dtype.kind not in "fiub":
        kind = "Complex data not supported" if X.dtype.kind == "c" else "X must hold numbers"
        raise DataError(f"{kind}: {name} was given a matrix of {X.dtype}.")
    if reset:
        if X.shape[0] == 0 or X.shape[1] == 0:
            raise DataError(
                f"Nothing to learn from: {name} was given {counted(X.shape[0], 'document')} of "
                f"{counted(X.shape[1], 'term')}."
            )
        owner.n_features_in_ = X.shape[1]
    elif X.shape[1] != owner.n_features_in_:
        raise DataError(
            f"X has {X.shape[1]} features, but {name} is expecting {owner.n_features_in_} features as input."
        )
    return canonical(Csr(as_csr(X, f"{name}: X").astype(np.float64, copy=False)), name)


def canonical(X: Csr, name: str = "X") -> Csr:
    """The matrix with sorted, distinct indices and no stored zeros, checked to be finite; the input is not changed."""
    if not np.isfinite(X.data.sum()) and not np.isfinite(X.data).all():
        raise DataError(f"{name} was given NaN or infinity in X. Every count must be a finite number.")
    clean = X.has_canonical_format
    full = np.count_nonzero(X.data) == X.nnz
    if clean and full:
        return X
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


def check_scores(owner: MultiLabelModel, scores: Any, n_documents: int) -> Floats:
    """What `score_batch` returned, where it is an array with one score per document and label, none of them NaN."""
    wanted = (n_documents, owner.n_labels_)
    if isinstance(scores, np.ndarray) and scores.shape == wanted:
        if np.isnan(scores.max(initial=-np.inf)):  # the maximum is NaN where any score is
            row, label = np.argwhere(np.isnan(scores))[0].tolist()
            raise DataError(
                f"{type(owner).__name__}.score_batch returned NaN for label {label} of document {row} of a batch (both "
                "count from 0). A label that is impossible has the score -numpy.inf."
            )
        return scores
    is_array = isinstance(scores, np.ndarray) or sparse.issparse(scores)
    found = f"a {type(scores).__name__} of shape {scores.shape}" if is_array else type(scores).__name__
    raise DataError(
        f"{type(owner).__name__}.score_batch has to return a NumPy array of shape {wanted}: one score for each of "
        f"{counted(n_documents, 'document')} and {counted(owner.n_labels_, 'label')}. It returned {found}."
    )


def check_targets(owner: MultiLabelModel, Y: Any, n_documents: int, classes: npt.NDArray[Any] | None = None) -> Targets:
    """Y as 0/1 CSR with its form; `classes` fixes the columns of a 1-D `y` when it comes in pieces."""
    name = type(owner).__name__
    if Y is None:
        raise DataError(f"{name} requires y to be passed, but the target y is None.")
    if sparse.issparse(Y):
        matrix: Any = Y
        if matrix.ndim != 2:
            raise DataError(f"{name} needs a documents × labels matrix, not an array of {matrix.ndim} dimensions.")
        targets = Targets(_indicator(Csr(as_csr(matrix, f"{name}: Y")), name), np.arange(matrix.shape[1]), "sparse")
    else:
        targets = _dense_targets(name, Y, classes)
    if targets.Y.shape[0] != n_documents:
        raise DataError(
            f"{name}: X has {counted(n_documents, 'document')} but Y has {counted(targets.Y.shape[0], 'row')}."
        )
    if targets.Y.shape[1] == 0:
        raise DataError(f"{name}: Y has no label columns. At least one label is needed.")
    return targets


def _dense_targets(name: str, Y: object, classes: npt.NDArray[Any] | None) -> Targets:
    try:
        array = np.asarray(Y)
    except ValueError:
        array = np.empty((0, 0, 0), dtype=object)
    if array.ndim == 1 and not (array.dtype == object and len(array) and isinstance(array[0], (list, tuple, set))):
        return _class_targets(name, array, classes)
    if array.ndim == 2 and array.dtype.kind in "fiub":
        if array.shape[1] == 1 and not np.isin(array, (0, 1)).all():
            return _class_targets(name, array, classes)
        return Targets(_indicator(Csr(array), name), np.arange(array.shape[1]), "dense")
    raise DataError(
        f"{name} needs Y as a documents × labels matrix of 0 and 1 (sparse or dense) or as one class "
        f"per document, not {type(Y).__name__}. Turn lists of label names into a matrix with "
        "manylabel.data.label_matrix."
    )


def _class_targets(name: str, y: npt.NDArray[Any], classes: npt.NDArray[Any] | None) -> Targets:
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import assert_all_finite, column_or_1d

    y = column_or_1d(y, warn=True)
    if y.dtype.kind == "f":
        assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    known = np.unique(y) if classes is None else np.asarray(classes)
    columns = np.minimum(np.searchsorted(known, y), max(len(known) - 1, 0))
    if classes is not None and len(y) and not np.array_equal(known[columns], y):
        raise DataError(f"{name}: y holds classes that are not in `classes`, which must name them all.")
    data, indptr = np.ones(len(y), dtype=np.int8), np.arange(len(y) + 1)
    return Targets(Csr((data, columns, indptr), shape=(len(y), len(known))), known, "single")


def _indicator(Y: Csr, name: str) -> Csr:
    if Y.dtype.kind not in "fiub" or not ((Y.data == 0) | (Y.data == 1)).all():
        raise DataError(f"{name}: Y must hold only 0 and 1, 1 where the document (row) has the label (column).")
    if Y.has_canonical_format and Y.data.all():
        return Csr((np.ones(Y.nnz, dtype=np.int8), Y.indices, Y.indptr), shape=Y.shape)
    Y = Y.astype(np.int8)
    Y.sum_duplicates()
    Y.eliminate_zeros()
    Y.data[:] = 1
    return Y


def check_weights(sample_weight: npt.ArrayLike, n_documents: int, name: str) -> Floats:
    """The weight of each document as an array; one number is the weight of all."""
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n_documents, float(weights))
    if weights.shape != (n_documents,):
        raise DataError(
            f"{name}: sample_weight has shape {weights.shape}, but {there_are(n_documents, 'document')}. "
            "Sample weights must be 1D array or scalar."
        )
    if not np.isfinite(weights).all() or weights.min(initial=0.0) < 0:
        raise DataError(f"{name}: sample_weight must hold finite numbers that are at least 0.")
    if not weights.any():
        raise DataError(f"{name}: every sample_weight is zero, so there are no documents to learn from.")
    return weights


def cannot_weigh(name: str) -> UnsupportedError:
    """The error of a method or a model that cannot learn from documents with weights."""
    return UnsupportedError(
        f"{name} cannot weigh documents (sample_weight). Methods that can: auto, svm, logistic, rocchio and naive "
        "Bayes (nb and most of its relatives)."
    )


class AdditiveModel(Protocol):
    """The methods of a model whose `is_additive` is true."""

    def partial_fit(self, X: object, Y: object, classes: npt.ArrayLike | None = None) -> Self:
        """Learn from more documents."""

    def merge(self, other: Any) -> Self:
        """A new model, the same as one fitted on the documents of both."""

    def count(self, X: Csr, Y: Csr) -> Any:
        """The table that the model learns from; tables of pieces add up."""

    def fit_table(self, table: Any, **facts: Any) -> Self:
        """Learn from a table: the same model as `fit` on the documents that were counted."""


def check_piece(
    model: MultiLabelModel, X: object, Y: object, classes: npt.ArrayLike | None, *, first: bool
) -> tuple[Csr, Targets]:
    """Checked documents and labels of one call of `partial_fit`; the first stores the shape of the problem.

    `classes` names all classes of a 1-D `y` and is needed with the first piece only.
    """
    if first:
        model.check_parameters()
    features = check_features(model, X, reset=first, non_negative=model.needs_counts)
    if classes is None and not first and model.label_form_ == "single":
        classes = model.classes_
    known = None if classes is None else np.unique(np.asarray(classes))
    targets = check_targets(model, Y, features.shape[0], known)
    if first:
        if targets.form == "single" and classes is None:
            raise DataError(
                "classes must be passed on the first call to partial_fit when y holds one class per document."
            )
        model.note_targets(targets)
    elif not np.array_equal(targets.classes, model.classes_):
        raise DataError(
            "`classes` is not the same as on the last call to partial_fit: "
            f"{targets.classes!r}, not {model.classes_!r}."
        )
    return features, targets


def merged_shell(model: AnyModel, other: AnyModel) -> AnyModel:
    """An untrained model with the parameters, labels and vocabulary of both, which must agree."""
    model.check_fitted()
    other.check_fitted()
    same_width = model.n_features_in_ == other.n_features_in_
    if not same_width or model.get_params() != other.get_params() or not np.array_equal(model.classes_, other.classes_):
        raise DataError("Only models with the same parameters, labels and vocabulary can be merged.")
    merged = type(model)(**model.get_params(deep=False))
    merged.n_features_in_, merged.n_labels_ = model.n_features_in_, model.n_labels_
    merged.classes_, merged.label_form_ = model.classes_, model.label_form_
    return merged


def single_precision(X: Csr) -> Csr:
    """X in single precision, as scikit-learn's trees and networks read it; values are clipped to its range.

    >>> single_precision(Csr(np.array([[0.5, 1e300]]))).toarray().tolist()
    [[0.5, 3.4028234663852886e+38]]
    """
    limit = float(np.finfo(np.float32).max)
    return Csr((np.clip(X.data, -limit, limit).astype(np.float32), X.indices, X.indptr), shape=X.shape)
