"""Labels given as often as they occur in training."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from manylabel.decisions.base import FALLBACK, DecisionRule, floor
from manylabel.estimator import Csr, Floats, Ints
from manylabel.models.score_kinds import Bools, ScoreKind, display
from manylabel.parameters import Constraint, Number, OneOf


class Proportional(DecisionRule):
    """Each label goes to the share `share` · prior of the documents that score highest for it (PCut).

    ``cut="learned"`` finds, for each label, the threshold that would have given it to that share of the
    out-of-fold documents; it then decides one document at a time. ``cut="batch"`` ranks the documents of each
    batch it is given (ties: the earlier document) and takes that share of the batch, as PCut is defined; the
    answer for a document then depends on its neighbours. Source: Yang 2001.

    >>> scores = np.array([[0.9], [0.2], [0.4], [0.1]])
    >>> rule = Proportional().fit(scores, Csr([[0], [1], [1], [0]]), ScoreKind.SIMILARITY)
    >>> rule.decide(scores, ScoreKind.SIMILARITY).toarray().ravel().tolist()
    [1, 0, 1, 0]
    """

    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "share": Number(low=0),
        "cut": OneOf("learned", "batch"),
        "fallback": FALLBACK,
    }
    priors_: Floats
    cuts_: Floats

    def __init__(
        self,
        share: float = 1.0,
        cut: Literal["learned", "batch"] = "learned",
        fallback: Literal["none", "argmax"] = "none",
    ) -> None:
        self.share = share
        self.cut = cut
        self.fallback = fallback

    @property
    def learns(self) -> bool:
        """Always: thresholds, or only the priors."""
        return True

    def learn(self, scores: Floats, Y: Csr, kind: ScoreKind) -> None:
        """Each label's share of the documents, and the score that share of them reaches."""
        n_documents = max(Y.shape[0], 1)
        self.priors_ = np.bincount(Y.indices, minlength=Y.shape[1]) / n_documents
        wanted = self._wanted(n_documents)
        ordered = -np.sort(np.where(scores > floor(kind), -scores, math.inf), axis=0)
        places = np.clip(wanted - 1, 0, n_documents - 1)
        reached = ordered[places, np.arange(Y.shape[1])]
        self.cuts_ = np.where(wanted > 0, reached, math.inf)

    def choose(self, scores: Floats, kind: ScoreKind) -> Bools:
        """Score ≥ the label's cut, or the label's share of this batch."""
        if self.cut == "learned":
            return np.asarray(scores >= self.cuts_)
        order = np.argsort(-scores, axis=0, kind="stable")
        chosen = np.zeros(scores.shape, dtype=np.bool_)
        places = np.arange(len(scores))[:, np.newaxis] < self._wanted(len(scores))
        np.put_along_axis(chosen, order, places, axis=0)
        return chosen

    def thresholds(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """Each label's threshold; none when the batch decides."""
        return display(self.cuts_, kind) if self.cut == "learned" else None

    def cuts(self, n_labels: int, kind: ScoreKind) -> Floats | None:
        """The same in the units of the scores."""
        return self.cuts_ if self.cut == "learned" else None

    def _wanted(self, n_documents: int) -> Ints:
        return np.minimum(np.floor(self.share * self.priors_ * n_documents + 0.5), n_documents).astype(np.int64)
