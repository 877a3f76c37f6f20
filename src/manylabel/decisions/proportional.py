"""Each label as often as in training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule, floor
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.exported import Form, threshold_form
from manylabel.models.label_thresholds import MIDDLE, clear_of_scores
from manylabel.models.score_kinds import Bools, ScoreKind, display
from manylabel.parameters import Constraint, Number, OneOf
from manylabel.stored import Sometimes, Stored, reals


class Proportional(DecisionRule):
    """Each label goes to the share `share` · prior of the documents that score highest for it (PCut).

    ``threshold="learned"`` finds, per label, the threshold that predicts it for that share of the out-of-fold
    documents; it then decides one document at a time. ``threshold="batch"`` ranks the documents of each batch (ties:
    the earlier document) and takes that share of the batch, as PCut is defined; the predicted labels of a document
    then depend on the others of its batch. Source: Yang 2001.

    >>> scores = np.array([[0.9], [0.2], [0.4], [0.1]])
    >>> rule = Proportional().fit(scores, Csr([[0], [1], [1], [0]]), ScoreKind.SIMILARITY)
    >>> rule.decide(scores, ScoreKind.SIMILARITY).toarray().ravel().tolist()
    [1, 0, 1, 0]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "share": Number(low=0),
        "threshold": OneOf("learned", "batch"),
        "fallback": FALLBACK,
    }
    priors_: Floats
    thresholds_: Floats

    learned: ClassVar[Mapping[str, Stored]] = {
        "priors_": reals("labels"),
        "thresholds_": Sometimes(reals("labels")),
    }

    def __init__(
        self,
        share: float = 1.0,
        threshold: Literal["learned", "batch"] = "learned",
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.share = share
        self.threshold = threshold
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """True: this rule learns thresholds, or the priors alone."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Each label's share of the documents, and the threshold that share of them reaches."""
        n_documents = max(Y.shape[0], 1)
        self.priors_ = np.bincount(Y.indices, minlength=Y.shape[1]) / n_documents
        wanted = self._wanted(n_documents)
        usable = np.where(scores > floor(kind), scores, -math.inf)
        ordered = -np.sort(-usable, axis=0)
        reached = ordered[np.clip(wanted - 1, 0, n_documents - 1), np.arange(Y.shape[1])]
        self.thresholds_ = clear_of_scores(usable, np.where(wanted > 0, reached, math.inf), MIDDLE)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ the label's threshold, or the label's share of this batch."""
        if self.threshold == "learned":
            return np.asarray(scores >= self.thresholds_)
        order = np.argsort(-scores, axis=0, kind="stable")
        chosen = np.zeros(scores.shape, dtype=np.bool_)
        first = np.arange(len(scores))[:, np.newaxis] < self._wanted(len(scores))
        np.put_along_axis(chosen, order, first, axis=0)
        return chosen

    def shown_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """Each label's threshold in the units people read; None when the batch decides."""
        return display(self.thresholds_, kind) if self.threshold == "learned" else None

    def score_thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """Each label's threshold in the units of the scores; None when the batch decides."""
        return self.thresholds_ if self.threshold == "learned" else None

    def exported(self, n_labels: int, kind: ScoreKind) -> Form | None:
        """Each label's threshold; None when the batch decides."""
        return threshold_form(self.thresholds_, n_labels) if self.threshold == "learned" else None

    def _wanted(self, n_documents: int) -> Ints:
        return np.minimum(np.floor(self.share * self.priors_ * n_documents + 0.5), n_documents).astype(np.int64)
