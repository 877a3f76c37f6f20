"""Scores of several models, calibrated or combined by logistic regression on out-of-fold scores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.score_kinds import LOG_ODDS_LIMIT, ScoreKind, on_an_open_scale, sigmoid

STEPS = 50
TOLERANCE = 1e-8
ROUNDING = 1e-9
"""Scores that differ by no more than this share of their size are equal but for rounding, and are not stretched."""


@dataclass(frozen=True, slots=True)
class LinearCombination:
    """Log-odds of each label as a weighted sum of its members' scores."""

    weights: Floats
    """Members × labels."""
    intercept: Floats
    """Per label."""

    def __call__(self, scores: Floats) -> Floats:
        """Combine members × documents × labels into documents × labels."""
        combined = np.tile(self.intercept, (scores.shape[1], 1))
        for member, weight in zip(scores, self.weights, strict=True):
            combined += member * weight
        return combined


def constant_labels(Y: Csr) -> Floats:
    """Per label −∞ where no document has it, +∞ where every document has it, NaN otherwise."""
    carried = Y.sum(axis=0)
    return np.where(carried == 0, -np.inf, np.where(carried == Y.shape[0], np.inf, np.nan))


def with_constants(scores: Floats, constants: Floats) -> Floats:
    """Scores in which the labels that `constant_labels` found have their constant score."""
    return np.where(np.isnan(constants), scores, constants)


def comparable(scores: Floats, kind: ScoreKind) -> Floats:
    """Finite scores on an open scale: posteriors as log-odds, ±∞ as ±700."""
    opened = on_an_open_scale(scores, kind)
    return np.nan_to_num(opened, nan=0.0, posinf=LOG_ODDS_LIMIT, neginf=-LOG_ODDS_LIMIT)


def of_unseen_documents(scores: Floats, kind: ScoreKind) -> Floats:
    """Comparable scores to learn from, where ±∞ counts as the least or greatest other score of the label.

    In a fold without a positive document a label is impossible; as −700 it would outweigh all that was learned.
    """
    opened = on_an_open_scale(scores, kind)
    finite = np.isfinite(opened)
    low = np.where(finite, opened, np.inf).min(axis=0, initial=np.inf)
    high = np.where(finite, opened, -np.inf).max(axis=0, initial=-np.inf)
    low, high = (np.where(np.isfinite(bound), bound, 0.0) for bound in (low, high))
    return np.clip(np.nan_to_num(opened, nan=0.0, posinf=np.inf, neginf=-np.inf), low, high)


def stacked(scores: Floats, Y: Csr, ridge: float) -> LinearCombination:
    """Logistic regression of each label on its members' scores, slopes drawn towards those of all labels together.

    min Σ_d −t log p − (1 − t) log(1 − p) + ½ ridge Σ_m (a_m − ā_m)²,   p = 1/(1 + exp(−b − Σ_m a_m z_m))

    z is the score standardised over the documents, ā the slopes of one regression over all labels (drawn towards 0).
    A rare label has too few positives to say which member knows it best, and so follows ā. The targets t are Platt's,
    (n₊ + 1)/(n₊ + 2) for the n₊ positives and 1/(n₋ + 2) for the others, with which the minimum is always finite.

    Source: Wolpert 1992 for stacking; Platt 1999 for one member; the shrinkage is ours.
    """
    mean, spread = scores.mean(axis=1), scores.std(axis=1)
    spread = np.where(spread > ROUNDING * np.abs(scores).max(axis=1, initial=0.0), spread, 1.0)
    z = (scores - mean[:, np.newaxis]) / spread[:, np.newaxis]
    carried = Y.toarray().astype(np.bool_)
    common, _ = _logistic(z.reshape(len(z), -1, 1), carried.reshape(-1, 1), np.zeros((len(z), 1)), ridge)
    slopes, intercept = _logistic(z, carried, common, ridge)
    weights = slopes / spread
    return LinearCombination(weights, intercept - (weights * mean).sum(axis=0))


def averaged(scores: Floats, Y: Csr, ridge: float) -> LinearCombination:
    """The mean of the members' log-odds, each member calibrated by itself (`stacked` with one member: Platt 1999).

    A calibration may not fall. Where it would, the member's scores say nothing of the label, and its share stands in
    for them. (A label of a single document is impossible to the one model that is asked about that document, and to no
    other; a falling calibration would make a sign of that.)
    """
    alone = [_rising(stacked(member[np.newaxis], Y, ridge), Y) for member in scores]
    weights = np.concatenate([one.weights for one in alone]) / len(alone)
    return LinearCombination(weights, np.mean([one.intercept for one in alone], axis=0))


def combined_out_of_fold(
    scores: Floats, Y: Csr, folds: Iterable[Ints], ridge: float, how: Literal["average", "stacked"]
) -> Floats:
    """Members' out-of-fold scores, averaged or stacked, in which no document's labels take part in its own score.

    `scores` are members × documents × labels. The documents of each fold are combined as was learned on the other
    folds. (Their scores come from models that have seen the fold. To exclude that too, every member would have to be
    fitted again inside every fold.)
    """
    learn = stacked if how == "stacked" else averaged
    combined = np.empty(scores.shape[1:])
    for held_out in folds:
        others = np.ones(scores.shape[1], dtype=np.bool_)
        others[held_out] = False
        combined[held_out] = learn(scores[:, others], Csr(Y[others]), ridge)(scores[:, held_out])
    return combined


def _rising(found: LinearCombination, Y: Csr) -> LinearCombination:
    """The calibration of one member, with the label's share where it falls."""
    target = _targets(Y.toarray() > 0)
    share = target.mean(axis=0)
    falls = found.weights[0] < 0
    return LinearCombination(
        np.where(falls, 0.0, found.weights), np.where(falls, np.log(share) - np.log1p(-share), found.intercept)
    )


def _targets(carried: np.ndarray) -> Floats:
    """Platt's targets: a little below 1 for documents with the label, a little above 0 for the others."""
    positives = carried.sum(axis=0)
    found: Floats = np.where(carried, (positives + 1) / (positives + 2), 1 / (len(carried) - positives + 2))
    return found


def _logistic(z: Floats, carried: np.ndarray, towards: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Slopes (members × labels) and intercepts of all labels at once, by Newton steps halved until the loss falls."""
    target = _targets(carried)
    share = target.mean(axis=0)
    size, n_labels = len(z), carried.shape[1]
    found = np.vstack([np.broadcast_to(towards, (size, n_labels)), np.log(share) - np.log1p(-share)])
    prior = np.vstack([np.broadcast_to(towards, (size, n_labels)), np.zeros(n_labels)])
    strength = np.append(np.full(size, ridge), 0.0)[:, np.newaxis]

    def loss(at: Floats) -> Floats:
        value = _linear(z, at)
        return np.asarray(
            (np.logaddexp(0.0, value) - target * value).sum(axis=0) + (strength * (at - prior) ** 2).sum(axis=0) / 2
        )

    now = loss(found)
    for _ in range(STEPS):
        step = _newton_step(z, target, found, strength * (found - prior), strength)
        for _ in range(STEPS):
            worse = (after := loss(found - step)) > now + TOLERANCE * (1 + np.abs(now))
            if not worse.any():
                break
            step[:, worse] /= 2
        found, gain, now = found - step, now - after, after
        if (gain <= TOLERANCE * (1 + np.abs(now))).all():
            break
    return found[:-1], found[-1]


def _linear(z: Floats, at: Floats) -> Floats:
    value = np.tile(at[-1], (z.shape[1], 1))
    for member, slope in zip(z, at, strict=False):
        value += member * slope
    return value


def _newton_step(z: Floats, target: Floats, at: Floats, pull: Floats, strength: Floats) -> Floats:
    """The Newton step H⁻¹ g of every label."""
    size, n_labels = len(z), at.shape[1]
    p = sigmoid(_linear(z, at))
    gradient, curvature = pull.copy(), np.zeros((n_labels, size + 1, size + 1))
    error, spread = p - target, p * (1 - p)
    for m in range(size + 1):
        gradient[m] += (error * z[m]).sum(axis=0) if m < size else error.sum(axis=0)
        weighted = spread * z[m] if m < size else spread
        for other in range(m, size + 1):
            entry = (weighted * z[other]).sum(axis=0) if other < size else weighted.sum(axis=0)
            curvature[:, m, other] = curvature[:, other, m] = entry
    curvature[:, np.arange(size + 1), np.arange(size + 1)] += strength.T + 1e-10
    return np.asarray(np.linalg.solve(curvature, gradient.T[..., np.newaxis])[..., 0].T)
