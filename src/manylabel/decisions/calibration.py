"""Scores of any kind → the probability of each label."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np

from manylabel.decisions.base import possible
from manylabel.decisions.isotonic_curves import Steps, rising_curve
from manylabel.decisions.logistic_curves import fit_curves
from manylabel.estimator import Csr, Estimator, Floats, Ints
from manylabel.exceptions import DecisionError
from manylabel.models.evidence import on_an_open_scale
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, Bools, ScoreKind, sigmoid
from manylabel.parameters import Constraint, Number, OneOf

LARGEST = 1e300
"""Scores beyond are taken for this, so that a slope of 0 times one of them is 0."""


class Calibration(Estimator):
    """The probability of each label given its score, learned on scores of documents the model did not see.

    ``curve="logistic"``    P_k(f) = 1/(1 + exp(−(a_k f + b_k)))      Platt 1999; see `logistic_curves.fit_curves`
    ``curve="isotonic"``    P_k(f) = (n_k g_k(f) + m g(f)) / (n_k + m)      Zadrozny & Elkan 2002

    A label with few positives says little about its own curve, so that it is drawn towards the curve of all labels
    pooled: m, the `shrinkage`, is the number of positives of its own at which a label has half a say. For the isotonic
    curves g_k the average of both is taken; the logistic ones are fitted with the information of m pooled positives
    added. A label without positives has the probability 1/(N + 2) whatever its score. P never falls as the score rises.
    An impossible label (score −∞) has the probability 0. One that is certain (+∞) counts as the highest score of its
    label in learning, and as a score beyond all others afterwards.

    >>> scores = np.array([[-2.0, 0.1], [-1.0, 0.3], [0.5, 0.2], [1.0, 0.4]])
    >>> calibration = Calibration(shrinkage=0).fit(scores, Csr([[0, 0], [0, 0], [1, 0], [1, 0]]))
    >>> calibration.transform(np.array([[-1.0, 0.5], [1.0, -np.inf]])).round(3).tolist()
    [[0.36, 0.167], [0.77, 0.0]]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "curve": OneOf("logistic", "isotonic"),
        "shrinkage": Number(low=0),
    }
    slopes_: Floats
    intercepts_: Floats
    corner_scores_: Floats
    corner_heights_: Floats
    corner_starts_: Ints
    own_share_: Floats

    def __init__(self, curve: Literal["logistic", "isotonic"] = "logistic", shrinkage: float = 1.0) -> None:
        self.curve = curve
        self.shrinkage = shrinkage

    def fit(self, scores: Any, Y: Any) -> Self:
        """Learn from scores, documents × labels, and the true labels."""
        self.check_parameters()
        scores, Y = np.asarray(scores, dtype=np.float64), Csr(Y)
        if scores.shape != Y.shape:
            raise DecisionError(
                f"Calibration: scores are {' × '.join(map(str, scores.shape))} but Y is "
                f"{' × '.join(map(str, Y.shape))}. Both must be documents × labels."
            )
        truth, scores = Y.toarray().astype(np.bool_), _certain_as_highest(scores)
        if self.curve == "logistic":
            curves = fit_curves(scores, truth, self.shrinkage)
            self.slopes_, self.intercepts_ = curves.slopes, curves.intercepts
        else:
            self._fit_isotonic(scores, truth)
        return self

    def _fit_isotonic(self, scores: Floats, truth: Bools) -> None:
        usable = np.isfinite(scores)
        n_documents = scores.shape[0]
        nowhere: tuple[Floats, Floats] = (np.zeros(1), np.full(1, 1 / (n_documents + 2)))
        positives = (truth & usable).sum(axis=0)
        curves = [
            rising_curve(scores[usable[:, label], label], truth[usable[:, label], label]) if n else nowhere
            for label, n in enumerate(positives.tolist())
        ]
        some = positives > 0
        cells = usable & some
        curves.append(rising_curve(scores[cells], truth[cells]) if some.any() else nowhere)
        steps = Steps.of(curves)
        self.corner_scores_, self.corner_heights_, self.corner_starts_ = steps.scores, steps.heights, steps.starts
        self.own_share_ = np.where(some, positives / np.maximum(positives + self.shrinkage, 1e-300), 1.0)

    def transform(self, scores: Any) -> Floats:
        """The probabilities, documents × labels."""
        return sigmoid(self.log_odds(scores))

    def log_odds(self, scores: Any) -> Floats:
        """The log-odds log P/(1 − P), within ±700; −∞ for impossible labels."""
        self.check_fitted()
        given = np.asarray(scores, dtype=np.float64)
        n_labels = len(self.slopes_) if self.curve == "logistic" else len(self.own_share_)
        if given.ndim != 2 or given.shape[1] != n_labels:
            raise DecisionError(
                f"Calibration learned {n_labels} labels, so that scores must be documents × {n_labels}, "
                f"not {' × '.join(map(str, given.shape))}."
            )
        finite = np.clip(given, -LARGEST, LARGEST)
        with np.errstate(over="ignore"):
            found = finite * self.slopes_ + self.intercepts_ if self.curve == "logistic" else self._isotonic(finite)
        return np.where(np.isneginf(given), -np.inf, np.clip(found, -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT))

    def _isotonic(self, scores: Floats) -> Floats:
        steps = Steps(self.corner_scores_, self.corner_heights_, self.corner_starts_)
        found = np.empty_like(scores)
        for label, share in enumerate(self.own_share_.tolist()):
            found[:, label] = share * steps.height(label, scores[:, label])
            if share < 1:
                found[:, label] += (1 - share) * steps.height(len(self.own_share_), scores[:, label])
        return np.asarray(np.log(found) - np.log1p(-found))


def _certain_as_highest(scores: Floats) -> Floats:
    """Scores of +∞, with which a model answers for a label that every document has, as the label's highest finite one.

    >>> _certain_as_highest(np.array([[np.inf, np.inf], [2.0, np.inf], [-np.inf, np.inf]])).tolist()
    [[2.0, 0.0], [2.0, 0.0], [-inf, 0.0]]
    """
    highest = np.where(np.isfinite(scores), scores, -np.inf).max(axis=0, initial=-np.inf)
    return np.where(np.isposinf(scores), np.where(np.isfinite(highest), highest, 0.0), scores)


def open_scores(scores: Floats, kind: ScoreKind) -> Floats:
    """Scores without bounds, so that a straight line can be laid through them; −∞ for impossible labels."""
    return np.where(possible(scores, kind), on_an_open_scale(scores, kind), -np.inf)
