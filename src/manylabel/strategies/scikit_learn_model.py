"""An adapter that makes a classifier of scikit-learn one of our models."""

from __future__ import annotations

import inspect
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats, unfitted_copy
from manylabel.models.base import MultiLabelModel
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind, best_label, sigmoid

_AGREES = 1e-9


def is_scikit_learn_classifier(value: object) -> bool:
    """Whether an object is an estimator with `decision_function` or `predict_proba`, as scikit-learn's classifiers."""
    if isinstance(value, type) or not hasattr(value, "fit"):
        return False
    return hasattr(value, "predict_proba") or hasattr(value, "decision_function")


class ScikitLearnModel(MultiLabelModel):
    """A two-class classifier of scikit-learn as a model of two labels: column 0 is the absence, column 1 the label.

    Scores are log-odds where the classifier has `predict_proba`, otherwise the margins of its `decision_function`;
    those of the absence are the same with the opposite sign. A tie (score 0) predicts neither.

    >>> from sklearn.naive_bayes import MultinomialNB
    >>> X, Y = np.array([[2, 0], [0, 2], [1, 1]]), np.array([[0, 1], [1, 0], [0, 1]])
    >>> ScikitLearnModel(MultinomialNB()).fit(X, Y).scores(X).round(4).tolist()[0]
    [-2.6548, 2.6548]
    """

    classifier_: Any
    """The fitted classifier."""

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Log-odds where the classifier gives probabilities, margins otherwise."""
        return ScoreKind.LOG_ODDS if hasattr(self.classifier, "predict_proba") else ScoreKind.MARGIN

    @property
    def needs_counts(self) -> bool:  # type: ignore[override]
        """Whether the classifier refuses negative input."""
        from sklearn.utils import get_tags

        return bool(get_tags(self.classifier).input_tags.positive_only)

    @property
    def weighs_documents(self) -> bool:  # type: ignore[override]
        """Whether the classifier's `fit` takes `sample_weight`."""
        return "sample_weight" in inspect.signature(self.classifier.fit).parameters

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn from documents × 2 indicators `Y` of absence and presence; `options` go to the classifier's `fit`."""
        features, targets = self.check_training(X, Y)
        positive = targets.Y[:, [1]].toarray().ravel()
        self.classifier_ = unfitted_copy(self.classifier).fit(_narrow(features), positive.astype(np.int64), **options)
        return self

    def fit_weighted(self, X: object, Y: object, weights: npt.ArrayLike) -> Self:
        """Learn with `weights` as the classifier's `sample_weight`."""
        return self.fit(X, Y, sample_weight=weights)

    def score_batch(self, X: Csr) -> Floats:
        """The scores of absence and presence, documents × 2."""
        present = self._present(_narrow(X))
        return np.column_stack([-present, present])

    def natural_decision(self, scores: Floats) -> Bools:
        """The class whose score is above 0."""
        return np.asarray(scores > 0)

    def _present(self, X: Csr) -> Floats:
        """The decision function, or the log-odds of `predict_proba`.

        Where both exist and agree (logistic regression), the decision function is the log-odds, and keeps the digits
        that a probability near 1 has lost.
        """
        fitted = self.classifier_
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
        odds = two_class_log_odds(shown[:, 0], shown[:, 1])
        if distance is None:
            return odds
        return np.where(np.abs(sigmoid(distance) - shown[:, 1]) <= _AGREES, distance, odds)


class ScikitLearnClasses(ScikitLearnModel):
    """A classifier of scikit-learn as a model of classes, of which every document has exactly one.

    Scores are the posteriors of `predict_proba`, otherwise the margins of `decision_function`. A single class needs no
    classifier: its score is 1.
    """

    @property
    def score_kind(self) -> ScoreKind:  # type: ignore[override]
        """Posteriors where the classifier gives probabilities, margins otherwise."""
        return ScoreKind.POSTERIOR if hasattr(self.classifier, "predict_proba") else ScoreKind.MARGIN

    def fit(self, X: object, Y: object, **options: Any) -> Self:
        """Learn from documents × classes with one 1 per row; `options` go to the classifier's `fit`."""
        features, targets = self.check_training(X, Y)
        self.classifier_ = None
        if targets.Y.shape[1] > 1:
            self.classifier_ = unfitted_copy(self.classifier).fit(_narrow(features), targets.Y.indices, **options)
        return self

    def score_batch(self, X: Csr) -> Floats:
        """The posteriors, or the margins, documents × classes."""
        if self.classifier_ is None or X.shape[0] == 0:
            return np.ones((X.shape[0], self.n_labels_))
        ask = self.classifier_.predict_proba if self.score_kind.is_probability else self.classifier_.decision_function
        scores = np.asarray(ask(_narrow(X)), dtype=np.float64)
        return np.column_stack([-scores, scores]) if scores.ndim == 1 else scores

    def natural_decision(self, scores: Floats) -> Bools:
        """The best class."""
        return best_label(scores)


def two_class_log_odds(absent: Floats, present: Floats) -> Floats:
    """The log-odds log p/q of both sides of a two-class problem, within ±700; −∞ is kept for labels never seen."""
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.log(present) - np.log(absent)
    return np.asarray(np.nan_to_num(np.clip(odds, -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT), nan=0.0))


def _narrow(X: Csr) -> Csr:
    """The same matrix with 32-bit indices, the only ones some of scikit-learn's solvers take."""
    if X.indices.dtype == np.int32 or X.nnz > np.iinfo(np.int32).max:
        return X
    return Csr((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
