"""Labels in the order of their posteriors until their sum reaches a threshold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule
from manylabel.decisions.threshold_search import SearchedMetric, prefix_threshold
from manylabel.estimator import Csr, Floats, Ints
from manylabel.exceptions import ParameterError
from manylabel.models.exported import Form
from manylabel.models.score_kinds import Bools, ScoreKind
from manylabel.parameters import FLAG, AnyOf, Constraint, Number, OneOf
from manylabel.stored import Scalar, Sometimes, Stored


class AccumulatedPosterior(DecisionRule):
    """The fewest best labels whose posteriors sum to at least a threshold τ.

    With Pr_n the sum of the n largest posteriors, n is the smallest number with Pr_n ≥ τ; the first n labels
    are predicted. There is always at least one (none where all posteriors are 0). τ ≤ 0 predicts the best label, τ ≥
    1 every possible one. Source: Vilar, Castro & Sanchis 2004, section 2.1.

    ``threshold="learn"`` searches τ between all attained sums for the best `metric` (micro F1, exact-match,
    or break-even); ties go to the smallest, and τ lies in the middle of its gap.

    Naive Bayes posteriors are so peaked that 1 − Pr_n is lost in rounding. With `log_tail` the rule compares
    log(1 − Pr_n), summed from the small end, and `threshold` is log(1 − τ), a number of at most 0: −50 means
    τ = 1 − e⁻⁵⁰. The threshold that was used, given or learned, is `threshold_` after `fit`.

    >>> posterior = np.array([[0.05, 0.55, 0.30, 0.10]])
    >>> for tau in (0.55, 0.56, 0.9):
    ...     AccumulatedPosterior(tau).decide(posterior, ScoreKind.POSTERIOR).indices.tolist()
    [1]
    [1, 2]
    [1, 2, 3]
    """

    accepts: ClassVar[frozenset[ScoreKind]] = frozenset({ScoreKind.POSTERIOR})
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "threshold": AnyOf(OneOf("learn"), Number()),
        "metric": OneOf("exact-match", "micro-f1", "break-even"),
        "log_tail": FLAG,
        "fallback": FALLBACK,
    }
    threshold_: float

    learned: ClassVar[Mapping[str, Stored]] = {
        "threshold_": Sometimes(Scalar()),
    }

    def __init__(
        self,
        threshold: float | Literal["learn"] = 0.5,
        metric: SearchedMetric = "exact-match",
        log_tail: bool = False,
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.threshold: float | Literal["learn"] = threshold
        self.metric: SearchedMetric = metric
        self.log_tail = log_tail
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """Whether the threshold is to be learned."""
        return self.threshold == "learn"

    @property
    def takes_fallback(self) -> bool:
        """False: every document has a label already."""
        return False

    def at_threshold(self, threshold: float) -> AccumulatedPosterior:
        """The rule with the threshold τ."""
        return AccumulatedPosterior(threshold)

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Search τ (or log(1 − τ)) between the attained sums."""
        order, keys, ranks = self._in_order(scores)
        hits = np.take_along_axis(Y.toarray().astype(np.bool_), order, axis=1)
        limit = math.inf if self.log_tail else 1.0
        found = prefix_threshold(keys, hits, ranks, np.diff(Y.indptr), self.metric, limit)
        self.threshold_ = -found.value if self.log_tail else found.value

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """The first n labels of each row in descending order of posterior."""
        order, keys, ranks = self._in_order(scores)
        wanted = -self._threshold() if self.log_tail else self._threshold()
        n_predicted = np.minimum((keys < wanted).sum(axis=1) + 1, ranks)
        if not self.log_tail and wanted >= 1:
            n_predicted = ranks
        chosen = np.zeros(scores.shape, dtype=np.bool_)
        np.put_along_axis(chosen, order, np.arange(scores.shape[1]) < n_predicted[:, np.newaxis], axis=1)
        return chosen

    def exported(self, n_labels: int, kind: ScoreKind) -> Form:
        """The threshold of the accumulated posteriors."""
        return {"rule": "accumulated-posterior", "threshold": self._threshold(), "log_tail": bool(self.log_tail)}

    def _threshold(self) -> float:
        if self.threshold == "learn":
            return self.threshold_
        if self.log_tail and self.threshold > 0:
            raise ParameterError(
                "AccumulatedPosterior: with log_tail, threshold is log(1 − τ) and must be at most 0, "
                f"not {self.threshold:g}."
            )
        return float(self.threshold)

    def _in_order(self, scores: Floats) -> tuple[Ints, Floats, Ints]:
        """Labels by descending posterior, the key that grows along them, and how many are possible."""
        order = np.argsort(-scores, axis=1, kind="stable")
        ordered = np.take_along_axis(scores, order, axis=1)
        keys = -log_tails(ordered) if self.log_tail else np.cumsum(ordered, axis=1)
        return order, keys, (scores > 0).sum(axis=1)


def log_tails(ordered: Floats) -> Floats:
    """log(1 − Pr_n) of posteriors in descending order, each summed from its smallest term.

    >>> np.exp(np.array([[0.0, -40.0, -100.0]])) @ np.ones(3) - 1
    array([0.])
    >>> log_tails(np.exp(np.array([[0.0, -40.0, -100.0]]))).round(6).tolist()
    [[-40.0, -100.0, -inf]]
    """
    after = np.zeros_like(ordered)
    after[:, :-1] = np.cumsum(ordered[:, :0:-1], axis=1)[:, ::-1]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(after), dtype=np.float64)
