"""Scores and thresholds in the units shown to users, and label sets decided on them."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from manylabel.decisions.base import DecisionRule, possible
from manylabel.decisions.calibration import Calibration, open_scores
from manylabel.decisions.temperature import Temperature
from manylabel.decisions.threshold_figures import ThresholdFigures
from manylabel.estimator import Csr, Floats
from manylabel.models.score_kinds import Bools, ScoreKind, display, sigmoid, undisplay

Probabilities: TypeAlias = Literal["auto", "logistic", "isotonic"] | None
"""The curve by which scores become probabilities; ``"auto"`` chooses it by the rule and the kind of the scores."""
NEVER = 2.0
"""The threshold of a posterior that is never reached."""


def learned_calibration(
    probabilities: Probabilities, rule: DecisionRule | None, scores: Floats, Y_true: Csr, kind: ScoreKind
) -> Calibration | Temperature | None:
    """The calibration that `probabilities` asks for, learned on out-of-fold scores, or None to show scores as they are.

    `rule` is the learned rule; None where there is none, or where it learns on held-out documents later.
    """
    calibration = _unfitted(probabilities, rule, Y_true, kind)
    return None if calibration is None else calibration.fit(open_scores(scores, kind), Y_true)


def _unfitted(
    probabilities: Probabilities, rule: DecisionRule | None, Y_true: Csr, kind: ScoreKind
) -> Calibration | Temperature | None:
    if probabilities != "auto":
        return None if probabilities is None else Calibration(probabilities)
    one_each = bool((np.diff(Y_true.indptr) == 1).all()) and rule is not None and rule.predicts_one_label
    if one_each:
        return None if kind is ScoreKind.POSTERIOR else Temperature()
    has_thresholds = rule is not None and rule.score_thresholds(Y_true.shape[1], kind) is not None
    return None if kind.is_probability and not has_thresholds else Calibration("logistic")


def shown_scores(scores: Floats, kind: ScoreKind, calibration: Calibration | Temperature | None) -> Floats:
    """Scores in the units shown to users: calibrated probabilities, or without a calibration as `display` does."""
    return display(scores, kind) if calibration is None else calibration.transform(open_scores(scores, kind))


def shown_thresholds(
    rule: DecisionRule, n_labels: int, kind: ScoreKind, calibration: Calibration | Temperature | None
) -> Floats | None:
    """The thresholds of a rule in the units of `shown_scores`; 1 for a label that is never predicted.

    A calibrated probability never falls as the score rises, so scores at or above a threshold are shown at or above it.
    A threshold that a user set is shown as it was set.
    """
    thresholds = rule.score_thresholds(n_labels, kind)
    if thresholds is None or isinstance(calibration, Temperature):  # probabilities of one label depend on the others
        return None
    if calibration is None:
        shown = rule.shown_thresholds(n_labels, kind)
    else:
        never = thresholds > 1 if kind is ScoreKind.POSTERIOR else np.isposinf(thresholds)
        finite = np.where(never, 0.0, thresholds)[np.newaxis]
        shown = np.where(never, 1.0, shown_scores(finite, kind, calibration)[0])
    corrected = rule.corrected_thresholds()
    return shown if corrected is None or shown is None else np.where(np.isnan(corrected), shown, corrected)


def score_thresholds(shown: Floats, kind: ScoreKind, calibration: Calibration | None) -> Floats:
    """Thresholds of all labels, given in the units of `shown_scores`, in the units of the scores; NaN stays.

    A probability of 1 becomes a threshold that is never reached.
    """
    if calibration is None and not kind.is_probability:
        return shown
    if calibration is None:
        found = undisplay(shown, kind)
    else:
        found = calibration.inverse(shown)
        found = sigmoid(found) if kind is ScoreKind.POSTERIOR else found
    return np.where(shown >= 1, NEVER, found) if kind is ScoreKind.POSTERIOR else found


def thresholds_for_target(
    figures: ThresholdFigures,
    figure: Literal["precision", "recall"],
    least: float,
    kind: ScoreKind,
    calibration: Calibration | Temperature | None,
) -> Floats:
    """The shown threshold at which each label reaches a precision or recall; NaN for labels that do not reach it.

    The target is reached on the documents of `figures`.
    """
    found = figures.thresholds_for(figure, least)
    shown = shown_scores(np.where(np.isnan(found), 0.0, found)[np.newaxis], kind, calibration)[0]
    # Where a curve is flat, the shown threshold stands for several scores: measure what it leads to.
    back = found if isinstance(calibration, Temperature) else score_thresholds(shown, kind, calibration)
    reached = figures.at(back)[0 if figure == "precision" else 1] >= least - 1e-9
    return np.where(np.isnan(found) | ~reached, np.nan, shown)


def decide_by_shown(scores: Floats, shown: Floats, kind: ScoreKind, threshold: float | None, top: int | None) -> Bools:
    """The labels whose shown score reaches a threshold, at most the `top` best of them; None sets no limit.

    >>> shown = np.array([[0.9, 0.6, 0.2]])
    >>> decide_by_shown(shown, shown, ScoreKind.POSTERIOR, 0.5, 1).astype(int).tolist()
    [[1, 0, 0]]
    """
    chosen = possible(scores, kind)
    if threshold is not None:
        chosen &= shown >= threshold
    if top is not None and top < shown.shape[1]:
        # Equal probabilities are ordered by score, then by column.
        order = np.lexsort((-scores, -shown), axis=1)
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(shown.shape[1])[np.newaxis], axis=1)
        chosen &= ranks < top
    return chosen
