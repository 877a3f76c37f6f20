"""Learning in pieces: the checks of a further piece, and of two models that are to become one."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr
from manylabel.exceptions import DataError
from manylabel.models.base import MultiLabelModel
from manylabel.models.inputs import Targets, check_features, check_targets

AnyModel = TypeVar("AnyModel", bound=MultiLabelModel)


def check_piece(
    model: MultiLabelModel, X: object, Y: object, classes: npt.ArrayLike | None, *, first: bool
) -> tuple[Csr, Targets]:
    """Checked documents and labels of one piece; the first also notes the shape of the problem.

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
            raise DataError("classes must be passed on the first call to partial_fit when y is one class a document.")
        model.note_targets(targets)
    elif not np.array_equal(targets.classes, model.classes_):
        raise DataError(
            "`classes` is not the same as on the last call to partial_fit: "
            f"{targets.classes!r}, not {model.classes_!r}."
        )
    return features, targets


def merged_shell(model: AnyModel, other: AnyModel) -> AnyModel:
    """A model of the same parameters and labels as both, which has yet to learn what they know."""
    model.check_fitted()
    other.check_fitted()
    same_width = model.n_features_in_ == other.n_features_in_
    if not same_width or model.get_params() != other.get_params() or not np.array_equal(model.classes_, other.classes_):
        raise DataError("Only models with the same parameters, labels and vocabulary can be merged.")
    merged = type(model)(**model.get_params(deep=False))
    merged.n_features_in_, merged.n_labels_ = model.n_features_in_, model.n_labels_
    merged.classes_, merged.label_form_ = model.classes_, model.label_form_
    return merged
