"""The kinds of scores, and how to convert them to probabilities and to decisions without a learned rule."""

from __future__ import annotations

import math
import warnings
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Floats
from manylabel.exceptions import DecisionError, ManylabelWarning, ParameterError
from manylabel.wording import counted, shown

Bools = npt.NDArray[np.bool_]
LOG_ODDS_LIMIT = 700.0  # exp(710) overflows a double


class SingleLabelWarning(ManylabelWarning):
    """A method that predicts at least one label per document has only one label, and so always predicts it."""


class ScoreKind(StrEnum):
    """What a model's scores are. A decision rule refuses a kind it cannot read."""

    POSTERIOR = "posterior"
    """p(label | document), one label being right: a row sums to 1 (or is all 0 where no label is right)."""
    LOG_ODDS = "log_odds"
    """log P/(1 − P) of each label on its own: a row need not sum to anything."""
    MARGIN = "margin"
    """A signed distance from a boundary, positive where the label is predicted."""
    SIMILARITY = "similarity"
    """Closeness, the larger the closer, without a natural zero."""

    @property
    def is_probability(self) -> bool:
        """Whether the score can be shown as a probability."""
        return self in (ScoreKind.POSTERIOR, ScoreKind.LOG_ODDS)

    @classmethod
    def check(cls, model: str, kind: object) -> None:
        """Raise an error where a model, given by its name, declares something else than a kind, or a property.

        >>> ScoreKind.check("OwnModel", "margin")
        Traceback (most recent call last):
        ...
        manylabel.exceptions.ParameterError: OwnModel.score_kind must be a ScoreKind, not 'margin'. Write for example \
score_kind = ScoreKind.MARGIN.
        """
        if not isinstance(kind, (cls, property)):
            raise ParameterError(
                f"{model}.score_kind must be a ScoreKind, not {shown(kind)}. Write for example score_kind = "
                "ScoreKind.MARGIN."
            )


def posteriors(log_joint: Floats, prior: Floats | None = None) -> Floats:
    """Posterior probabilities p(c|x) of each row of log-joint scores s_c = log p(c) p(x|c).

    p(c|x) = exp(s_c − m) / Σ_c' exp(s_c' − m),  m = max_c s_c

    Source: Vilar, Castro & Sanchis 2004, eq. 24-25. A row in which every class is impossible (all −∞, which
    only unsmoothed estimates give) receives the prior, or zeros without one, with a
    `ManylabelWarning`.

    >>> posteriors(np.array([[-2000.0, -2001.0, -2003.0]])).round(8)
    array([[0.70538451, 0.25949646, 0.03511903]])
    """
    scores = np.asarray(log_joint, dtype=np.float64)
    if scores.shape[1] == 0:
        return scores.copy()
    highest = scores.max(axis=1, keepdims=True)
    impossible = np.isneginf(highest[:, 0])
    shifted = np.exp(scores - np.where(np.isneginf(highest), 0.0, highest))
    if not impossible.any():
        return np.asarray(shifted / shifted.sum(axis=1, keepdims=True), dtype=np.float64)
    warnings.warn(
        f"{int(impossible.sum())} of {counted(len(scores), 'document is', 'documents are')} impossible under every "
        "class: prior used.",
        ManylabelWarning,
        stacklevel=2,
    )
    shifted[impossible] = 0.0 if prior is None else prior
    total = shifted.sum(axis=1, keepdims=True)
    return np.asarray(shifted / np.where(total == 0, 1.0, total), dtype=np.float64)


def posteriors_of_seen(log_joint: Floats, log_prior: Floats) -> Floats:
    """The posteriors; all 0 if no class was seen in training, so that none has a prior."""
    return posteriors(log_joint) if np.isfinite(log_prior).any() else np.zeros_like(log_joint)


def sigmoid(log_odds: npt.ArrayLike) -> Floats:
    """P = 1/(1 + exp(−s)), the log-odds clipped to ±700; −∞ gives exactly 0 and +∞ exactly 1.

    >>> sigmoid([float("-inf"), 0.0, float("inf")]).tolist()
    [0.0, 0.5, 1.0]
    """
    given = np.asarray(log_odds, dtype=np.float64)
    return np.where(given == -np.inf, 0.0, 1.0 / (1.0 + np.exp(-within(given, LOG_ODDS_LIMIT))))


def within(values: Floats, limit: float) -> Floats:
    """The values, those beyond ±`limit` replaced by it: `numpy.clip` at a third of its cost for one document."""
    return np.minimum(np.maximum(values, -limit), limit)


def logit(probability: float) -> float:
    """The log-odds log P/(1 − P); −∞ for 0 and +∞ for 1.

    >>> round(logit(0.8), 6)
    1.386294
    """
    if probability <= 0:
        return -math.inf
    return math.inf if probability >= 1 else math.log(probability) - math.log1p(-probability)


def display(scores: npt.ArrayLike, kind: ScoreKind) -> Floats:
    """Scores in the units people read: probabilities for posteriors and log-odds, as they are otherwise."""
    return sigmoid(scores) if kind is ScoreKind.LOG_ODDS else np.asarray(scores, dtype=np.float64)


def undisplay(shown: Floats, kind: ScoreKind) -> Floats:
    """The scores behind what `display` showed; log-odds of a probability that rounds to 1 are lost."""
    if kind is not ScoreKind.LOG_ODDS:
        return shown
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shown) - np.log1p(-shown), dtype=np.float64)


def probabilities(scores: Floats, kind: ScoreKind) -> Floats:
    """Scores as probabilities; an error for kinds that are not probabilities."""
    if not kind.is_probability:
        raise DecisionError(
            f"Scores of kind '{kind}' are not probabilities. Use them as they are (decision_function), or a "
            "model whose scores are of kind 'posterior' or 'log_odds'."
        )
    return display(scores, kind)


def natural_decisions(scores: Floats, kind: ScoreKind) -> Bools:
    """The predicted labels for a kind of score when no decision rule was learned.

    posterior, similarity: the best label (none where every score is 0 or −∞); log_odds: P ≥ 0.5; margin:
    score > 0.

    >>> natural_decisions(np.array([[0.2, 0.5, 0.3], [0.0, 0.0, 0.0]]), ScoreKind.POSTERIOR).astype(int)
    array([[0, 1, 0],
           [0, 0, 0]])
    """
    if kind is ScoreKind.LOG_ODDS:
        return np.asarray(scores >= 0)
    if kind is ScoreKind.MARGIN:
        return np.asarray(scores > 0)
    return best_label(scores, above=0.0 if kind is ScoreKind.POSTERIOR else -math.inf)


def best_label(scores: Floats, above: float = -math.inf) -> Bools:
    """The one best label of each row (ties: lowest index); none where its score is not above a limit."""
    chosen = np.zeros(scores.shape, dtype=np.bool_)
    if scores.shape[1]:
        rows, best = np.arange(len(scores)), scores.argmax(axis=1)
        chosen[rows, best] = scores[rows, best] > above
    return chosen


def on_an_open_scale(scores: Floats, kind: ScoreKind) -> Floats:
    """Posteriors as log-odds, within ±700, so that near certainty terms still add to them; other scores as they are."""
    if kind is not ScoreKind.POSTERIOR:
        return scores
    with np.errstate(divide="ignore"):
        return np.asarray(np.clip(np.log(scores) - np.log1p(-scores), -LOG_ODDS_LIMIT, LOG_ODDS_LIMIT))
