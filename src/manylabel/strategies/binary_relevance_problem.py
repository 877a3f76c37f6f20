"""One label as a two-class problem, for any model: ours, or a classifier of scikit-learn.

Binary relevance, chains and co-training ask the same of a model: learn one label from some columns, and say how much
speaks for the label. Whatever the model is, the answer is one score a document, larger where the label is likelier,
with 0 as the boundary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from manylabel.estimator import Csr, Estimator, Floats
from manylabel.models.base import MultiLabelModel, unfitted_copy
from manylabel.models.evidence import removal_evidence
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind, sigmoid
from manylabel.parameters import Satisfies

BASE_MODEL = Satisfies(
    "a model of manylabel, or a scikit-learn classifier with decision_function or predict_proba",
    lambda value: not isinstance(value, type) and hasattr(value, "fit") and _gives_scores(value),
)
_SIGNED = (ScoreKind.LOG_ODDS, ScoreKind.MARGIN)
_AGREES = 1e-9


def _gives_scores(model: Any) -> bool:
    return any(hasattr(model, name) for name in ("score_kind", "predict_proba", "decision_function"))


def scores_labels_alone(model: Any) -> bool:
    """Whether a model already is one two-class problem a label, a document without the label being a negative.

    Such a model (`independent_labels`) learns all labels in one `fit`. Others get one copy per label.
    """
    if not isinstance(model, MultiLabelModel) or model.score_kind not in _SIGNED:
        return False
    return model.independent_labels


def problem_kind(model: Any) -> ScoreKind:
    """What the scores of one label are: log-odds where the model gives probabilities, margins otherwise."""
    if isinstance(model, MultiLabelModel):
        return ScoreKind.LOG_ODDS if model.score_kind.is_probability else ScoreKind.MARGIN
    return ScoreKind.LOG_ODDS if hasattr(model, "predict_proba") else ScoreKind.MARGIN


def wants_counts(model: Any) -> bool:
    """Whether the model refuses negative input."""
    if isinstance(model, Estimator):
        return bool(getattr(model, "needs_counts", False))
    from sklearn.utils import get_tags

    return bool(get_tags(model).input_tags.positive_only)


def fit_problem(model: Any, X: Csr, positive: Bools, binary_columns: int = 0, **options: Any) -> Any:
    """A copy of the model that has learned which rows of X are positive; both kinds of rows must be there.

    The last `binary_columns` columns of X are 0/1 indicators of labels, which a value-weighted model bins by
    themselves. In a problem of one label, a row without it is a negative and never an unlabelled document. A model with
    posteriors or similarities learns two classes, the label and its absence.
    """
    fresh = unfitted_copy(model)
    if not isinstance(fresh, MultiLabelModel):
        return fresh.fit(_as_scikit_learn_reads(X), positive.astype(np.int64), **options)
    if scores_labels_alone(fresh):
        names = fresh.parameter_names()
        if "unlabelled" in names:
            fresh.set_params(unlabelled="negative")
        if "binary_columns" in names:
            fresh.set_params(binary_columns=binary_columns)
        return fresh.fit(X, Csr(positive[:, None].astype(np.int8)), **options)
    return fresh.fit(X, Csr(np.column_stack([~positive, positive]).astype(np.int8)), **options)


def problem_scores(fitted: Any, X: Csr) -> Floats:
    """The score of the label for each row of checked X: log-odds or a margin, see `problem_kind`."""
    if not isinstance(fitted, MultiLabelModel):
        return _scikit_learn_scores(fitted, _as_scikit_learn_reads(X))
    scores = fitted.score_batch(X)
    if fitted.score_kind in _SIGNED:
        return np.asarray(scores[:, -1])
    if fitted.score_kind is ScoreKind.SIMILARITY:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return _log_odds(scores[:, 0], scores[:, 1])


def problem_decisions(fitted: Any, scores: Floats) -> Bools:
    """Which scores give the label: the model's own rule; above 0 where two classes compete (a tie is no label)."""
    if isinstance(fitted, MultiLabelModel) and fitted.score_kind in _SIGNED:
        return np.asarray(fitted.natural_decision(scores.reshape(-1, 1)).reshape(scores.shape))
    return np.asarray(scores > 0)


def problem_evidence(fitted: Any, document: Csr) -> Csr:
    """What each column of one checked document adds to the score of the label, 1 × columns.

    A model of ours with log-odds or margins says it itself. For any other, what the score loses when the column is
    emptied; where log-odds are sums, as in naive Bayes, these are their terms.
    """
    if isinstance(fitted, MultiLabelModel) and fitted.score_kind in _SIGNED:
        return fitted.evidence(document, [fitted.n_labels_ - 1])
    return removal_evidence(lambda X: problem_scores(fitted, X)[:, np.newaxis], document)


def carriers(by_label: sparse.csc_array, label: int) -> Bools:
    """Which documents have a label, from Y stored by columns."""
    rows = np.zeros(by_label.shape[0], dtype=np.bool_)
    rows[by_label.indices[by_label.indptr[label] : by_label.indptr[label + 1]]] = True
    return rows


def for_rows(options: Mapping[str, Any], rows: npt.NDArray[Any]) -> dict[str, Any]:
    """The options of `fit` for some of the documents: `sample_weight`, where given, is one number a document."""
    chosen = dict(options)
    if chosen.get("sample_weight") is not None:
        chosen["sample_weight"] = np.asarray(chosen["sample_weight"])[rows]
    return chosen


def _as_scikit_learn_reads(X: Csr) -> Csr:
    """The same matrix with 32-bit indices, the only ones some of scikit-learn's solvers take."""
    if X.indices.dtype == np.int32 or X.nnz > np.iinfo(np.int32).max:
        return X
    return Csr((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _scikit_learn_scores(fitted: Any, X: Csr) -> Floats:
    """The decision function, or the log-odds of `predict_proba`.

    Where both exist and agree (logistic regression), the decision function is the log-odds, and keeps the digits that a
    probability near 1 has lost.
    """
    distance = np.asarray(fitted.decision_function(X)) if hasattr(fitted, "decision_function") else None
    if not hasattr(fitted, "predict_proba"):
        assert distance is not None
        return distance.astype(np.float64)
    if hasattr(fitted, "predict_log_proba") and distance is None:
        with np.errstate(divide="ignore"):
            shown = np.asarray(fitted.predict_log_proba(X), dtype=np.float64)
        with np.errstate(invalid="ignore"):
            return np.clip(shown[:, 1] - shown[:, 0], -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT)
    shown = np.asarray(fitted.predict_proba(X), dtype=np.float64)
    odds = _log_odds(shown[:, 0], shown[:, 1])
    return odds if distance is None else np.where(np.abs(sigmoid(distance) - shown[:, 1]) <= _AGREES, distance, odds)


def _log_odds(absent: Floats, present: Floats) -> Floats:
    """The log-odds log p/q of both sides of a two-class problem, within ±700; −∞ is kept for labels never seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(present) - np.log(absent)
    return np.asarray(np.nan_to_num(np.clip(odds, -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT), nan=0.0))
