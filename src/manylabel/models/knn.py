"""k nearest neighbours: the labels of the most similar training documents vote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from manylabel.estimator import Csr, Floats
from manylabel.kernels.nearest import Neighbours, votes
from manylabel.models.evidence import NeighbourVotes, ScoreParts, asked_for
from manylabel.models.neighbour_model import JOBS, K, NeighbourModel
from manylabel.models.score_kinds import Bools, ScoreKind, best_label
from manylabel.parameters import Constraint, Number, OneOf

TIE_BREAK = 1e-6


class NearestNeighbours(NeighbourModel):
    """Each label's share of the k training documents most similar to the document.

    share_l = Σ_j w_j y_jl / Σ_j w_j   over the k neighbours j

    uniform   w_j = 1
    cosine    w_j = cos(q, d_j)

    ``"summed"`` does not divide: Σ_j cos(q, d_j) y_jl, which separates a document among many of its label from one
    far from everything. `predict` returns the labels with a score of at least `threshold`; with ``fallback="argmax"`` a
    document left without a label gets its best one, unless none of its neighbours has a label.

    A document without neighbours (it shares no word with any) has the shares of the whole training set, and so gets the
    most frequent label. A label without documents scores −∞. With one class per document, the class of most votes is
    predicted; ties go to the larger summed similarity, by way of a millionth of it added to the score, then to the
    lowest index.

    Source: Manning, Raghavan & Schütze 2008, section 14.3; the summed form is that of Yang & Liu 1999.

    >>> X = np.array([[1, 0], [0.8, 0.6], [0.6, 0.8], [0, 1]])
    >>> Y = np.array([[1, 0], [1, 1], [0, 1], [0, 1]])
    >>> NearestNeighbours(k=3, weights="cosine").fit(X, Y).scores([[0.96, 0.28]]).round(6).tolist()
    [[0.703264, 0.643917]]
    """

    score_kind = ScoreKind.SIMILARITY
    parameter_constraints: ClassVar[Mapping[str, Constraint]] = {
        "k": K,
        "weights": OneOf("uniform", "cosine", "summed"),
        "threshold": Number(low=0, open_low=True),
        "fallback": OneOf("argmax", "none"),
        "n_jobs": JOBS,
    }

    def __init__(
        self,
        k: int = 10,
        weights: Literal["uniform", "cosine", "summed"] = "uniform",
        threshold: float = 0.5,
        fallback: Literal["argmax", "none"] = "argmax",
        n_jobs: int | None = None,
    ) -> None:
        self.k = k
        self.weights = weights
        self.threshold = threshold
        self.fallback = fallback
        self.n_jobs = n_jobs

    def learn(self, X: Csr, Y: Csr) -> None:
        """Store the training documents and their label sets."""
        self.keep(X, Y)

    def score_batch(self, X: Csr) -> Floats:
        """Each label's share of the neighbours, documents × labels."""
        found = self.neighbours(X)
        Y = self.label_sets_
        shares = votes(found, Y, weights="uniform" if self.weights == "uniform" else "cosine", n_jobs=self.n_jobs)
        scores = np.asarray(shares.toarray(), dtype=np.float64)
        if self.weights == "summed":
            scores *= found.similarities.sum(axis=1, dtype=np.float64)[:, np.newaxis]
        elif self.weights == "uniform" and self.label_form_ == "single":
            scores += TIE_BREAK * votes(found, Y, weights="cosine", n_jobs=self.n_jobs).toarray()
        alone = found.counts == 0
        if alone.any():
            scores[alone] = self.label_documents_ / Y.shape[0]
        scores[:, self.label_documents_ == 0] = -np.inf
        return scores

    def natural_decision(self, scores: Floats) -> Bools:
        """Labels with a score of at least `threshold`; without any, the best label if `fallback` is ``"argmax"``."""
        chosen = (scores >= self.threshold) & ~np.isneginf(scores)
        if self.fallback == "argmax":
            empty = ~chosen.any(axis=1)
            chosen[empty] = best_label(scores[empty], above=0.0)
        return np.asarray(chosen)

    def evidence(self, x: object, labels: npt.ArrayLike | None = None) -> Csr:
        """What each term adds to the scores of some labels (default: all), labels × terms.

        A neighbour's vote is divided among the terms that make it similar, so the row of a label adds up to its score.
        """
        document, wanted = asked_for(self, x, labels)
        found = self.neighbours(document)
        parts, sets = self.votes_by_term(document, found, self._vote_weights(found))
        return Csr(sets.T.tocsr()[wanted] @ parts)

    def score_parts(self, x: object, labels: npt.ArrayLike | None = None) -> ScoreParts:
        """The parts of one document's scores: votes divided among terms; without neighbours the labels' shares."""
        document, wanted = asked_for(self, x, labels)
        total = self.score_batch(document)[0, wanted]
        found = self.neighbours(document)
        intercept = np.zeros(len(wanted)) if found.counts[0] else total.copy()
        if found.counts[0] and self.weights == "uniform" and self.label_form_ == "single":
            ties = votes(found, self.label_sets_, weights="cosine", n_jobs=self.n_jobs).toarray()
            intercept += TIE_BREAK * ties[0, wanted]
        never = self.label_documents_[wanted] == 0
        return ScoreParts(self.evidence(document, wanted), total, np.where(never, total, intercept))

    def neighbour_votes(self, x: object) -> NeighbourVotes:
        """The nearest training documents and the weights of their votes."""
        document, _ = asked_for(self, x, None)
        found = self.neighbours(document)
        return self.votes_of(document, found, self._vote_weights(found))

    def _vote_weights(self, found: Neighbours) -> Floats:
        near = found.similarities[0, : found.counts[0]].astype(np.float64)
        if self.weights == "summed":
            return near
        weights = near if self.weights == "cosine" else np.ones(len(near))
        return weights / max(float(weights.sum()), 1e-300)
